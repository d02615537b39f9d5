"""Properties of the window of a run's only flow: how it grows in slow start and after it, and how losses reduce it."""

import math

import numpy as np
import pandas as pd

from netlab.base.units import MS_PER_S
from netlab.measure.results import Run

FIRST_LOSS_S, SLOW_START_S = 1, 2
MIN_FACTOR, MAX_FACTOR = 1.93, 2.05
"""Limits of the window's growth in slow start for each RTT; `delivered_segments` gives 2, one segment for each
acknowledgement 1.87, because many acknowledge two."""
MIN_FALL, MAX_STEEPER = 0.95, 1.15
MAX_CUT_ERROR, MAX_SSTHRESH_ERROR = 0.045, 0.03
"""Limits of the distance from a half: that of the window which a loss leaves is at most 0.03 with halves, as the window grows
meanwhile, and that of `ssthresh_segments` 0.015."""
MIN_ADDED, MAX_ADDED = 0.85, 1.2
"""Limits of the segments added for each RTT; one segment gives 0.91 to 1.03 with cuts to 0.25 to 0.9 of the window."""
STEADY_ADDED, STEADY_SHARE = (0.3, 2), 0.6


def first_window(run: Run) -> float:
    """Return the largest window in segments of a run's only flow in the first second, its slow start."""
    return float(run.intervals.loc[run.intervals["t_s"] <= FIRST_LOSS_S, "cwnd_segments"].max())


def _factor(run: Run) -> float:
    """Return the factor by which the window of a run's only flow grows from one interval, as long as an RTT, to the next
    while it is below `ssthresh_segments`; NaN if it is there in fewer than two intervals.
    """
    below = run.intervals["cwnd_segments"] < run.intervals["ssthresh_segments"].fillna(math.inf)
    windows = run.intervals.loc[below, "cwnd_segments"].to_list()
    return float((windows[-1] / windows[0]) ** (1 / (len(windows) - 1))) if len(windows) > 1 else math.nan


def doubles(run: Run) -> bool:
    """Return whether the window of a run's only flow doubles from one interval, as long as an RTT, to the next while it
    is below `ssthresh_segments`.
    """
    return MIN_FACTOR < _factor(run) < MAX_FACTOR


def factor_in_words(run: Run) -> str:
    """Return the growth of the window of a run's only flow in slow start as text, from intervals as long as an RTT."""
    factor = _factor(run)
    if math.isnan(factor):
        return "no slow start, because ssthresh_segments is too small at the start"
    return f"{factor:.3g} times the window after each RTT below ssthresh_segments"


def _reductions(run: Run) -> list[tuple[float, float]]:
    """Return, for each loss of a run's only flow after the first 2 s, the fraction (0 to 1) of the window that it left,
    and that to which it set `ssthresh_segments` (NaN while this is infinite), in their order; a reduction may take several
    intervals.
    """
    late = run.intervals[run.intervals["t_s"] > SLOW_START_S].dropna(subset="cwnd_segments")
    rows = list(zip(late["cwnd_segments"], late["ssthresh_segments"], strict=True))
    found: list[tuple[float, float]] = []
    top, (low, threshold) = rows[0][0], rows[0]
    for window, next_threshold in [*rows[1:], (math.inf, math.nan)]:
        if window > low:
            found += [(low / top, threshold / top)] if low < MIN_FALL * top else []
            top = window
        low, threshold = window, next_threshold
    return found


def _median_reduction(run: Run) -> tuple[float, float]:
    """Return the medians of both fractions of `_reductions`; NaN for both without a loss."""
    cuts = _reductions(run)
    if not cuts:
        return math.nan, math.nan
    left, threshold = np.median(cuts, axis=0)
    return float(left), float(threshold)


def halves(run: Run) -> bool:
    """Return whether losses of a run's only flow leave about half of the window in the median, and set
    `ssthresh_segments` to a half unless it stays infinite, and no timeout came; False without a loss.
    """
    left, threshold = _median_reduction(run)
    halved = abs(left - 0.5) < MAX_CUT_ERROR and not abs(threshold - 0.5) > MAX_SSTHRESH_ERROR
    return halved and int(run.flows["timeouts"].sum()) == 0


def cuts_in_words(run: Run) -> str:
    """Return the number of the window's reductions in a run, the part of the window that they leave in the median, the one
    to which they set `ssthresh_segments`, and the number of timeouts, as text.
    """
    timeouts = f"timeouts: {run.flows['timeouts'].sum():.0f}"
    left, threshold = _median_reduction(run)
    if math.isnan(left):
        return f"no cut; {timeouts}"
    also = "" if math.isnan(threshold) else f", and ssthresh_segments to {threshold:.2g} of it"
    return f"cuts: {len(_reductions(run))}, to {left:.2g} of the window{also}; {timeouts}"


def _growth(run: Run) -> pd.DataFrame:
    """Return a table of the intervals of a run's only flow after the first 2 s, without those in which a recovery is
    under way, because a recovery moves the window to what the loss left: `added` segments, `rtts` (the interval's length
    in round trips), and the `window` in its middle in segments.
    """
    late = run.intervals[run.intervals["t_s"] > SLOW_START_S]
    windows = late["cwnd_segments"].ffill()
    is_open = late["ca_state"] == "open"
    found = pd.DataFrame(
        {
            "added": windows.diff(),
            "rtts": late["t_s"].diff() * MS_PER_S / late["rtt_ms"],
            "window": windows.rolling(2).mean(),
        }
    )
    return found[is_open & is_open.shift(fill_value=False)].dropna()


def _per_rtt(growth: pd.DataFrame) -> float:
    """Return the segments added for each RTT in intervals of `_growth`, from their sums: the windows are whole numbers,
    so a single interval tells little. NaN without an interval.
    """
    return float(growth["added"].sum() / growth["rtts"].sum()) if len(growth) else math.nan


def _growth_of_small_and_large(run: Run) -> tuple[float, float]:
    """Return two numbers: the growth of the window of a run's only flow in segments per RTT while the window is at most
    its median, and while it is larger; NaN if it never grows there.
    """
    growth = _growth(run).query("added >= 0")
    is_small = growth["window"] <= growth["window"].median()
    return _per_rtt(growth[is_small]), _per_rtt(growth[~is_small])


def grows_by_one(run: Run) -> bool:
    """Return whether the window of a run's only flow grows by about one segment per RTT, whatever its size."""
    small, large = _growth_of_small_and_large(run)
    growth = _growth(run)
    is_steady = bool((growth["added"] / growth["rtts"]).between(*STEADY_ADDED).mean() > STEADY_SHARE)
    return is_steady and MIN_ADDED < small < MAX_ADDED and large < MAX_STEEPER * small


def growth_in_words(run: Run) -> str:
    """Return the growth of the window of a run's only flow in segments per RTT, while it is small and while it is
    large, as text.
    """
    small, large = _growth_of_small_and_large(run)
    if math.isnan(small):
        return "a recovery is almost always under way"
    if math.isnan(large):
        return f"{small:.2g} segments for each RTT"
    return f"{small:.2g} segments for each RTT while the window is small, {large:.2g} while it is large"
