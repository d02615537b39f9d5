"""The command ``netlab perf``: a server and a client."""

import argparse
import contextlib
import json
import math
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from netlab.base.errors import ThroughputError
from netlab.base.units import BITS_PER_MEGABIT, mbps_to_bps
from netlab_engines.perf.client import run_test
from netlab_engines.perf.protocol import DEFAULT_PORT, TestRequest
from netlab_engines.perf.report import FORMATS, IntervalTable, amount, describe, summary
from netlab_engines.perf.server import MAX_CLIENTS, MAX_TIME_S, Server

DEFAULT_TIME_S = 25.0
DEFAULT_RATE_MBPS = 1.0
EXIT_FAILED = 1
EXIT_INTERRUPTED = 130
ONLY_SERVER = ("bind", "max_clients", "max_time")
ONLY_CLIENT = (
    "time", "num", "interval", "parallel", "reverse", "bidir", "omit", "congestion", "window", "mss", "udp", "rate", "length", "batch",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``netlab perf``, of its server and of its client, to a parser."""
    role = parser.add_argument_group("role").add_mutually_exclusive_group(required=True)
    role.add_argument("-s", "--server", action="store_true", help="serve tests until Ctrl-C")
    role.add_argument("-c", "--client", metavar="HOST", help="run a test with the netlab perf server on HOST")

    both = parser.add_argument_group("both roles")
    both.add_argument("-p", "--port", **PORT, help=f"TCP and UDP port (default {DEFAULT_PORT})")
    both.add_argument(
        "-f", "--format", choices=FORMATS, default="MB", help="unit of volumes; KB is 1000 bytes (default MB)"
    )
    both.add_argument(
        "--json",
        nargs="?",
        const="-",
        metavar="FILE",
        help="write the report as one JSON object to FILE or, without FILE, to the standard output "
        "(a server writes one line with an object per test)",
    )

    server = parser.add_argument_group("server")
    server.add_argument("-B", "--bind", metavar="ADDRESS", help="listen on this address only")
    server.add_argument(
        "--max-clients",
        **COUNT,
        default=MAX_CLIENTS,
        help=f"largest number of simultaneous tests (default {MAX_CLIENTS})",
    )
    longest = f"longest test that a client may request, in s (default {MAX_TIME_S:g})"
    server.add_argument("--max-time", **SECONDS, default=MAX_TIME_S, help=longest)

    _add_client_arguments(parser.add_argument_group("client"))


def _add_client_arguments(client: argparse._ArgumentGroup) -> None:
    """Add the options of a ``netlab perf`` client to the group `client` of the command's parser."""
    add, length = client.add_argument, client.add_mutually_exclusive_group()
    length.add_argument("-t", "--time", **SECONDS, help=f"seconds to send (default {DEFAULT_TIME_S:g})")
    exactly = "bytes that each stream sends, such as 1500000, 1500KB or 1.5MB"
    length.add_argument("-n", "--num", **BYTES, help=exactly)
    add("-i", "--interval", **SECONDS, default=1.0, help="seconds between lines (default 1)")
    add("-P", "--parallel", **COUNT, default=1, help="parallel streams (default 1)")
    add("-R", "--reverse", action="store_true", help="the server sends")
    add("--bidir", action="store_true", help="both sides send, each on its own streams")
    add(
        "-O",
        "--omit",
        **SECONDS_OR_NONE,
        default=0.0,
        help="seconds at the start (such as slow start) to leave out of the results; they are added to the time",
    )
    add("-C", "--congestion", metavar="NAME", help="TCP congestion control of the sender")
    add("-w", "--window", **BYTES, help="largest TCP window that the receiver advertises")
    add("-M", "--mss", **SEGMENT, help="largest TCP segment")
    add("-u", "--udp", action="store_true", help="UDP instead of TCP")
    add(
        "-b",
        "--rate",
        **RATE,
        help=f"UDP: Mbit/s of payload per stream, 0 for as fast as possible (default {DEFAULT_RATE_MBPS:g})",
    )
    add("-l", "--length", **BYTES, help="UDP: payload of a datagram in bytes (default 1000)")
    add(
        "--batch",
        action="store_true",
        help="UDP: send up to 64 datagrams with one system call (UDP_SEGMENT, UDP_GRO); they leave back to back, "
        "which changes the load on a queue",
    )


def main(args: argparse.Namespace) -> int:
    """Run ``netlab perf`` as a server or a client with the parsed options `args`, print errors, and return its exit
    code: 0, EXIT_FAILED after an error of the test or the options, or EXIT_INTERRUPTED after Ctrl-C at a client.
    """
    try:
        _check_role(args)
        with _output(args.json) as out:
            if args.server:
                _serve(args, out)
            else:
                _measure(args, out)
            return 0
    except ThroughputError as error:
        print(f"netlab perf: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("netlab perf: interrupted; the test has ended on both sides.", file=sys.stderr)
        return EXIT_INTERRUPTED


def _check_role(args: argparse.Namespace) -> None:
    """Raise ThroughputError if the parsed options `args` of a server have one that only a client has, or the other way
    round.
    """
    usual = argparse.ArgumentParser()
    add_arguments(usual)
    strange = ONLY_CLIENT if args.server else ONLY_SERVER
    options = [f"--{name.replace('_', '-')}" for name in strange if getattr(args, name) != usual.get_default(name)]
    if options and args.server:
        raise ThroughputError(f"{', '.join(options)} cannot be used with --server; set it at the client.")
    if options:
        raise ThroughputError(f"{', '.join(options)} cannot be used with --client; set it at the server.")


def request_from(args: argparse.Namespace) -> TestRequest:
    """Return the test that the parsed options `args` of a client describe. Raises ThroughputError if they contradict
    each other or a value is not allowed.
    """
    if args.reverse and args.bidir:
        raise ThroughputError("Choose one of --reverse (the server sends) and --bidir (both send).")
    for name in ("congestion", "window", "mss") if args.udp else ("rate", "length", "batch"):
        if getattr(args, name):
            remedy = f"TCP only; leave out --udp or --{name}" if args.udp else "UDP only; add --udp"
            raise ThroughputError(f"--{name} is for {remedy}.")
    rate_mbps = DEFAULT_RATE_MBPS if args.rate is None else args.rate
    request = TestRequest(
        protocol="udp" if args.udp else "tcp",
        direction="down" if args.reverse else "both" if args.bidir else "up",
        parallel=args.parallel,
        duration_s=None if args.num is not None else (args.time or DEFAULT_TIME_S),
        num_bytes=args.num,
        omit_s=args.omit,
        interval_s=args.interval,
        rate_bps=mbps_to_bps(rate_mbps) if args.udp else None,
        payload_bytes=1000 if args.length is None else args.length,
        batch=args.batch,
        congestion=args.congestion,
        window_bytes=args.window,
        mss_bytes=args.mss,
    )
    request.check()
    return request


def volume_bytes(text: str) -> int:
    """Return the number of bytes in the text of an option such as '1500', '1500B', '1.5KB' or '2MB'; 1 KB is 1000
    bytes. Raises ArgumentTypeError for another text.

    >>> volume_bytes("1500"), volume_bytes("1.5KB"), volume_bytes("2MB")
    (1500, 1500, 2000000)
    """
    match = re.fullmatch(r"(\d{1,18})(?:\.(\d{1,6}))?\s*(B|KB|MB)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a number of bytes such as 1500000, 1500KB or 1.5MB, got {text!r}")
    integer, fraction, unit = match.groups(default="")
    scaled = int(integer + fraction) * FORMATS[unit.upper() or "B"]
    bytes_, rest = divmod(scaled, int("1" + "0" * len(fraction)))
    if rest:
        raise argparse.ArgumentTypeError(f"expected a whole number of bytes, got {text!r}")
    return bytes_


def _serve(args: argparse.Namespace, out: TextIO | None) -> None:
    """Run a server with the parsed options `args` until Ctrl-C or SIGTERM; print a log and a final line (only failures
    if `out` is the standard output), and write the report of each test as a line of JSON to `out` (None: nowhere).
    Raises ThroughputError if it cannot listen.
    """

    def report(peer: str, request: TestRequest, result: dict[str, Any]) -> None:
        """Write the report `result` of a finished test with the client at the address `peer` as a line of JSON, and as
        text to the log; `request` has the test's settings. Raises ThroughputError if the line cannot be written.
        """
        if out is not None:
            _write(out, json.dumps({"client": peer, **result, "settings": request.to_message()}) + "\n")
        if out is not sys.stdout:
            lines = [f"{peer}: done, {describe(request)}"]
            lines += ["  " + line for line in summary(request, result["sum"], result["streams"], args.format)]
            log("\n".join(lines))

    def log(line: str) -> None:
        """Print a line of the log; if the standard output has the reports, print only lines about failures, to the
        standard error.
        """
        if out is not sys.stdout:
            print(line, flush=True)
        elif "failed" in line:
            print(line, file=sys.stderr, flush=True)

    server = Server(
        args.bind,
        DEFAULT_PORT if args.port is None else args.port,
        max_clients=args.max_clients,
        max_time_s=args.max_time,
        on_line=log,
        on_report=report,
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    log(f"netlab perf listens on {args.bind or 'all addresses'}, port {server.port}, TCP and UDP; Ctrl-C ends it.")
    try:
        server.serve()
    except KeyboardInterrupt:
        # A second Ctrl-C, or a signal to the whole process group, must not cut off the summary.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    server.close()
    log(
        f"\nServed {server.tests_done} tests ({server.tests_failed} failed, {server.refused} refused): "
        f"received {amount(server.received_bytes, args.format)} {args.format}, sent "
        f"{amount(server.sent_bytes, args.format)} {args.format}; rejected {server.unknown_clients} unknown connections and datagrams."
    )


def _measure(args: argparse.Namespace, out: TextIO | None) -> None:
    """Run the test of a client with the parsed options `args`, print its table and summary (not if `out` is the
    standard output), and write its report as JSON to `out` (None: nowhere). Raises ThroughputError if it fails, or,
    after all that, if a stream ended early.
    """
    request = request_from(args)
    table = IntervalTable(request, args.format)
    quiet = out is sys.stdout
    head = [f"{describe(request)}, to {args.client}", *table.header()]

    def show(rows: list[dict[str, Any]]) -> None:
        """Print the table's lines for one interval, from the samples of its streams, unless the report goes to the
        standard output.
        """
        if not quiet:
            print("\n".join(head + table.rows(rows)), flush=True)
            head.clear()

    report = run_test(args.client, DEFAULT_PORT if args.port is None else args.port, request, on_rows=show)
    if not quiet:
        if request.omit_s:
            print(" " * 17 + "(* not included in the results below)")
        print(
            "\n".join(head[:1]) + "\n" + "\n".join(summary(request, report["sum"], report["streams"], args.format)),
            flush=True,
        )
    if out is not None:
        _write(out, json.dumps(report, indent=2) + "\n")
    if any(stream.get("error") for stream in report["streams"]):
        raise ThroughputError("The test did not run to its end; the lines above show which stream ended early.")


@contextlib.contextmanager
def _output(target: str | None) -> Iterator[TextIO | None]:
    """Return a context manager that yields the open text file for the JSON report at the path `target`, the standard
    output for "-", or None for None; the file is opened before the test, so that a wrong path is reported at once.
    Raises ThroughputError if it cannot be opened.
    """
    if target is None:
        yield None
    elif target == "-":
        yield sys.stdout
    else:
        try:
            out = Path(target).open("w", encoding="utf-8")  # noqa: SIM115 (may fail to close)
        except OSError as error:
            raise ThroughputError(f"Cannot write to {target}: {error.strerror}. Choose another FILE.") from None
        try:
            yield out
        finally:
            with contextlib.suppress(OSError):  # `_write` has reported it
                out.close()


def _write(out: TextIO, text: str) -> None:
    """Write a text to the open report `out` and flush it, so that a full disk is noticed. Raises ThroughputError if
    that fails; the standard output then leads to /dev/null, if `out` is that.
    """
    try:
        out.write(text)
        out.flush()
    except OSError as error:
        if out is sys.stdout:
            # Otherwise Python prints a second error when it flushes the output at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        raise ThroughputError(f"Cannot write the report: {error.strerror}. The test itself was completed.") from None


SUFFIXED_RATE = re.compile(r"([0-9]+(?:\.[0-9]*)?)([KMGTkmgt])")
MBPS_OF_SUFFIX = {"k": 1e-3, "m": 1.0, "g": 1e3, "t": 1e6}


def _number(
    metavar: str | None,
    low: float,
    high: float,
    rule: str,
    read: type[int | float] = float,
    *,
    or_zero: bool = False,
) -> dict[str, Any]:
    """Return the keyword arguments of argparse's `add_argument` for an option that is a number from `low` to `high`, or
    0 if `or_zero`: "type" (a function that parses by `read` and checks) and "metavar". `metavar` is the value's name in
    the help (None: argparse's choice), and `rule` the sentence of the error for another value.
    """

    def number(text: str) -> float:
        """Return the number in `text`, the value of the option. Raises ArgumentTypeError, with the rule, if it is none
        or not allowed.
        """
        try:
            value = read(text)
        except ValueError:
            value = float("nan")
        if not (low <= value <= high or (or_zero and value == 0)):
            raise argparse.ArgumentTypeError(f"{rule}, got {text!r}")
        return value

    return {"type": number, "metavar": metavar}


def _explain_suffix(number: Callable[[str], float]) -> Callable[[str], float]:
    """Return the function `number`, which reads the value of the option -b, with the number in Mbit/s in its error if the
    value is a rate as iperf3 takes it, such as 10G.
    """

    def rate(text: str) -> float:
        """Return the rate in `text` in Mbit/s. Raises ArgumentTypeError if it is none or not allowed."""
        try:
            return number(text)
        except argparse.ArgumentTypeError as error:
            if (given := SUFFIXED_RATE.fullmatch(text)) is None:
                raise
            mbps = float(given[1]) * MBPS_OF_SUFFIX[given[2].lower()]
            advice = f"-b {mbps:.10g} here" if mbps <= MAX_RATE_MBPS else f"{mbps:.10g} Mbit/s, more than -b can be"
            raise argparse.ArgumentTypeError(f"{error}; iperf3's -b {text} is {advice}") from None

    return rate


WHOLE_NUMBER = (1, math.inf, "expected a whole number of at least 1", int)
COUNT = _number("N", *WHOLE_NUMBER)
SEGMENT = _number("BYTES", *WHOLE_NUMBER)
BYTES: dict[str, Any] = {"type": volume_bytes, "metavar": "BYTES"}
PORT = _number(None, 1, 65_535, "a port is a whole number from 1 to 65535", int)
SECONDS = _number("S", 0.001, 1e6, "expected seconds, from 0.001 to 1000000")
SECONDS_OR_NONE = _number("S", 0, 1e5, "expected seconds, from 0 to 100000")
MAX_RATE_MBPS = 1e6
RATE_RULE = f"expected Mbit/s, from 0.000001 (1 bit/s) to {MAX_RATE_MBPS:.0f}, or 0 (as fast as possible)"
RATE = _number("MBPS", 1 / BITS_PER_MEGABIT, MAX_RATE_MBPS, RATE_RULE, or_zero=True)
RATE["type"] = _explain_suffix(RATE["type"])
