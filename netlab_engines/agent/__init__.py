"""The agent: the program that builds the network, sends the traffic and records measurements.

The agent runs as root, in a guest or under sudo. It imports only the standard library and Mininet, because every import
costs start-up time in the guest.
"""
