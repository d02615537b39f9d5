"""Calls of users' own Python code with a time limit, and the interface of a user's program to the network."""
