"""`netlab perf` as a student uses it: a server, a client, every option, and what may go wrong."""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netlab_engines.perf import command
from netlab_engines.perf.protocol import Channel, TestRequest, greeting
from netlab_engines.perf.report import IntervalTable, combine
from netlab_engines.perf.server import Server
from tests.waiting import free_port, wait_for

ROW = re.compile(r" +[0-9.]+-[0-9.]+[* ]")
SCRIPT = """
import argparse, sys
from netlab_engines.perf import command
parser = argparse.ArgumentParser(prog="netlab perf")
command.add_arguments(parser)
sys.exit(command.main(parser.parse_args()))
"""
PERF = [sys.executable, "-c", SCRIPT]


class Running:
    """A server in this process, with what it said."""

    def __init__(self, **limits: Any) -> None:
        self.lines: list[str] = []
        self.reports: list[dict[str, Any]] = []
        self.server = Server(
            "127.0.0.1",
            0,
            on_line=self.lines.append,
            on_report=lambda _peer, _request, report: self.reports.append(report),
            **limits,
        )
        self.port = self.server.port
        threading.Thread(target=self.server.serve, daemon=True).start()


@pytest.fixture
def running() -> Iterator[Running]:
    run = Running()
    yield run
    run.server.close()


def perf(*options: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.main(parser.parse_args(options))


def ask(running: Running, *options: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    code = perf("--client", "127.0.0.1", "--port", str(running.port), "--json", *options)
    out, err = capsys.readouterr()
    assert code == 0, err
    report: dict[str, Any] = json.loads(out)
    return report


@pytest.mark.parametrize(
    "options",
    [
        ["--num", "1500001"],
        ["--num", "1.5MB", "--parallel", "3"],
        ["--num", "700KB", "--reverse"],
        ["--num", "100KB", "--bidir", "--parallel", "2"],
        ["--num", "3MB", "--congestion", "reno", "--window", "64KB", "--mss", "1000"],
        ["--udp", "--rate", "50", "--num", "200010"],
        ["--udp", "--rate", "50", "--num", "200KB", "--length", "500", "--parallel", "2"],
        ["--udp", "--rate", "50", "--num", "200KB", "--reverse"],
        ["--udp", "--rate", "50", "--num", "200KB", "--bidir"],
        ["--udp", "--rate", "50", "--num", "640KB", "--batch"],
    ],
    ids=" ".join,
)
def test_both_sides_agree_on_every_byte(
    running: Running, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    report = ask(running, *options, capsys=capsys)
    num_bytes = command.volume_bytes(options[options.index("--num") + 1])
    request = report["settings"]
    expected_streams = request["parallel"] * (2 if request["direction"] == "both" else 1)
    assert len(report["streams"]) == expected_streams
    for stream in report["streams"]:
        assert stream["sent_bytes"] == stream["received_bytes"] == num_bytes
        assert stream["error"] is None
        if request["protocol"] == "udp":
            assert stream["lost"] == 0
            assert stream["loss_rate"] == 0
            assert stream["datagrams"] == stream["received_datagrams"] > 0
            assert 0 <= stream["delay_min_ms"] <= stream["delay_mean_ms"] <= stream["delay_max_ms"]
        else:
            assert stream["rtt_min_ms"] <= stream["rtt_mean_ms"] <= stream["rtt_max_ms"]
    assert report["sum"]["received_bytes"] == num_bytes * expected_streams
    assert wait_for(lambda: running.reports)
    assert running.reports[0]["streams"] == report["streams"]


@pytest.mark.slow
@pytest.mark.parametrize("direction", [[], ["--reverse"]], ids=["forward", "reverse"])
@pytest.mark.parametrize("protocol", [[], ["--udp", "--rate", "8"]], ids=["tcp", "udp"])
def test_intervals_and_omitted_time(
    running: Running, protocol: list[str], direction: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    report = ask(running, "--time", "0.6", "--omit", "0.4", "--interval", "0.2", *protocol, *direction, capsys=capsys)
    (stream,) = report["streams"]
    rows = [row for row in report["intervals"] if row["side"] == "client"]
    assert [round(row["t_s"], 1) for row in rows][:5] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert [row["omitted"] for row in rows][1:4] == [True, False, False] or rows[1]["t_s"] > 0.4
    assert stream["received_bytes"] < sum(row["bytes"] for row in rows)
    assert 0.5 < stream["seconds"] < 0.9
    if protocol:
        # 8 Mbit/s of 1000-byte datagrams for the time that counts, whatever went before; a busy machine moves its ends.
        assert stream["datagrams"] == pytest.approx(1000 * stream["seconds"], abs=50)
        assert stream["lost"] == 0


def test_time_ends_a_test_and_a_table_row_holds_all_streams(
    running: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    code = perf("-c", "127.0.0.1", "-p", str(running.port), "-t", "0.3", "-i", "0.1", "-P", "2", "-f", "KB")
    out, _ = capsys.readouterr()
    assert code == 0
    rows = [line for line in out.splitlines() if ROW.match(line)]
    assert len(rows) >= 3
    assert all(len(row.split("|")[1].split()) == 2 for row in rows)
    assert "sum" in out
    assert "received (KB)" in out


def test_many_streams_go_on_in_further_lines_of_the_same_row() -> None:
    table = IntervalTable(TestRequest(duration_s=1, parallel=20), "MB")
    samples = [
        {"stream": i + 1, "t_s": 1.0, "seconds": 1.0, "goodput_mbps": float(i), "omitted": False, "bytes": 0}
        for i in range(20)
    ]
    lines = table.rows(samples)
    assert len(lines) == 3
    assert [len(line.split("|")[1].split()) for line in lines] == [8, 8, 4]
    assert lines[0].split()[1] == "190.0"


@pytest.mark.slow
def test_the_server_serves_many_clients_at_once(running: Running) -> None:
    clients = [
        subprocess.Popen(
            [*PERF, "-c", "127.0.0.1", "-p", str(running.port), "-t", "0.3", "--json", *options],
            stdout=subprocess.PIPE,
            text=True,
        )
        for options in (["-u"], ["-u", "-R"], ["-P", "2"], ["-R"])
    ]
    for client in clients:
        out, _ = client.communicate(timeout=60)
        assert client.returncode == 0
        assert json.loads(out)["sum"]["received_bytes"] > 0
    assert wait_for(lambda: running.server.tests_done == 4)


def test_a_client_that_dies_is_noticed_and_its_place_is_free(running: Running) -> None:
    client = subprocess.Popen(
        [*PERF, "-c", "127.0.0.1", "-p", str(running.port), "-t", "60", "-i", "0.1"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdout is not None
    for line in client.stdout:
        if ROW.match(line):
            break
    client.kill()
    client.communicate()
    assert wait_for(lambda: running.server.tests_failed == 1)
    assert any("failed" in line for line in running.lines)
    assert wait_for(lambda: not running.server._sessions)


def test_a_server_that_goes_away_half_way_is_reported() -> None:
    port = str(free_port())
    server = subprocess.Popen([*PERF, "-s", "-B", "127.0.0.1", "-p", port], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    server.stdout.readline()
    client = subprocess.Popen(
        [*PERF, "-c", "127.0.0.1", "-p", port, "-t", "30", "-i", "0.1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert client.stdout is not None
    while not ROW.match(client.stdout.readline()):
        assert client.poll() is None
    server.kill()
    server.communicate()
    _, text = client.communicate()
    assert client.returncode == 1
    assert f"The server at 127.0.0.1 port {port} closed the control connection" in text


def test_ctrl_c_ends_the_server_with_a_summary() -> None:
    port = str(free_port())
    server = subprocess.Popen([*PERF, "-s", "-B", "127.0.0.1", "-p", port], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    server.stdout.readline()
    assert perf("-c", "127.0.0.1", "-p", port, "-n", "1MB") == 0
    # The client has its counters a moment before the server has counted the test.
    while "done" not in server.stdout.readline():
        assert server.poll() is None
    server.send_signal(signal.SIGINT)
    out, _ = server.communicate(timeout=10)
    assert server.returncode == 0
    assert "Served 1 tests (0 failed, 0 refused): received 1.000 MB" in out


def test_limits_are_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    strict = Running(max_clients=1, max_time_s=5)
    try:
        port = str(strict.port)
        assert perf("-c", "127.0.0.1", "-p", port, "-t", "6") == 1
        assert "tests of up to 5 s, got 6 s" in capsys.readouterr().err
        with socket.create_connection(("127.0.0.1", strict.port)) as first:
            events: queue.SimpleQueue[Any] = queue.SimpleQueue()
            first.sendall(greeting("control"))
            channel = Channel(first, "server", events)
            channel.start()
            channel.send("HELLO", test=TestRequest(duration_s=1).to_message())
            assert events.get(timeout=5)["type"] == "READY"
            assert perf("-c", "127.0.0.1", "-p", port, "-t", "1") == 1
            assert "as many tests as it may at once (1)" in capsys.readouterr().err
            channel.close()
        assert wait_for(lambda: not strict.server._sessions)
        assert perf("-c", "127.0.0.1", "-p", port, "-n", "1KB") == 0
    finally:
        strict.server.close()


def test_a_crowd_of_strangers_leaves_nothing_behind(running: Running) -> None:
    crowd = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(500)]
    for number, sock in enumerate(crowd):
        try:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n" if number % 2 else b"\xff" * 64)
        except OSError:
            pass  # turned away already
    with socket.socket(type=socket.SOCK_DGRAM) as stray:
        for length in range(100):
            stray.sendto(os.urandom(length), ("127.0.0.1", running.port))
    assert wait_for(lambda: running.server.unknown_clients >= 590)
    for sock in crowd:
        sock.close()
    assert not running.server._sessions
    assert perf("-c", "127.0.0.1", "-p", str(running.port), "-n", "1KB") == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--reverse", "--bidir"], "Choose one of --reverse"),
        (["--rate", "5"], "--rate is for UDP only; add --udp"),
        (["--udp", "--mss", "500"], "--mss is for TCP only"),
        (["--udp", "--length", "10"], "at least 20 bytes"),
        (["--num", "5", "--omit", "2"], "omit needs a duration"),
        (["--congestion", "nosuch"], "no congestion control 'nosuch'"),
        (["--bind", "127.0.0.1", "--max-time", "5"], "--bind, --max-time cannot be used with --client"),
    ],
)
def test_contradictions_are_sentences(
    running: Running, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert perf("-c", "127.0.0.1", "-p", str(running.port), *options) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [["-p", "0"], ["-p", "65536"], ["-t", "-1"], ["-n", "1.5"], ["-n", "1GB"], ["-P", "0"], ["-b", "fast"]],
)
def test_bad_values_end_with_exit_code_2(options: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        perf("-c", "127.0.0.1", *options)
    assert ended.value.code == 2


@pytest.mark.parametrize("rate", ["1e-9", "4.9e-7", "nan", "inf", "1e300", "-1"])
def test_a_rate_that_is_not_0_is_at_least_1_bit_per_s(rate: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Below, it would round to 0, which sends as fast as possible."""
    with pytest.raises(SystemExit):
        perf("-c", "127.0.0.1", "-u", "-b", rate)
    allowed = "expected Mbit/s, from 0.000001 (1 bit/s) to 1000000, or 0 (as fast as possible)"
    assert f"{allowed}, got '{rate}'" in capsys.readouterr().err


@pytest.mark.parametrize(("rate", "bps"), [("0", 0), ("0.0", 0), ("0.000001", 1), ("1000000", 10**12)])
def test_the_smallest_and_the_largest_rate(rate: str, bps: int) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.request_from(parser.parse_args(["-c", "h", "-u", "-b", rate])).rate_bps == bps


@pytest.mark.parametrize(
    ("text", "here"),
    [
        ("10G", "-b 10000 here"),
        ("1M", "-b 1 here"),
        ("64k", "-b 0.064 here"),
        ("1.5m", "-b 1.5 here"),
        ("50T", "50000000 Mbit/s, more than -b can be"),
    ],
)
def test_a_rate_in_iperf3_notation_is_shown_in_mbit_per_s(
    text: str, here: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """iperf3's manual, -b: bits/s, with K, M, G or T for thousands of them."""
    with pytest.raises(SystemExit) as end:
        perf("-c", "127.0.0.1", "-u", "-b", text)
    assert end.value.code == 2
    assert f"got '{text}'; iperf3's -b {text} is {here}" in capsys.readouterr().err


def test_no_server_a_port_in_use_and_options_of_a_client_are_sentences(
    running: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert perf("-c", "127.0.0.1", "-p", str(port)) == 1
    assert "No server listens at 127.0.0.1 port" in capsys.readouterr().err
    assert perf("-s", "-B", "127.0.0.1", "-p", str(running.port)) == 1
    assert "it is in use" in capsys.readouterr().err
    assert perf("-s", "--time", "5", "--udp") == 1
    assert "--time, --udp cannot be used with --server; set it at the client" in capsys.readouterr().err
    assert perf("-s", "-B", "192.0.2.1") == 1
    assert "does not have that address" in capsys.readouterr().err
    assert perf("-c", "no-such-host.invalid") == 1
    assert "Unknown host" in capsys.readouterr().err


def test_a_server_of_another_protocol_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            other, _ = listener.accept()
            with other:
                other.sendall(b"220 mail.example ESMTP ready\r\n")
                other.recv(1000)

        threading.Thread(target=greet, daemon=True).start()
        assert perf("-c", "127.0.0.1", "-p", str(listener.getsockname()[1])) == 1
    assert "does not use netlab perf's protocol" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_a_sentence(running: Running, capsys: pytest.CaptureFixture[str]) -> None:
    port = str(running.port)
    assert perf("-c", "127.0.0.1", "-p", port, "-n", "1KB", "--json", "/dev/full") == 1
    assert "Cannot write the report: No space left on device" in capsys.readouterr().err
    assert perf("-c", "127.0.0.1", "-p", port, "-n", "1KB", "--json", "/no/such/place.json") == 1
    assert "Cannot write to /no/such/place.json" in capsys.readouterr().err
    with Path("/dev/full").open("w") as full:
        client = subprocess.run(
            [*PERF, "-c", "127.0.0.1", "-p", port, "-n", "1KB", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert client.returncode == 1
    assert client.stderr.count("\n") == 1, client.stderr


def test_loss_is_counted_against_what_was_sent_not_against_the_highest_number() -> None:
    request = TestRequest(protocol="udp", duration_s=1, rate_bps=1000)
    total, (stream,) = combine(
        request,
        {0: {"sent_bytes": 10_000, "datagrams": 10, "error": None}},
        {0: {"received_bytes": 6000, "received_datagrams": 6, "seconds": 0.5, "error": None}},
    )
    assert stream["lost"] == 4
    assert stream["loss_rate"] == pytest.approx(0.4)
    assert total["goodput_mbps"] == pytest.approx(0.096)
