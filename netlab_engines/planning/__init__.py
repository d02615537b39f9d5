"""The steps from a plan to a network: what each node is told, and when it changes. Both kernels and the agent use them."""
