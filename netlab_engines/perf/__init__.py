"""The command ``netlab perf``: its client, its server, the protocol between them and the reports.

Its senders and receivers are those of `netlab_engines.sockets`.
"""
