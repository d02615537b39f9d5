"""The demonstration without a browser: one bottleneck, theory and measurement in one table."""

import argparse
from dataclasses import dataclass

from netlab import theory
from netlab.base.tables import run_summary, text_table
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.runs import experiment
from netlab.traffic import Ping, Tcp, Udp

RATE_MBPS = 5.0
DELAY_MS = 10.0
QUEUE_PACKETS = 100
UDP_S = 10.0
UDP_STARTS_S = {2.5: 3.0, 4.8: 14.0, 10.0: 25.0}
TCP_START_S = 36.0
SLOW_START_S = 3.0
DURATION_S = 60.0
TOLERANCE = 0.01


@dataclass(frozen=True)
class DemoRow:
    """A line of the demo's table: a quantity of a flow, in `unit`, with its theoretical and its measured value."""

    flow: str
    quantity: str
    unit: str
    theory: float
    measured: float

    @property
    def error(self) -> float:
        """The relative error of the theory, measured / theory - 1; for a loss rate the difference measured - theory, as
        theory may be 0.
        """
        if self.quantity == "loss rate":
            return self.measured - self.theory
        return self.measured / self.theory - 1


def topology() -> Topology:
    """Return the demo's network: sender h1, receiver h2, and a bottleneck of 5 Mbit/s, 10 ms (one way) and room for 100
    packets between them.
    """
    return topologies.dumbbell(pairs=1, rate_mbps=RATE_MBPS, delay_ms=DELAY_MS, queue_packets=QUEUE_PACKETS)


def traffic() -> list[Ping | Udp | Tcp]:
    """Return the demo's traffic, one flow after the other from h1 to h2: a ping, UDP below, at and above the
    bottleneck's rate, and TCP.
    """
    datagrams = [
        Udp("h1", "h2", rate_mbps=rate, start_s=start, duration_s=UDP_S, spacing="even")
        for rate, start in UDP_STARTS_S.items()
    ]
    return [Ping("h1", "h2", count=10), *datagrams, Tcp("h1", "h2", start_s=TCP_START_S)]


def rows(run: Run) -> list[DemoRow]:
    """Return a row for each quantity that the run of the demo measured (RTT, goodput, loss rate), in the order of its
    traffic, with the value by theory.
    """
    ping, *datagrams, tcp = run.flows.to_dict(orient="records")
    found = [
        DemoRow("ping, idle path", "RTT", "ms", theory.ping_rtt_ms(topology().path_hops("h1", "h2")), ping["rtt_ms"])
    ]
    for offered_mbps, row in zip(UDP_STARTS_S, datagrams, strict=True):
        flow = f"UDP, {offered_mbps:g} Mbit/s offered"
        goodput_mbps = theory.udp_goodput_mbps(offered_mbps, RATE_MBPS)
        loss_rate = theory.udp_loss_rate(offered_mbps, RATE_MBPS, queue_packets=QUEUE_PACKETS, duration_s=UDP_S)
        found.append(DemoRow(flow, "goodput", "Mbit/s", goodput_mbps, row["goodput_mbps"]))
        found.append(DemoRow(flow, "loss rate", "", loss_rate, row["loss_rate"]))
    steady_mbps = run.goodput_mbps(after_s=TCP_START_S + SLOW_START_S)[tcp["flow"]]
    found.append(
        DemoRow(
            "TCP (CUBIC), after slow start", "goodput", "Mbit/s", theory.tcp_goodput_limit_mbps(RATE_MBPS), steady_mbps
        )
    )
    return found


def report(run: Run) -> str:
    """Return the text of the demo for its run: a table of theory and measurement, and a sentence on whether they agree
    within 1 %.
    """
    found = rows(run)
    cells = [
        [
            row.flow if number == 0 or found[number - 1].flow != row.flow else "",
            row.quantity,
            row.unit,
            f"{row.theory:.4f}",
            f"{row.measured:.4f}",
            f"{row.error:+.4f}  " if row.quantity == "loss rate" else f"{row.error:+.2%}",
        ]
        for number, row in enumerate(found)
    ]
    worst = max(abs(row.error) for row in found)
    verdict = (
        f"Theory and measurement agree within {TOLERANCE:.0%}."
        if worst <= TOLERANCE
        else f"They differ by up to {worst:.1%}, more than the {TOLERANCE:.0%} expected; see `netlab doctor`."
    )
    return "\n".join(
        [
            f"A bottleneck of {RATE_MBPS:g} Mbit/s and {DELAY_MS:g} ms with room for {QUEUE_PACKETS} packets, from h1 to h2:",
            "",
            text_table(["flow", "quantity", "", "theory", "measured", "error"], cells, left=3),
            "",
            verdict,
        ]
    )


def main(_options: argparse.Namespace) -> int:
    """Run the demo, which has no options, and print its report; return the exit status: 0 if theory and measurement
    agree within 1 %, else 1. Raises NetlabError when the demo cannot run here.
    """
    run = experiment.run(topology(), traffic(), duration_s=DURATION_S)
    print(report(run))
    print(run_summary(run.settings))
    return 0 if all(abs(row.error) <= TOLERANCE for row in rows(run)) else 1
