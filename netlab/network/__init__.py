"""Describe a network: nodes, links, the ways through it, and the named topologies of the chapters."""
