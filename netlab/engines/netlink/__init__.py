"""The lines that `ip` and `tc` read in the other engines, as the netlink messages that these programs would send.

There is one description of a network, those lines; a kernel without programs gets what the programs would have made
of them. Words that no engine of ours writes are refused with a sentence.
"""
