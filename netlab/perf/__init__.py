"""The command ``netlab perf``, a program made of `netlab.sockets`: client, server, the protocol between them, reports."""
