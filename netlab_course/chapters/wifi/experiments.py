"""Experiments of several runs for the chapter "Wi-Fi"; students see their results."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from netlab import theory
from netlab.measure.results import Run
from netlab.runs import experiment
from netlab.traffic import Tcp, Udp
from netlab_course.chapters.wifi.settings import air

STEP_S = 0.4
PAUSE_S = 0.1

LAB_SETTINGS: dict[str, dict[str, Any]] = {
    "nothing before a frame": {},
    "RTS and CTS at 24 Mbit/s": {"protection": "rts", "protect_above_bytes": 250},
    "CTS to itself at 11 Mbit/s": {"protection": "cts", "protection_rate_mbps": 11},
    "RTS and CTS at 11 Mbit/s, short preamble": {
        "protection": "rts",
        "protection_rate_mbps": 11,
        "protect_above_bytes": 250,
        "short_preamble": True,
    },
    "RTS and CTS at 11 Mbit/s, long preamble": {
        "protection": "rts",
        "protection_rate_mbps": 11,
        "protect_above_bytes": 250,
    },
}
"""Options of the medium that the lab may have had, by name."""


def segments_per_ack(run: Run, after_s: float = 0.5) -> float:
    """Return the number of data frames of h1 for each frame of h2 in a run, after the first `after_s` seconds."""
    sent = run.queues.pivot_table(index="t_s", columns="interface", values="sent_packets")
    late = sent.iloc[-1] - sent[sent.index >= after_s].iloc[0]
    return float(late["h1-eth0"] / late["h2-eth0"])


def tcp_over_air() -> pd.DataFrame:
    """Run TCP over 802.11g at 54 Mbit/s; return its goodput in Mbit/s in theory and as measured, a row for each setting
    that the lab may have had.
    """
    rows = []
    for name, medium in LAB_SETTINGS.items():
        run = experiment.run(air(**medium), [Tcp("h1", "h2")], 2, progress=False)
        per_ack = segments_per_ack(run)
        rows.append(
            {
                "before each large frame": name,
                "theory": theory.wifi_tcp_limit_mbps(options=medium, segments_per_ack=per_ack),
                "here": float(run.goodput_mbps(0.5).iloc[0]),
            }
        )
    return pd.DataFrame(rows)


def udp_over_air(payloads_bytes: Iterable[int], rate_mbps: int = 54) -> list[float]:
    """Return the goodput in Mbit/s of UDP that always has a datagram waiting, for each payload, at this rate of the
    data frames.
    """
    flows = [
        Udp(
            "h1",
            "h2",
            rate_mbps=min(40.0, 0.06 * size),
            payload_bytes=int(size),
            spacing="even",
            start_s=step * (STEP_S + PAUSE_S),
            duration_s=STEP_S,
        )
        for step, size in enumerate(payloads_bytes)
    ]
    network = air(queue_packets=20, rate_mbps=rate_mbps)
    run = experiment.run(network, flows, len(flows) * (STEP_S + PAUSE_S), progress=False)
    return [float(goodput) for goodput in run.flows.goodput_mbps]
