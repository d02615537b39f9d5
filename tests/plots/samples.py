"""Figures to look at, and where to look."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

from netlab import plots, theory


def role(figure, wanted):
    return [trace for trace in figure.data if (trace.meta or {}).get("role") == wanted]


def udp_comparison(name="measured", published=None, details=None, half_widths=None, **settings):
    comparison = plots.Comparison("Offered rate (Mbit/s)", "Goodput (Mbit/s)", **settings)
    return add_udp(comparison, name, published, details, half_widths=half_widths)


def add_udp(comparison, name="measured", published=None, details=None, rate_mbps=5, half_widths=None):
    return comparison.add(
        name,
        [1, 5, 10],
        [1.0, 4.75, 4.8],
        np.linspace(0.1, 10, 7),
        lambda offered: theory.udp_goodput_mbps(offered, rate_mbps),
        published=published,
        details=details,
        half_widths=half_widths,
    )


def series_run(flows=("h1-h3 cubic", "h2-h4 udp")):
    t = np.arange(0.5, 5.1, 0.5)
    frames = [
        pd.DataFrame(
            {
                "flow": flow,
                "t_s": t,
                "goodput_mbps": 2.0,
                "cwnd_segments": np.nan if flow.endswith("udp") else 20.0,
                "ssthresh_segments": np.nan,
                "rtt_ms": np.nan,
            }
        )
        for flow in flows
    ]
    queues = pd.concat(
        pd.DataFrame({"t_s": t, "interface": interface, "backlog_packets": backlog})
        for interface, backlog in (("r1-eth2", 30), ("r2-eth0", 0))
    )
    return SimpleNamespace(intervals=pd.concat(frames), queues=queues)
