"""What runs as root, in the guest or under sudo: it builds the network, sends the traffic and writes down what it saw.

Only the standard library and Mininet: every import costs start-up time in the guest.
"""
