"""Tables of the chapter "Congestion control", made from runs of its notebook."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from netlab import theory
from netlab.measure.results import Run
from netlab.runs.replications import interval
from netlab_course.chapters.congestion_control.settings import DELAY_MS, SETTLED_S, loss_times_s


def cost_segments(rate_mbps: float, rtt_ms: float) -> float:
    """Return the number of segments that Reno does not send because of one loss, on a path with this rate and
    round-trip time and without a queue.
    """
    return theory.aimd_cost_segments(theory.bdp_bytes(rate_mbps, rtt_ms) / theory.tcp_wire_bytes())


def loss_table(runs: Mapping[float, Run]) -> pd.DataFrame:
    """Return a table of the measured cost of one loss in segments and what leads to it (losses, BDP, mean window at a
    loss, time in s and segments sent between losses, the constant c), a row for each run; `runs` has a run of a Reno
    flow with almost no queue by the rate in Mbit/s.
    """
    rows = []
    for rate, run in runs.items():
        first, *later = [t_s for t_s in loss_times_s(run) if t_s > SETTLED_S]
        windows = run.intervals.set_index("t_s")["cwnd_segments"]
        inside = run.intervals[(run.intervals["t_s"] > first) & (run.intervals["t_s"] <= later[-1])]
        between_s = (later[-1] - first) / len(later)
        per_s = inside["goodput_mbps"].mean() * 1e6 / 8 / theory.MSS_BYTES
        possible_per_s = theory.tcp_goodput_limit_mbps(rate) * 1e6 / 8 / theory.MSS_BYTES
        rtt_s = inside["rtt_ms"].mean() / 1000
        rows.append(
            {
                "rate (Mbit/s)": rate,
                "losses": len(later),
                "BDP": theory.bdp_bytes(rate, 2 * DELAY_MS) / theory.tcp_wire_bytes(),
                "W at a loss": np.mean([windows[windows.index < t_s].iloc[-1] for t_s in (first, *later)]),
                "s between": between_s,
                "sent between": per_s * between_s,
                "cost": (possible_per_s - per_s) * between_s,
                "c": per_s * rtt_s / math.sqrt(per_s * between_s),
            }
        )
    return pd.DataFrame(rows)


def summary(runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return a table, by congestion control (the keys of `runs`), of goodput in Mbit/s and mean RTT in ms from 5 to 10
    s, and of the numbers of retransmissions and timeouts of the whole run, of the first flow of each run.
    """
    rows = []
    for name, run in runs.items():
        flow = run.flows.iloc[0]
        own = run.intervals[run.intervals["flow"] == flow["flow"]]
        rows.append(
            {
                "control": name,
                "goodput (Mbit/s)": run.goodput_mbps(after_s=SETTLED_S, before_s=10).iloc[0],
                "mean RTT (ms)": own.query(f"{SETTLED_S} < t_s <= 10")["rtt_ms"].mean(),
                "sent again": int(flow["retransmits"]),
                "timeouts": int(flow["timeouts"]),
            }
        )
    return pd.DataFrame(rows).set_index("control").rename_axis(None)


def stated_table(runs: Mapping[tuple[int, int, int], Run]) -> pd.DataFrame:
    """Return a table of the goodputs in Mbit/s of the Tahoe and the Reno flow of each run, a row for each; the keys of
    `runs` are window in segments, queue in packets, and segment size in bytes.
    """
    found = [run.flows.dropna(subset=["congestion"]).set_index("congestion")["goodput_mbps"] for run in runs.values()]
    table = pd.DataFrame(list(runs), columns=["window", "queue", "segment"])
    return table.assign(**{control: [each[control] for each in found] for control in ("tahoe", "reno")})


def random_table(reno: Mapping[float, Run], bbr: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a row for each random loss rate (0 to 1), the key of Reno's runs and the case of BBR's table of
    `netlab.repeat`: goodputs in Mbit/s, Reno's RTT in ms, timeouts and constant `c`, half widths of 95 % intervals, and
    the goodput by PFTK.

    Each flow of a run of Reno is a draw, and each seed of BBR; their means get a 95 % interval.
    """
    rows = []
    for rate, run in reno.items():
        mean_mbps, half_mbps = interval(run.goodput_mbps(after_s=SETTLED_S))
        rtt_ms = float(run.intervals.query(f"t_s > {SETTLED_S}")["rtt_ms"].mean())
        bbr_mbps, half_bbr_mbps = interval(bbr[bbr["case"] == rate]["goodput_mbps"])
        rows.append(
            {
                "loss_rate": rate,
                "reno_mbps": mean_mbps,
                "half_mbps": half_mbps,
                "rtt_ms": rtt_ms,
                "timeouts": run.flows["timeouts"].mean(),
                "bbr_mbps": bbr_mbps,
                "half_bbr_mbps": half_bbr_mbps,
                "pftk_mbps": theory.pftk_mbps(theory.MSS_BYTES, rtt_ms, rate),
            }
        )
    table = pd.DataFrame(rows)
    per_round = table["reno_mbps"] * table["rtt_ms"] / theory.mathis_mbps(theory.MSS_BYTES, 1.0, 1.0, c=1.0)
    table["c"] = per_round * np.sqrt(table["loss_rate"])
    table["half_c"] = table["c"] * table["half_mbps"] / table["reno_mbps"]
    return table


def ten_table(runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return a table of the sum, the least and the most goodput in Mbit/s and Jain's index of ten flows at a time, a
    row for each group of ten in the order of a run's flows (`draw`, from 1); the keys of `runs` are congestion
    controls.
    """
    rows = [
        (control, draw, shares.sum(), shares.min(), shares.max(), theory.jain_index(shares))
        for control, run in runs.items()
        for draw, shares in enumerate(run.flows["goodput_mbps"].to_numpy().reshape(-1, 10), start=1)
    ]
    return pd.DataFrame(rows, columns=["control", "draw", "together", "least", "most", "Jain"])


def windows_table(runs: Mapping[str, Run], segments: Sequence[int]) -> pd.DataFrame:
    """Return a table with a row for each window in `segments` of 512 bytes: the bytes of ten such windows, and the
    least and most goodput in Mbit/s of ten flows in each run (by name), whose flows come in groups of ten, one for each
    window.
    """
    table = pd.DataFrame({"segments": segments, "bytes of all": [10 * size * 578 for size in segments]})
    for name, run in runs.items():
        got = run.flows.dropna(subset=["congestion"])["goodput_mbps"].to_numpy().reshape(-1, 10)
        table[f"{name}: least"], table[f"{name}: most"] = got.min(axis=1), got.max(axis=1)
    return table
