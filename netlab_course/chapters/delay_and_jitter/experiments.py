"""Experiments of several runs for the chapter "Delay and jitter"; students see their results."""

from collections.abc import Iterable

import pandas as pd

from netlab import theory
from netlab.measure.results import Run
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs import experiment
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.runs.sweeps import sweep
from netlab.traffic import Command, Tcp, Udp
from netlab_course.chapters.delay_and_jitter.settings import (
    CABLE_MBPS,
    IPERF_PAYLOAD_BYTES,
    NETEM_PACKETS,
    OFFERED_MBPS,
    TCP_VARIANTS,
    WINDOW_BYTES,
    cable,
    jittery,
)

SETTLE_S = 0.5


def by_delay(delays_ms: Iterable[float], duration_s: float = 10) -> pd.DataFrame:
    """Return the goodput of TCP and the goodput and loss rate of UDP at 54.2 Mbit/s over the cable, a row for each
    delay in ms.
    """
    delays_ms = list(delays_ms)
    udp = Udp("h1", "h2", rate_mbps=OFFERED_MBPS, payload_bytes=IPERF_PAYLOAD_BYTES)
    scenarios = {("tcp", d): Scenario(cable(d), [Tcp("h1", "h2")], duration_s, interval_s=1) for d in delays_ms}
    scenarios |= {("udp", d): Scenario(cable(d), [udp], 1, interval_s=0.5) for d in delays_ms}
    runs = sweep(scenarios, progress=False)
    return pd.DataFrame(
        {
            "delay_ms": delays_ms,
            "tcp_mbps": [runs["tcp", d].flows.goodput_mbps[0] for d in delays_ms],
            "udp_mbps": [runs["udp", d].flows.goodput_mbps[0] for d in delays_ms],
            "udp_loss": [runs["udp", d].flows.loss_rate[0] for d in delays_ms],
        }
    )


def tcp_in_ten_seconds_mbps(delay_ms: float) -> float:
    """Return the theoretical goodput in Mbit/s of TCP in `by_delay`: data first arrive directly after the handshake,
    two delays after the start.
    """
    # Stop slightly before the end: the round that would arrive at that very moment does not count.
    active_s = 10 - 2 * delay_ms / 1000 - 1e-6
    return theory.slow_start_goodput_mbps(CABLE_MBPS, delay_ms, active_s, framing="ethernet")


def through_netem(delay_ms: float) -> Run:
    """Run UDP at 54.2 Mbit/s through a netem that the lab's command makes with this delay, for at least 1.5 s and a
    multiple of the delay; return the run.
    """
    command = f"tc qdisc add dev h1-eth0 root netem delay {delay_ms}ms limit {NETEM_PACKETS}"
    send_s = max(1, round(1500 / delay_ms)) * delay_ms / 1000
    udp = Udp(
        "h1", "h2", rate_mbps=OFFERED_MBPS, payload_bytes=IPERF_PAYLOAD_BYTES, start_s=SETTLE_S, duration_s=send_s
    )
    network = Topology(hosts=["h1", "h2"], links=[Link("h1", "h2")])
    return experiment.run(
        network, [Command("h1", command), udp], SETTLE_S + send_s + delay_ms / 1000, interval_s=0.5, progress=False
    )


def netem_losses(delays_ms: Iterable[float]) -> list[float]:
    """Return the loss rate (0 to 1) of UDP at 54.2 Mbit/s through the lab's netem, for each delay in ms."""
    return [float(through_netem(d).flows.set_index("kind").loss_rate["udp"]) for d in delays_ms]


def netem_loss(delay_ms: float) -> float:
    """Return the theoretical loss rate (0 to 1) of UDP at 54.2 Mbit/s: netem accepts 1000 packets per delay and drops
    the rest.
    """
    sent_packets = OFFERED_MBPS * 1e6 * delay_ms / 1000 / (IPERF_PAYLOAD_BYTES * 8)
    return max(0.0, 1 - NETEM_PACKETS / sent_packets)


def udp_with_jitter(jitter_ms: float) -> pd.DataFrame:
    """Run UDP of 10 Mbit/s over the link with this jitter in ms; return goodput, loss rate, delay, jitter and
    reordering in two rows, without and with overtaking packets.
    """
    udp = Udp("h1", "h2", rate_mbps=10, payload_bytes=IPERF_PAYLOAD_BYTES)
    rows = {}
    for name, reorder in (("order kept", False), ("overtaking", True)):
        run = experiment.run(jittery(jitter_ms, reorder=reorder), [udp], 5, progress=False)
        rows[name] = run.flows.iloc[0][["goodput_mbps", "loss_rate", "delay_ms", "jitter_ms", "reordered"]]
    return pd.DataFrame(rows).T


def tcp_with_jitter(jitters_ms: Iterable[float], seeds: Iterable[int] = (1, 2, 3)) -> pd.DataFrame:
    """Run TCP with a window of 150 kB over the link with jitter; return goodput in Mbit/s, share of retransmissions and
    drops, a row for each variant of TCP, jitter in ms and seed.
    """
    flow = Tcp("h1", "h2", congestion="reno", window_bytes=WINDOW_BYTES)
    scenarios = {
        (name, jitter_ms, seed): Scenario(
            jittery(jitter_ms, reorder=reorder), [flow], 6, seed=seed, interval_s=1, sysctls=sysctls
        )
        for name, (reorder, sysctls) in TCP_VARIANTS.items()
        for jitter_ms in jitters_ms
        for seed in seeds
    }
    rows = [
        {
            "tcp": name,
            "jitter_ms": jitter_ms,
            "seed": seed,
            "goodput_mbps": run.flows.goodput_mbps[0],
            "sent_again": run.flows.loss_rate[0],
            "dropped": run.queues.groupby("interface").drops.max().sum(),
        }
        for (name, jitter_ms, seed), run in sweep(scenarios, progress=False).items()
    ]
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean goodput of `tcp_with_jitter` over the seeds with the half width of its 95 % interval (Student's
    t), the share of retransmissions in per cent, and the packets dropped over all seeds, a row for each variant and
    jitter.
    """
    rows = [
        (*case, *interval(group.goodput_mbps), 100 * group.sent_again.mean(), int(group.dropped.sum()))
        for case, group in table.groupby(["tcp", "jitter_ms"], sort=False)
    ]
    return pd.DataFrame(rows, columns=["TCP", "jitter (ms)", "goodput (Mbit/s)", "±", "sent again (%)", "dropped"])
