"""The steps from a plan to a network: the messages for each node, and its changes. Both kernels and the agent use them."""
