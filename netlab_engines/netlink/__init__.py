"""Translate lines of `ip` and `tc` to the netlink messages that these programs would send.

These lines are the one description of a network. The agent of the pocket and the native engine sends their messages
from one process, instead of starting two programs for each node. The library kernel, which has no programs, gets the
same messages. Words that netlab never writes are rejected.
"""
