"""The socket engine: senders, receivers, the protocol between them, and reports; standard library only.

`streams` holds the senders and receivers that everything rests on, `tcp_info` reads the kernel's view of a
connection, `options` shapes a flow. `client`, `server` and `report` make the command ``netlab perf`` out
of them.
"""
