"""`netlab perf` between two network namespaces over a link with rate and queue, which only root can make."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agreement import agrees

REPOSITORY = Path(__file__).resolve().parents[2]
ADDRESS = "10.98.61.2"
NEAR, FAR = f"netlab-test-a-{os.getpid()}", f"netlab-test-b-{os.getpid()}"
SCRIPT = """
import argparse, sys
from netlab_engines.perf import command
parser = argparse.ArgumentParser(prog="netlab perf")
command.add_arguments(parser)
sys.exit(command.main(parser.parse_args()))
"""
PERF = [sys.executable, "-c", SCRIPT]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.root,
    pytest.mark.skipif(shutil.which("ip") is None or shutil.which("tc") is None, reason="iproute2 is not installed"),
]


def sh(command: str) -> str:
    return subprocess.run(command.split(), check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    try:
        sh(f"ip netns add {NEAR}")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this system makes no network namespaces: {error.stderr.strip()}")
    try:
        sh(f"ip netns add {FAR}")
        sh(f"ip -n {NEAR} link add v0 type veth peer name v1 netns {FAR}")
        for namespace, device, address in ((NEAR, "v0", "10.98.61.1"), (FAR, "v1", ADDRESS)):
            sh(f"ip -n {namespace} address add {address}/24 dev {device}")
            sh(f"ip -n {namespace} link set {device} up")
            sh(f"ip -n {namespace} link set lo up")
        serving = subprocess.Popen(
            ["ip", "netns", "exec", FAR, *PERF, "--server"], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
        )
        assert serving.stdout is not None
        serving.stdout.readline()
        yield
        serving.terminate()
        serving.communicate()
    finally:
        subprocess.run(["ip", "netns", "delete", NEAR], check=False)
        subprocess.run(["ip", "netns", "delete", FAR], check=False)


@pytest.fixture
def slow_link(server: None) -> Iterator[None]:
    """10 Mbit/s with a queue of 20 kB, counted by tc in Ethernet frames."""
    sh(f"ip netns exec {NEAR} tc qdisc replace dev v0 root tbf rate 10mbit burst 1600 limit 20000")
    yield
    sh(f"ip netns exec {NEAR} tc qdisc delete dev v0 root")


def ask(*options: str) -> dict[str, Any]:
    client = subprocess.run(
        ["ip", "netns", "exec", NEAR, *PERF, "-c", ADDRESS, "--json", *options],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert client.returncode == 0, client.stderr
    report: dict[str, Any] = json.loads(client.stdout)
    return report


def udp_counters(namespace: str) -> dict[str, int]:
    lines = [line for line in sh(f"ip netns exec {namespace} cat /proc/net/snmp").splitlines() if line[:4] == "Udp:"]
    return dict(zip(lines[0].split()[1:], map(int, lines[1].split()[1:]), strict=True))


def test_sender_receiver_kernel_and_queue_agree_to_the_packet(slow_link: None) -> None:
    near_before, far_before = udp_counters(NEAR), udp_counters(FAR)
    total = ask("--udp", "--rate", "12", "--time", "2")["sum"]
    near, far = udp_counters(NEAR), udp_counters(FAR)
    queue_text = sh(f"ip netns exec {NEAR} tc -s qdisc show dev v0")
    match = re.search(r"dropped (\d+)", queue_text)
    assert match is not None
    # Datagrams that the sender's own queue drops count as SndbufErrors.
    dropped = near["SndbufErrors"] - near_before["SndbufErrors"]
    # A greeting datagram (or a few, if the first was late) was sent before.
    greetings = near["OutDatagrams"] - near_before["OutDatagrams"] + dropped - total["datagrams"]
    assert 1 <= greetings <= 3
    assert far["InDatagrams"] - far_before["InDatagrams"] - total["received_datagrams"] == greetings
    assert total["lost"] == dropped, f"we miss {total['lost']}, the sender's kernel counts {dropped} drops"
    assert total["lost"] > 0
    # The control connection shares the queue and may lose a segment too.
    assert 0 <= int(match[1]) - dropped <= 5, f"we miss {dropped}, the queue dropped {match[1]}"
    # Not "reordered": on several CPUs each has a queue of its own for what comes through a veth, and one may overtake.
    assert total["duplicates"] == 0


def test_udp_goodput_is_that_of_the_link_in_frames(slow_link: None) -> None:
    report = ask("--udp", "--rate", "12", "--time", "3")
    expected_mbps = 10 * 1000 / 1042
    # On a real clock a busy machine lets the link idle: less may pass, and later. More and sooner never.
    assert 0.7 * expected_mbps < report["sum"]["goodput_mbps"] < 1.02 * expected_mbps
    (stream,) = report["streams"]
    offered_mbps = 8 * stream["sent_bytes"] / stream["sending_seconds"] / 1e6
    assert 0.7 * 12 < offered_mbps < 1.01 * 12
    assert stream["loss_rate"] == pytest.approx(1 - stream["goodput_mbps"] / offered_mbps, abs=0.02)
    # A full queue of 20 kB at 10 Mbit/s delays by 16 ms.
    assert 12 < report["sum"]["delay_mean_ms"] < 30


def test_tcp_retransmits_what_the_queue_dropped_and_delivers_all(slow_link: None) -> None:
    report = ask("--num", "3MB", "--congestion", "reno")
    (stream,) = report["streams"]
    assert stream["received_bytes"] == stream["sent_bytes"] == 3_000_000
    expected_mbps = 10 * 1448 / 1514
    assert 0.7 * expected_mbps < stream["goodput_mbps"] < 1.05 * expected_mbps
    assert stream["retransmits"] > 0
    assert stream["congestion"] == "reno"


def test_udp_firewall_is_distinguished_from_a_missing_server(server: None) -> None:
    # A routing rule drops what a packet filter would, without needing one.
    sh(f"ip -n {FAR} rule add pref 10 lookup local")
    sh(f"ip -n {FAR} rule delete pref 0")
    sh(f"ip -n {FAR} rule add pref 5 ipproto udp iif v1 blackhole")
    try:
        client = subprocess.run(
            ["ip", "netns", "exec", NEAR, *PERF, "-c", ADDRESS, "--udp", "-t", "1"],
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            check=False,
        )
    finally:
        sh(f"ip -n {FAR} rule delete pref 5")
    assert client.returncode == 1
    assert "a firewall on the path or at either end may drop UDP" in client.stderr


@pytest.mark.parametrize(("rate_mbps", "length"), [("0.1", 100), ("10", 100), ("100", 1400)])
def test_the_average_rate_is_the_requested_one(server: None, rate_mbps: str, length: int) -> None:
    """A test ends on time, so the rate is one that a slow machine can send: 100 Mbit/s are 9 000 datagrams a second."""
    report = ask("--udp", "--rate", rate_mbps, "--time", "4", "--length", str(length))
    total = report["sum"]
    (stream,) = report["streams"]
    expected = float(rate_mbps) * 1e6 / (8 * length) * 4
    # A machine under load may stall the sender; what it missed must follow, or the datagrams would be fewer.
    agrees("datagrams sent in 4 s", total["datagrams"], expected, absolute=max(1, 0.005 * expected))
    assert stream["lost"] == 0
