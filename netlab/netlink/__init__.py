"""The lines that `ip` and `tc` read, as the netlink messages that these programs would send.

There is one description of a network, those lines. The pocket and the native engine's agent sends their messages from one
process instead of starting two programs for each node; the library kernel, which has no programs, gets the same. Words that
netlab never writes are refused.
"""
