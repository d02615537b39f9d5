"""Lines of `iptables` as the netlink messages (linux/netfilter/nf_tables.h) that make the kernel filter and translate so.

A host of the pocket kernel needs no `iptables` program for it, and the kernel none of the older tables. Each rule carries its line as a
comment, so that listing and deleting read the line and not the kernel's expressions. What is not known is refused with a sentence.
"""
