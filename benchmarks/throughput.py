"""netlab perf beside iperf3, side by side on this machine's kernel over a veth pair; medians and ratios.

Run as root: ``python benchmarks/throughput.py``. Each repetition runs every contestant once, in turn, so that a
machine that gets slower or faster meanwhile does so for all. CPU time is that of both processes (client and
server, user and system), Python's start included; what the kernel does in soft interrupts on nobody's account
is missing for all.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness import in_turns

REPOSITORY = Path(__file__).resolve().parent.parent
ADDRESS = "10.99.77.2"
PERF = """
import argparse, sys
from netlab.perf import command
parser = argparse.ArgumentParser(prog="netlab perf")
command.add_arguments(parser)
sys.exit(command.main(parser.parse_args()))
"""
DATAGRAM_BYTES = 1000


@dataclass(frozen=True)
class Outcome:
    """What one run achieved: the receiver's figures and the CPU time of both processes."""

    received_bytes: int
    received_datagrams: int
    sent_datagrams: int
    lost_rate: float
    seconds: float
    cpu_s: float

    @property
    def gbps(self) -> float:
        return self.received_bytes * 8 / 1e9 / self.seconds

    @property
    def received_per_s(self) -> float:
        return self.received_datagrams / self.seconds

    @property
    def sent_per_s(self) -> float:
        return self.sent_datagrams / self.seconds

    @property
    def cpu_s_per_gb(self) -> float:
        return self.cpu_s / (self.received_bytes / 1e9)


@dataclass(frozen=True)
class Contestant:
    name: str
    run: Callable[[float], Outcome]


class Network:
    """Two namespaces and a veth pair between them."""

    def __init__(self) -> None:
        self.near, self.far = f"bench-a-{os.getpid()}", f"bench-b-{os.getpid()}"

    def __enter__(self) -> Network:
        for line in (
            f"netns add {self.near}",
            f"netns add {self.far}",
            f"-n {self.near} link add v0 type veth peer name v1 netns {self.far}",
            f"-n {self.near} address add 10.99.77.1/24 dev v0",
            f"-n {self.far} address add {ADDRESS}/24 dev v1",
            f"-n {self.near} link set v0 up",
            f"-n {self.far} link set v1 up",
        ):
            subprocess.run(["ip", *line.split()], check=True)
        return self

    def __exit__(self, *_: object) -> None:
        for name in (self.near, self.far):
            subprocess.run(["ip", "netns", "delete", name], check=False)

    def measure(self, server: list[str], client: list[str]) -> tuple[str, float]:
        """Run a server and a client; returns what the client printed and the CPU seconds of both."""
        with self._popen(self.far, server) as serving:
            time.sleep(0.7)
            with self._popen(self.near, client) as asking:
                assert asking.stdout is not None
                text = asking.stdout.read()
                _, status, used = os.wait4(asking.pid, 0)
                asking.returncode = os.waitstatus_to_exitcode(status)
            if asking.returncode:
                raise SystemExit(f"{' '.join(client)} failed: {text[-500:]}")
            serving.send_signal(signal.SIGINT)
            assert serving.stdout is not None
            serving.stdout.read()
            _, status, used_too = os.wait4(serving.pid, 0)
            serving.returncode = os.waitstatus_to_exitcode(status)
        return text, used.ru_utime + used.ru_stime + used_too.ru_utime + used_too.ru_stime

    def _popen(self, namespace: str, command: list[str]) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        return subprocess.Popen(
            ["ip", "netns", "exec", namespace, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )


def netlab(network: Network, name: str, *options: str) -> Contestant:
    def run(seconds: float) -> Outcome:
        perf = [sys.executable, "-c", PERF]
        text, cpu_s = network.measure(
            [*perf, "--server", "--json"],
            [*perf, "--client", ADDRESS, "--time", str(seconds), "--json", *options],
        )
        total = json.loads(text)["sum"]
        return Outcome(
            total["received_bytes"],
            total.get("received_datagrams", 0),
            total.get("datagrams", 0),
            total.get("loss_rate") or 0.0,
            total["seconds"],
            cpu_s,
        )

    return Contestant(name, run)


def iperf3(network: Network, name: str, *options: str) -> Contestant:
    def run(seconds: float) -> Outcome:
        text, cpu_s = network.measure(
            ["iperf3", "--server"],
            ["iperf3", "--client", ADDRESS, "--time", f"{seconds:.0f}", "--json", *options],
        )
        end = json.loads(text)["end"]
        total = end.get("sum_received") or end["sum"]
        packets = total.get("packets", 0)
        # For UDP, iperf3 3.12 reports the sender's bytes beside the receiver's losses.
        if "lost_packets" in total:
            arrived = packets - total["lost_packets"]
            return Outcome(
                arrived * DATAGRAM_BYTES, arrived, packets, total["lost_percent"] / 100, total["seconds"], cpu_s
            )
        return Outcome(total["bytes"], 0, 0, 0.0, total["seconds"], cpu_s)

    return Contestant(name, run)


def compare(title: str, figures: list[str], contestants: list[Contestant], seconds: float, repeats: int) -> None:
    """Run the contestants in turn and print medians; the last one is the measure of the others."""
    outcomes = in_turns(
        {contestant.name: lambda run=contestant.run: run(seconds) for contestant in contestants}, repeats
    )

    def median(name: str, what: str) -> float:
        values: list[float] = [getattr(outcome, what) for outcome in outcomes[name]]
        return statistics.median(values)

    reference = contestants[-1].name
    print(f"\n{title} ({repeats} repetitions of {seconds:g} s, in turn)")
    for figure in figures:
        print(
            f"{figure:34}{'median':>14}{'lowest':>14}{'highest':>14}{'ratio':>8}{'CPU s/GB':>10}{'ratio':>8}{'loss':>8}"
        )
        for contestant in contestants:
            name = contestant.name
            values = [getattr(outcome, figure) for outcome in outcomes[name]]
            value, cpu = median(name, figure), median(name, "cpu_s_per_gb")
            print(
                f"  {name:32}{value:>14,.2f}{min(values):>14,.2f}{max(values):>14,.2f}"
                f"{value / median(reference, figure):>8.2f}{cpu:>10.3f}"
                f"{cpu / median(reference, 'cpu_s_per_gb'):>8.2f}{median(name, 'lost_rate'):>8.3f}"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    args = parser.parse_args()
    if shutil.which("iperf3") is None:
        print("iperf3 is missing. Install it: `apt install iperf3`, or see https://software.es.net/iperf/.")
        return 1
    if os.geteuid() != 0:
        print("The benchmark makes two network namespaces and needs root: `sudo python benchmarks/throughput.py`.")
        return 1
    version = subprocess.run(["iperf3", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    print(
        f"{version}; Python {platform.python_version()}; Linux {platform.release()}; {os.cpu_count()} CPUs, "
        f"load {os.getloadavg()[0]:.2f}"
    )
    with Network() as network:
        compare(
            "TCP, one stream (netlab receives with MSG_TRUNC and sends with sendfile: nothing is copied)",
            ["gbps"],
            [
                netlab(network, "netlab perf"),
                iperf3(network, "iperf3 --zerocopy (sender only)", "--zerocopy"),
                iperf3(network, "iperf3"),
            ],
            args.seconds,
            args.repeats,
        )
        udp = ("--udp", "--length", str(DATAGRAM_BYTES))
        compare(
            f"UDP, {DATAGRAM_BYTES}-byte datagrams as fast as they go",
            ["received_per_s", "sent_per_s"],
            [
                netlab(network, "netlab perf", *udp, "--rate", "0"),
                netlab(network, "netlab perf --batch", *udp, "--rate", "0", "--batch"),
                iperf3(network, "iperf3", *udp, "--bitrate", "0"),
            ],
            args.seconds,
            args.repeats,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
