"""Senders and receivers for measurements: TCP streams (`tcp`), datagrams (`udp_sender`, `udp_receiver`) and
the state of a connection in the kernel (`tcp_info`).

Senders and receivers are of one stream each: blocking, without control connection, without printing.

Each class has `run()`, to be called in a thread of its own, and all but `TcpReceiver`, which ends with its
connection, have `stop()`, to be called from any other thread; counters may be read at any time. Times are seconds of
`time.monotonic()`. An error of the network (a reset, a broken pipe) ends `run()` and is kept in `.error`; it does not
raise, because the other streams of a test go on.

They sleep as much as they can: a kernel whose time is virtual (User-Mode Linux with
``time-travel=inf-cpu``) moves its clock only while everything sleeps, so nothing here polls, spins or
yields. For the same reason an unlimited sender (`end_s` without `rate_bps`, or TCP over a path without
rate or delay) must not run there: at infinite speed no time passes. `num_bytes` is fine.

Examples
--------
A transfer of 1 MB over TCP, receiver and sender each in a thread::

    receiver = TcpReceiver(accepted_socket)
    sender = TcpSender(connected_socket, num_bytes=1_000_000)
    threads = [threading.Thread(target=part.run) for part in (receiver, sender)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    goodput_mbps = receiver.received_bytes * 8 / 1e6 / (receiver.last_s - receiver.first_s)

UDP at exactly 1 Mbit/s of payload for ten seconds::

    receiver = UdpReceiver(bound_socket, stream_ids=[7])
    sender = UdpSender(socket.socket(type=SOCK_DGRAM), ("10.0.0.2", 5001), rate_bps=1_000_000,
                       payload_bytes=1000, stream_id=7, end_s=time.monotonic() + 10)
    ... run both in threads; after the sender, wait as long as the path's delay and call receiver.stop() ...
    loss_rate = 1 - receiver.streams[7].received_datagrams / sender.sent_datagrams
"""
