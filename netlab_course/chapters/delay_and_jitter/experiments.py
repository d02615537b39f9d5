"""Theory and tables of the chapter "Delay and jitter", made from the runs in its notebook."""

from collections.abc import Hashable, Mapping

import pandas as pd

from netlab import theory
from netlab.measure.results import Run
from netlab.runs.replications import interval
from netlab_course.chapters.delay_and_jitter.settings import (
    CABLE_MBPS,
    IPERF_PAYLOAD_BYTES,
    NETEM_PACKETS,
    OFFERED_MBPS,
)


def tcp_mbps(delay_ms: float) -> float:
    """Return the theoretical goodput in Mbit/s of 10 s of TCP in slow start over the cable of 100 Mbit/s with this
    one-way delay in ms: data first arrive directly after the handshake, two delays after the start.
    """
    # Stop slightly before the end: the round that would arrive at that very moment does not count.
    active_s = 10 - 2 * delay_ms / 1000 - 1e-6
    return theory.slow_start_goodput_mbps(CABLE_MBPS, delay_ms, active_s, framing="ethernet")


def netem_loss(delay_ms: float) -> float:
    """Return the theoretical loss rate (0 to 1) of UDP at 54.2 Mbit/s behind netem with this delay in ms: netem holds
    1000 packets at a time and drops the rest.
    """
    sent_packets = OFFERED_MBPS * 1e6 * delay_ms / 1000 / (IPERF_PAYLOAD_BYTES * 8)
    return max(0.0, 1 - NETEM_PACKETS / sent_packets)


def jitter_table(runs: Mapping[tuple[Hashable, float, int], Run]) -> pd.DataFrame:
    """Return a table with a row for each run of one TCP flow, by variant of TCP, jitter in ms and seed (the keys of
    `runs`): goodput in Mbit/s, share of segments that were sent again (0 to 1), and packets dropped by all queues.
    """
    rows = [
        {
            "tcp": name,
            "jitter_ms": jitter_ms,
            "seed": seed,
            "goodput_mbps": run.flows.goodput_mbps[0],
            "sent_again": run.flows.loss_rate[0],
            "dropped": run.queues.groupby("interface").drops.max().sum(),
        }
        for (name, jitter_ms, seed), run in runs.items()
    ]
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a row for each variant of TCP and jitter, from the table of `jitter_table`: the mean goodput in
    Mbit/s over the seeds with the half width of its 95 % interval (Student's t), the share sent again in per cent, and
    the packets dropped over all seeds.
    """
    rows = [
        (*case, *interval(group.goodput_mbps), 100 * group.sent_again.mean(), int(group.dropped.sum()))
        for case, group in table.groupby(["tcp", "jitter_ms"], sort=False)
    ]
    return pd.DataFrame(rows, columns=["TCP", "jitter (ms)", "goodput (Mbit/s)", "±", "sent again (%)", "dropped"])


def goodput_by_jitter(*tables: pd.DataFrame) -> pd.DataFrame:
    """Return a table of the mean goodput in Mbit/s over the seeds of one or more tables of `jitter_table`: a row for
    each variant of TCP, and a column for each jitter, such as "± 5 ms", from the smallest on.
    """
    found = pd.concat(tables)
    means = found.pivot_table(index="tcp", columns="jitter_ms", values="goodput_mbps", sort=False)
    return means.sort_index(axis="columns").rename(columns="± {:g} ms".format).rename_axis(index=None, columns=None)
