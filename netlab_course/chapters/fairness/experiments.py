"""Runs, tables and figures of the chapter "Fair by which measure?"."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netlab import plots, theory
from netlab.base.headers import MSS_BYTES
from netlab.measure.results import Run
from netlab.network.topology import Topology
from netlab.plots.theme import TEXT
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.chapters.fairness import settings
from netlab_course.page_style import widen_columns

PAIRS = (("h1", "h3"), ("h1", "h2"), ("h2", "h3"))
"""Flows over both slow links, over the first, over the second."""


def random_start_scenario(network: Topology, pairs: Iterable[tuple[str, str]], congestion: str, seed: int) -> Scenario:
    """Return a scenario with a long TCP flow with this congestion control for each pair (sender, receiver), started at
    a random moment of the first 10 s; `seed` determines the moments, and the run's draws.
    """
    draw = np.random.default_rng(seed)
    traffic = [
        Tcp(src, dst, congestion=congestion, start_s=round(float(draw.uniform(0, settings.START_WITHIN_S)), 3))
        for src, dst in pairs
    ]
    return Scenario(network, traffic, duration_s=settings.SECONDS, interval_s=1, seed=seed)


def window_reductions(run: Run) -> list[int]:
    """Return the number of window reductions by each flow of a run after the warm-up, in the order of the flows."""
    late = run.intervals[run.intervals["t_s"] > settings.WARM_UP_S]
    # The slow-start threshold changes at each reduction, and only then.
    thresholds = [flow["ssthresh_segments"].to_numpy() for _, flow in late.groupby("flow", sort=False)]
    return [int(np.sum(threshold[1:] != threshold[:-1])) for threshold in thresholds]


def rtts_ms(run: Run) -> list[float]:
    """Return the mean round-trip time in ms, queueing included, of each flow of a run after the warm-up, in the order
    of the flows.
    """
    late = run.intervals[run.intervals["t_s"] > settings.WARM_UP_S]
    return [float(mean) for mean in late.groupby("flow", sort=False)["rtt_ms"].mean()]


def distances(runs: Mapping[tuple[str, str, float, int], Run]) -> pd.DataFrame:
    """Return a table with a row for each run of a far and a near flow (in this order): goodputs in Mbit/s, round-trip
    times in ms, window reductions, the far flow's part of both goodputs, and the exponent of the round-trip time. The
    keys of `runs` are congestion control, queue, the far flow's propagation in ms, and seed.
    """
    rows = []
    for (congestion, queue, far_ms, seed), run in runs.items():
        far_mbps, near_mbps = run.goodput_mbps(after_s=settings.WARM_UP_S)
        (far_rtt_ms, near_rtt_ms), (far_reductions, near_reductions) = rtts_ms(run), window_reductions(run)
        rows.append(
            {
                "congestion": congestion,
                "queue": queue,
                "base_ms": far_ms,
                "seed": seed,
                "far_mbps": far_mbps,
                "near_mbps": near_mbps,
                "far_rtt_ms": far_rtt_ms,
                "near_rtt_ms": near_rtt_ms,
                "far_reductions": far_reductions,
                "near_reductions": near_reductions,
                "part": far_mbps / (far_mbps + near_mbps),
                "exponent": np.log(near_mbps / far_mbps) / np.log(far_rtt_ms / near_rtt_ms),
            }
        )
    return pd.DataFrame(rows)


def crossings(runs: Mapping[tuple[str, int], Run]) -> pd.DataFrame:
    """Return a table with a row for each run of three flows over two links (the long one first): goodputs in Mbit/s,
    round-trip times in ms of the long flow and the short ones (mean), goodput of the long over a short one, and Jain's
    index. The keys of `runs` are congestion control and seed.
    """
    rows = []
    for (congestion, seed), run in runs.items():
        both, first, second = run.goodput_mbps(after_s=settings.WARM_UP_S)
        long_ms, *short_ms = rtts_ms(run)
        rows.append(
            {
                "congestion": congestion,
                "seed": seed,
                "h1-h3": both,
                "h1-h2": first,
                "h2-h3": second,
                "long_ms": long_ms,
                "short_ms": float(np.mean(short_ms)),
                "ratio": 2 * both / (first + second),
                "jain": theory.jain_index([both, first, second]),
            }
        )
    return pd.DataFrame(rows)


CASES = (
    ("reno", "drop-tail", "synchronized"),
    ("reno", "gentle RED", "random"),
    ("cubic", "drop-tail", "synchronized"),
    ("cubic", "gentle RED", "random"),
)
NAMES = {"reno": "Reno", "cubic": "CUBIC"}
PUBLISHED = {
    ("reno", 800): (0.885, 3.107),
    ("reno", 1300): (0.651, 3.300),
    ("cubic", 800): (1.660, 2.858),
    ("cubic", 1300): (1.606, 2.930),
}
"""Goodput of h1 (far) and of h2 (near, 300 ms) in Mbit/s from `epfl` section 3.2, D2 and D3."""
PUBLISHED_CROSSING = {"h1-h3": 1.740, "h1-h2": 2.920, "h2-h3": 2.970}
"""Goodputs with CUBIC in Mbit/s from `epfl` section 3.3."""


def theory_share_mbps(limit_mbps: float, far_ms: float, near_ms: float, exponent: float) -> float:
    """Return the theoretical goodput in Mbit/s of the far flow beside a near one on a link whose goodput is
    `limit_mbps`, with these round-trip times in ms: the shares are as the times to the power of -`exponent`.
    """
    return float(theory.rtt_shares_mbps(limit_mbps, [far_ms, near_ms], exponent)[0])


def parts_figure(found: pd.DataFrame, share: Callable[[float, float, float, float], float]) -> plots.Comparison:
    """Return a figure of the far flow's part (0 to 1) of both goodputs in the four cases of `CASES`, with intervals,
    from the table of `distances`, beside theory: the function `share` of a limit, the measured RTTs (far, near) in ms
    and an exponent.
    """
    means, halves, expected = [], [], []
    for congestion, queue, heard in CASES:
        mine = found[(found["congestion"] == congestion) & (found["queue"] == queue)]
        mean, half = interval(mine["part"])
        means.append(mean)
        halves.append(half)
        exponent = theory.RTT_EXPONENTS[congestion, heard]
        expected.append(share(1.0, mine["far_rtt_ms"].mean(), mine["near_rtt_ms"].mean(), exponent))
    return plots.Comparison(
        x_label="Congestion control and queue",
        y_label="h1's part of the goodput",
        residual="absolute",
        title=f"What the far flow gets of all, {settings.FAR_MS} beside {settings.NEAR_MS} ms",
        cases=[f"{NAMES[congestion]}<br>{queue}" for congestion, queue, _ in CASES],
    ).add("measured", range(len(CASES)), means, range(len(CASES)), expected, half_widths=halves)


def parts_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return a table for printing with a row for each of the four cases of `CASES`, from the table of `distances`:
    queueing time, ratio of the round-trip times, window reductions, sum of the goodputs, and exponent with its
    interval.
    """
    rows = []
    for congestion, queue, _ in CASES:
        mine = found[(found["congestion"] == congestion) & (found["queue"] == queue)]
        queueing_ms = float((mine["near_rtt_ms"] - settings.NEAR_MS).mean())
        rows.append(
            {
                "": f"{NAMES[congestion]}, {queue}",
                "queueing (ms)": f"{queueing_ms:.0f}",
                "T far/near": f"{mine['far_rtt_ms'].mean() / mine['near_rtt_ms'].mean():.2f}",
                "cuts far": f"{mine['far_reductions'].mean():.0f}",
                "cuts near": f"{mine['near_reductions'].mean():.0f}",
                "both (Mbit/s)": f"{(mine['far_mbps'] + mine['near_mbps']).mean():.2f}",
                "exponent": f"{interval(mine['exponent']):.1f}",
            }
        )
    return widen_columns(pd.DataFrame(rows))


def published_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return a table for printing of the far and near goodputs in Mbit/s that `epfl` published (D2 and D3) beside the
    first matching run in the table of `distances`, with epfl's theory and the exponents of both.
    """
    rows = []
    for (congestion, far_ms), (far_mbps, near_mbps) in PUBLISHED.items():
        mine = found[(found["congestion"] == congestion) & (found["base_ms"] == far_ms)].iloc[0]
        their_theory = theory.rtt_shares_mbps(4.85, [far_ms, settings.NEAR_MS], 1)
        theirs = np.log(near_mbps / far_mbps) / np.log(far_ms / settings.NEAR_MS)
        rows.append(
            {
                "": f"{NAMES[congestion]}, {far_ms} ms",
                "epfl's theory": f"{their_theory[0]:.2f} / {their_theory[1]:.2f}",
                "epfl measured": f"{far_mbps:.2f} / {near_mbps:.2f}",
                "here": f"{mine['far_mbps']:.1f} / {mine['near_mbps']:.1f}",
                "exponent, epfl": f"{theirs:.1f}",
                "exponent, here": f"{mine['exponent']:.1f}",
            }
        )
    return widen_columns(pd.DataFrame(rows))


ROUTES = {"h1-h3": ["first", "second"], "h1-h2": ["first"], "h2-h3": ["second"]}


def allocations(rtts_ms: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Return a table of the theoretical goodputs in Mbit/s of the three flows over two links, a row for each of four
    notions of fairness, with the ratio of long to short and the sum; `rtts_ms` has the round-trip time of each flow by
    its name, such as "h1-h3" (None: 300 ms for all).
    """
    limit_mbps = theory.tcp_goodput_limit_mbps(settings.RATE_MBPS)
    links = {"first": limit_mbps, "second": limit_mbps}
    rtts = dict.fromkeys(ROUTES, float(settings.NEAR_MS)) if rtts_ms is None else rtts_ms
    found = {
        "max-min": theory.max_min_mbps(links, ROUTES),
        "Reno's own": theory.reno_optimum_mbps(links, ROUTES, rtts),
        "CUBIC's own": theory.cubic_optimum_mbps(links, ROUTES, rtts),
        "proportional": theory.proportional_fair_mbps(links, ROUTES),
    }
    table = pd.DataFrame(found).T[list(ROUTES)]
    table["long / short"] = table["h1-h3"] / table["h2-h3"]
    table["all three"] = table[list(ROUTES)].sum(axis=1)
    return table


def own_ratio(found: pd.DataFrame, congestion: str) -> float:
    """Return the long flow's goodput over a short one's in the optimum of a congestion control, "reno" or "cubic", at
    the mean round-trip times in the table of `crossings`.
    """
    rtts = {pair: float(found["long_ms" if pair == "h1-h3" else "short_ms"].mean()) for pair in ROUTES}
    return float(allocations(rtts)["long / short"][f"{NAMES[congestion]}'s own"])


def crossing_figure(found: pd.DataFrame) -> plots.Comparison:
    """Return a figure of the long flow's goodput over a short one's with Reno and with CUBIC, with intervals, from the
    table of `crossings`, beside the optimum of each control, max-min and proportional fairness.
    """
    by_control = {congestion: found[found["congestion"] == congestion] for congestion in ("reno", "cubic")}
    means, halves = zip(*(interval(mine["ratio"]) for mine in by_control.values()), strict=True)
    expected = [own_ratio(mine, congestion) for congestion, mine in by_control.items()]
    comparison = plots.Comparison(
        x_label="Congestion control",
        y_label="Long flow / short flow",
        residual="absolute",
        title="A flow over two links beside flows over one",
        cases=["Reno", "CUBIC"],
    ).add("measured", [0, 1], means, [0, 1], expected, half_widths=halves)
    comparison.figure.for_each_trace(lambda trace: trace.update(name="sender's own"), selector={"name": "theory"})
    for level, name in ((1.0, "max-min"), (0.5, "proportional")):
        comparison.figure.add_hline(
            y=level,
            line={"dash": "dot", "width": 1.5, "color": TEXT},
            annotation_text=name,
            annotation_position="top right",
            row=1,
            col=1,
        )
    comparison.figure.update_xaxes(range=[-0.6, 1.6])
    return comparison


def crossing_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return a table for printing of the mean goodputs in Mbit/s of the three flows with intervals, a row for each
    congestion control, from the table of `crossings`, and a row of those that `epfl` published.
    """
    rows = []
    for congestion in ("reno", "cubic"):
        mine = found[found["congestion"] == congestion]
        got = {pair: f"{interval(mine[pair]):.2f}" for pair in ROUTES}
        rows.append({"": NAMES[congestion], **got, "long / short": f"{interval(mine['ratio']):.2f}"})
    ratio = 2 * PUBLISHED_CROSSING["h1-h3"] / (PUBLISHED_CROSSING["h1-h2"] + PUBLISHED_CROSSING["h2-h3"])
    theirs = {pair: f"{mbps:.2f}" for pair, mbps in PUBLISHED_CROSSING.items()}
    rows.append({"": "epfl (CUBIC)", **theirs, "long / short": f"{ratio:.2f}"})
    return widen_columns(pd.DataFrame(rows))


def host_and_connection(run: Run) -> str:
    """Return a text with the goodputs in Mbit/s of a run and Jain's index, once by flow, of which each host sends one,
    and once by connection.
    """
    by_host = [float(value) for value in run.flows["goodput_mbps"]]
    by_connection = [float(value) for value in run.streams["goodput_mbps"]]
    return (
        f"by host        {', '.join(f'{value:.1f}' for value in by_host)} Mbit/s: J = {theory.jain_index(by_host):.2f}\n"
        f"by connection  {', '.join(f'{value:.1f}' for value in by_connection)} Mbit/s: "
        f"J = {theory.jain_index(by_connection):.2f}\n"
        "published by epfl: 1.21 and 3.52 Mbit/s by host"
    )


def lot_figure(runs: Mapping[str, Run], distances_ms: Sequence[float], loss_rate: float) -> plots.Comparison:
    """Return a figure of the goodput in Mbit/s of single flows by round-trip time, with the formulas of Reno and CUBIC;
    `runs` has a run for "reno" and for "cubic", whose flows have the round-trip times `distances_ms` in this order and
    lose the share `loss_rate` (0 to 1) at random.
    """
    comparison = plots.Comparison(
        x_label="Round-trip time (ms)",
        y_label="Goodput (Mbit/s)",
        title=f"Flows that lose {loss_rate:.1%} of their packets at random",
        log_x=True,
        log_y=True,
    )
    formulas: dict[str, Callable[[Any], Any]] = {
        "reno": lambda rtt_ms: theory.mathis_mbps(MSS_BYTES, rtt_ms, loss_rate),
        "cubic": lambda rtt_ms: theory.cubic_mbps(MSS_BYTES, rtt_ms, loss_rate),
    }
    for congestion, formula in formulas.items():
        comparison.add(
            NAMES[congestion],
            distances_ms,
            runs[congestion].goodput_mbps(after_s=settings.WARM_UP_S).to_numpy(),
            np.geomspace(250, 1500, 40),
            formula,
        )
    comparison.figure.update_xaxes(tickvals=distances_ms, ticktext=[f"{tick:g}" for tick in distances_ms])
    return comparison
