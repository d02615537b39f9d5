"""iperf 2 as Mininet calls it, for guests: it sleeps instead of polling, and prints what Mininet's `net.iperf` reads.

Later versions of the real one print no line for a connection without data, which Mininet's check for a listening server is;
then `net.iperf` waits for that line for ever (https://github.com/mininet/mininet/issues/1060).
"""

import argparse
import contextlib
import socket
import struct
import threading
import time

PORT = 5001
BLOCK_BYTES = 1 << 17
DATAGRAM_BYTES = 1470
HEADER = struct.Struct("!iII")
UNITS = {"K": 1e3, "M": 1e6, "G": 1e9}
LAST_TRIES = 10


def rate_bps(text: str) -> float:
    """A rate as iperf writes it.

    >>> rate_bps("10M")
    10000000.0
    """
    unit = UNITS.get(text[-1:].upper())
    return float(text) if unit is None else float(text[:-1]) * unit


def report(number: int, duration_s: float, count_bytes: int) -> str:
    """A line of iperf's.

    >>> report(3, 5.0, 5_900_000)
    '[  3]  0.0- 5.0 sec  5.63 MBytes  9.44 Mbits/sec'
    """
    size, size_unit = _scaled(count_bytes, 1024)
    speed, speed_unit = _scaled(8 * count_bytes / duration_s if duration_s > 0 else 0.0, 1000)
    return f"[{number:3}]  0.0-{duration_s:4.1f} sec  {size:.2f} {size_unit}Bytes  {speed:.2f} {speed_unit}bits/sec"


def _scaled(value: float, step: int) -> tuple[float, str]:
    for power, unit in ((3, "G"), (2, "M"), (1, "K")):
        if value >= step**power:
            return value / step**power, unit
    return value, ""


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)  # noqa: T201 (what a program prints)


def serve_tcp(port: int) -> None:
    """Take connections for ever, and report each when it ends."""
    listener = socket.create_server(("", port), backlog=64)
    say(f"{'-' * 60}\nServer listening on TCP port {port}\n{'-' * 60}")
    number = 3
    while True:
        connection, _ = listener.accept()
        number += 1
        threading.Thread(target=_receive, args=(connection, number), daemon=True).start()


def _receive(connection: socket.socket, number: int) -> None:
    buffer, total, first_s = bytearray(1 << 20), 0, None
    with connection:
        while True:
            # A few wake-ups for a round trip, not one for each segment.
            try:
                connection.recv(1, socket.MSG_PEEK)
                first_s = time.monotonic() if first_s is None else first_s
                count = connection.recv_into(buffer, len(buffer), socket.MSG_TRUNC | socket.MSG_WAITALL)
            except OSError:
                break
            if not count:
                break
            total += count
        say(report(number, time.monotonic() - (first_s or 0.0), total))


def serve_udp(port: int) -> None:
    """Count datagrams; a sender's end is a negative number, answered with the report."""
    sock = socket.socket(type=socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    sock.bind(("", port))
    say(f"{'-' * 60}\nServer listening on UDP port {port}\n{'-' * 60}")
    counts: dict[tuple[str, int], list[float]] = {}
    number = 2
    while True:
        data, peer = sock.recvfrom(1 << 16)
        now_s = time.monotonic()
        (sequence, _, _) = HEADER.unpack_from(data)
        if sequence >= 0:
            begun = counts.setdefault(peer, [now_s, 0, 0, now_s])
            begun[1] += len(data)
            begun[2] += 1
            # Until the last datagram: the sender's end may come much later, when it was lost a few times.
            begun[3] = now_s
            continue
        if peer in counts:
            first_s, total, got, last_s = counts.pop(peer)
            number += 1
            lost = -sequence - int(got)
            say(
                f"{report(number, last_s - first_s, int(total))}   0.000 ms {lost}/{-sequence} ({100 * lost / max(1, -sequence):.2g}%)"
            )
        sock.sendto(data, peer)


def send_tcp(host: str, port: int, duration_s: float, streams: int) -> None:
    """Send as fast as TCP lets us, and report."""
    totals = [0] * streams
    socks = [socket.create_connection((host, port)) for _ in range(streams)]
    say(f"{'-' * 60}\nClient connecting to {host}, TCP port {port}\n{'-' * 60}")
    block, begin_s = bytes(BLOCK_BYTES), time.monotonic()

    def send(number: int) -> None:
        while time.monotonic() - begin_s < duration_s:
            totals[number] += socks[number].send(block)
        socks[number].shutdown(socket.SHUT_WR)
        # The receiver's end of the connection comes when all has arrived.
        socks[number].recv(1)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took_s = time.monotonic() - begin_s
    for number, total in enumerate(totals, start=3):
        say(report(number, took_s, total))
    if streams > 1:
        say(report(0, took_s, sum(totals)).replace("[  0]", "[SUM]"))


def send_udp(host: str, port: int, duration_s: float, rate: float) -> None:
    """Send datagrams evenly, and report."""
    sock = socket.socket(type=socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
    sock.connect((host, port))
    say(f"{'-' * 60}\nClient connecting to {host}, UDP port {port}\n{'-' * 60}")
    count = max(1, int(duration_s * rate / (8 * DATAGRAM_BYTES)))
    begin_s = time.monotonic()
    for sequence in range(count):
        left_s = begin_s + sequence * 8 * DATAGRAM_BYTES / rate - time.monotonic()
        if left_s > 0:
            time.sleep(left_s)
        try:
            sock.send(HEADER.pack(sequence, 0, 0).ljust(DATAGRAM_BYTES, b"\0"))
        except OSError:
            continue
    say(report(3, time.monotonic() - begin_s, count * DATAGRAM_BYTES))
    say(f"[  3] Sent {count} datagrams")
    sock.settimeout(0.5)
    for _ in range(LAST_TRIES):
        with contextlib.suppress(OSError):
            sock.send(HEADER.pack(-count, 0, 0).ljust(DATAGRAM_BYTES, b"\0"))
            sock.recv(1 << 16)
            return


def main(words: list[str]) -> None:
    """Do what the options say."""
    parser = argparse.ArgumentParser(prog="iperf", description="iperf 2 as far as Mininet calls it")
    parser.add_argument("-s", "--server", action="store_true")
    parser.add_argument("-c", "--client", metavar="HOST")
    parser.add_argument("-u", "--udp", action="store_true")
    parser.add_argument("-p", "--port", type=int, default=PORT)
    parser.add_argument("-t", "--time", type=float, default=10.0)
    parser.add_argument("-b", "--bandwidth", default="1M")
    parser.add_argument("-P", "--parallel", type=int, default=1)
    parser.add_argument("-i", "--interval", help="accepted; only totals are reported")
    options = parser.parse_args(words)
    if options.server:
        (serve_udp if options.udp else serve_tcp)(options.port)
    elif options.client and options.udp:
        send_udp(options.client, options.port, options.time, rate_bps(options.bandwidth))
    elif options.client:
        send_tcp(options.client, options.port, options.time, options.parallel)
    else:
        parser.error("give -s or -c HOST")
