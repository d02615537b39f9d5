"""Runs, tables and figures of the chapter "BDP"."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netlab import plots, theory
from netlab.engines import run_length_s
from netlab.measure.results import Run
from netlab.network.topology import Topology
from netlab.plots.theme import TEXT
from netlab.runs import experiment
from netlab_course.chapters.bdp.settings import (
    DELAY_MS,
    RATE_MBPS,
    TRANSFERS,
    hidden_path,
    settled_mbps,
    settled_rtt_ms,
    transfer,
)
from netlab_course.own_numbers import StudentValues
from netlab_course.page_style import widen_columns

PUBLISHED_RTT_MS = [20.404, 40.365, 20.318, 60.951, 80.970, 60.650]
PUBLISHED_MBPS = [38.76, 29.04, 19.25, 25.00, 17.36, 17.66]
"""Measurements of `simpleperf`, test cases 2 and 3: r1-r2, r2-r3, r3-r4, h1-h4, h1-h9, h7-h9."""

PUBLISHED_WINDOWS = ([126, 150, 187.5, 192], [58.1, 68.1, 84.5, 88.2])
"""Measurements of `siit`, task 5: windows in kB, throughputs in Mbit/s."""

_FULL = 0.995
"""The part of the goodput with a larger window from which a window fills the path."""
TRANSFER_S, SETTLED_S = run_length_s(25, real_s=8), run_length_s(10, real_s=4)
"""The length in s of a measurement of `simpleperf`, and the time in s that a flow on its links needs to settle."""
OWN_MS = theory.segment_rtt_ms([theory.Hop(RATE_MBPS, DELAY_MS)], framing="ethernet")
"""A segment's round-trip time in ms over the empty cable."""
_SMALL_FRAME_BYTES = 16 + theory.ICMP_HEADER_BYTES + theory.IP_HEADER_BYTES + theory.FRAMING_BYTES["tc"]


def _items(run: Run, kind: str) -> list[dict[str, Any]]:
    """Return the items of traffic of this kind of a run's scenario."""
    return [item for item in run.scenario["traffic"] if item["kind"] == kind]


def rtt_table(lab: Topology, run: Run) -> pd.DataFrame:
    """Return a table of the round-trip times in ms of the pairs of `simpleperf` in the network `lab` by theory, as
    measured by the pings of a run and as published, with the number of nodes on the path.
    """
    pairs = [(item["src"], item["dst"]) for item in _items(run, "ping")]
    expected = [theory.ping_rtt_ms(lab.path_hops(src, dst)) for src, dst in pairs]
    table = pd.DataFrame(
        {
            "path": [f"{src}-{dst}" for src, dst in pairs],
            "nodes": [len(lab.path(src, dst)) for src, dst in pairs],
            "theory": expected,
            "here": run.flows.loc[run.flows["kind"] == "ping", "rtt_ms"].to_numpy(),
            "simpleperf": PUBLISHED_RTT_MS,
            "simpleperf - theory": np.subtract(PUBLISHED_RTT_MS, expected),
        }
    )
    return widen_columns(table.round(2))


def transfer_table(lab: Topology, run: Run) -> pd.DataFrame:
    """Return a table of the goodputs in Mbit/s of a run's transfers between the pairs of `simpleperf`: the slowest
    link's limit, our goodput over the whole transfer and after its start, and the published one; with retransmissions.
    """
    items, flows = _items(run, "tcp"), run.flows[run.flows["kind"] == "tcp"]
    late = [
        run.goodput_mbps(after_s=item["start_s"] + SETTLED_S, before_s=item["start_s"] + item["duration_s"])[name]
        for name, item in zip(flows["flow"], items, strict=True)
    ]
    return pd.DataFrame(
        {
            "path": [f"{item['src']}-{item['dst']}" for item in items],
            "limit": [theory.tcp_goodput_limit_mbps(lab.bottleneck_mbps(item["src"], item["dst"])) for item in items],
            f"here, all {TRANSFER_S:g} s": flows["goodput_mbps"].to_numpy(),
            f"here, after {SETTLED_S:g} s": late,
            "simpleperf": PUBLISHED_MBPS,
            "sent again": flows["retransmits"].astype(int).to_numpy(),
        }
    ).round(2)


def formula_mbps(window_kb: float, rate_mbps: float = 100) -> float:
    """Return the smaller of two limits in Mbit/s of a transfer over the cable: the limit of a window in kB, and the
    limit of the link.
    """
    return float(theory.windowed_goodput_mbps(1000 * window_kb, rate_mbps, 16, framing="ethernet"))


def window_figure(windows_kb: Sequence[float], runs: Sequence[Run]) -> plots.Comparison:
    """Return a figure of the goodput of each run by its window in kB, with the smaller of the two limits and the
    published values.
    """
    line_kb = np.linspace(10, 320, 300)
    return plots.Comparison(
        x_label="Window (kB)", y_label="Goodput (Mbit/s)", title="A cable of 100 Mbit/s and 16 ms"
    ).add(
        "measured",
        windows_kb,
        [settled_mbps(run) for run in runs],
        line_kb,
        lambda kb: np.array([formula_mbps(float(each)) for each in np.atleast_1d(kb)]),
        published=PUBLISHED_WINDOWS,
    )


def cycle_ms(window_kb: float, goodput_mbps: float) -> float:
    """Return the time in ms in which one window of this many kB (whole segments of 1448 bytes)
    arrives at this goodput.
    """
    return int(1000 * window_kb) // 1448 * 1448 * 8 / (goodput_mbps * 1000)


def suspects_table(runs: Mapping[str, Run], window_kb: float = 126) -> pd.DataFrame:
    """Return a printed table of the cycle in ms of a window of this many kB in each run (by its name), with the excess
    over a segment's round-trip time.
    """
    cycles = [cycle_ms(window_kb, settled_mbps(run)) for run in runs.values()]
    return widen_columns(
        pd.DataFrame(
            {
                "sender and receiver": list(runs),
                "cycle (ms)": [f"{cycle:.2f}" for cycle in cycles],
                f"above {OWN_MS:.2f} ms": [
                    f"{max(0.0, round(100 * (cycle / OWN_MS - 1), 1)):.1f} %" for cycle in cycles
                ],
            }
        )
    )


def enough_room(runs: Mapping[int, Run]) -> int:
    """Return the smallest room in packets (a key of `runs`) with which the goodput after 25 s is within 0.1 % of the
    limit. Raises ValueError if none is.
    """
    limit_mbps = theory.tcp_goodput_limit_mbps(20)
    settled = {room: run.goodput_mbps(after_s=TRANSFER_S).iloc[0] for room, run in runs.items()}
    return min(room for room, mbps in settled.items() if mbps > 0.999 * limit_mbps)


def formula_room_packets() -> float:
    """Return the room in packets of the queue on h1-h9 with which 70 % of path and queue fill the path."""
    return 3 / 7 * theory.bdp_bytes(20, 80) / theory.tcp_wire_bytes()


def queue_figure(runs: Mapping[int, Run]) -> plots.Comparison:
    """Return a figure of the goodput by the room in packets before the slowest link, in the time that `simpleperf`
    measured (with what it called 33 packets) and after it.
    """
    rooms, limit_mbps = list(runs), theory.tcp_goodput_limit_mbps(20)
    line = ([10, 90], [limit_mbps, limit_mbps])
    first = [float(run.goodput_mbps(before_s=TRANSFER_S).iloc[0]) for run in runs.values()]
    late = [float(run.goodput_mbps(after_s=TRANSFER_S).iloc[0]) for run in runs.values()]
    comparison = plots.Comparison(
        x_label="Room in the queue (packets)", y_label="Goodput (Mbit/s)", title="One flow alone on h1-h9"
    )
    comparison.add(f"after {TRANSFER_S:g} s", rooms, late, *line)
    comparison.add(f"first {TRANSFER_S:g} s", rooms, first, *line, published=([33], [17.36]))
    comparison.figure.update_yaxes(range=[14.5, 19.7], row=1)
    enough = formula_room_packets()
    comparison.figure.add_vline(x=enough, line={"color": TEXT, "dash": "dot", "width": 1}, row=1, col=1)
    comparison.figure.add_annotation(
        x=enough, y=14.5, text="0.43 B", showarrow=False, xanchor="left", yanchor="bottom", xshift=4, row=1, col=1
    )
    return comparison


class Transfers:
    """Real transfers over the hidden path of one student; each call is an experiment, and at most TRANSFERS are
    allowed.
    """

    def __init__(self, own: StudentValues) -> None:
        """Use the hidden path with a student's numbers; no transfer is counted yet."""
        self._path = hidden_path(own)
        self._log: list[tuple[float, float, float]] = []

    def __call__(self, window_bytes: float) -> tuple[float, float]:
        """Run a transfer with a window in bytes, record it, and return its goodput in Mbit/s and its round-trip time in
        ms. Raises RuntimeError when all transfers are used up.
        """
        if len(self._log) == TRANSFERS:
            raise RuntimeError(f"all {TRANSFERS} transfers are used up")
        goodput_mbps, rtt_ms = self.measured(window_bytes)
        self._log.append((window_bytes, goodput_mbps, rtt_ms))
        return goodput_mbps, rtt_ms

    def measured(self, window_bytes: float) -> tuple[float, float]:
        """Return goodput in Mbit/s and round-trip time in ms of a transfer with this window, without counting it."""
        run = experiment.run(transfer(int(window_bytes), self._path), progress=False)
        return settled_mbps(run), settled_rtt_ms(run)

    def report(self, found_bytes: float) -> str:
        """Return a text with all transfers, the window in bytes that was found, and the results of transfers with 0.8,
        1 and 1.5 times that window.
        """
        lines = [
            f"window {window / 1000:8.1f} kB: {goodput:6.2f} Mbit/s, RTT {rtt:6.2f} ms"
            for window, goodput, rtt in self._log
        ]
        lines.append(f"found: {found_bytes / 1000:.1f} kB")
        goodputs = []
        for share in (0.8, 1.0, 1.5):
            goodput, rtt = self.measured(share * found_bytes)
            goodputs.append(goodput)
            lines.append(f"{share:.1f} times as much: {goodput:6.2f} Mbit/s, RTT {rtt:6.2f} ms")
        at_found, at_more = goodputs[1:]
        if at_found < _FULL * at_more:
            lines.append(
                "1.0 times is below the limit: a cycle of this window is longer than\n"
                "one of a small window. 'The gap' says why."
            )
        return "\n".join(lines)


def on_the_hidden_path(search: Callable[[Transfers], float] | None, own: StudentValues) -> str:
    """Run a student's search (which gets `Transfers`, and returns a window in bytes) on the real hidden path and return
    its report; a sentence if it is None.
    """
    if search is None:
        return "Solve exercise 5 first; then run this cell again."
    transfers = Transfers(own)
    return transfers.report(search(transfers))


def published_table(lab_run: Run, lab: Topology, windows_kb: Sequence[float], runs: Sequence[Run]) -> pd.DataFrame:
    """Return all published goodputs of the chapter with ours and theory, and both differences from theory; the runs of
    `windows_kb` must include the published windows.
    """
    transfers = transfer_table(lab, lab_run)
    rows = [
        (f"simpleperf {name}, Mbit/s", limit, here, told)
        for name, limit, here, told in zip(
            transfers["path"], transfers["limit"], transfers[f"here, all {TRANSFER_S:g} s"], PUBLISHED_MBPS, strict=True
        )
    ]
    for kb, told in zip(*PUBLISHED_WINDOWS, strict=True):
        whole = float(int(1000 * kb) // theory.MSS_BYTES * theory.MSS_BYTES)
        expected = theory.windowed_goodput_mbps(whole, 100, OWN_MS, framing="ethernet")
        rows.append((f"siit window {kb:g} kB, Mbit/s", expected, settled_mbps(runs[list(windows_kb).index(kb)]), told))
    table = pd.DataFrame(rows, columns=["", "theory", "here", "published"])
    for place, (name, gap) in ((3, ("here", "gap")), (5, ("published", "its gap"))):
        table.insert(place, gap, (100 * (table[name] / table["theory"] - 1)).map("{:+.1f} %".format))
    return widen_columns(table.round(2))


def buffers_table(asked_kb: Sequence[float], run: Run) -> pd.DataFrame:
    """Return a printed table of the receive buffers in bytes that a command of the run printed for requests in kB, with
    those that `siit` reports.
    """
    granted = map(int, run.commands["stdout"].iloc[0].split())
    told = {83: 168, 100: 200, 125: 250, 150: 256, 175: 256}
    return widen_columns(
        pd.DataFrame(
            {
                "asked (kB)": asked_kb,
                "granted here (bytes)": list(granted),
                "siit: buffer (kB)": [told.get(int(kb), "-") for kb in asked_kb],
            }
        )
    )


def share_table(runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return a printed table of the window for each receive buffer, from the goodput of a precise sender; `runs` has
    the fixed buffer in kB as its keys, or "tuned" for a buffer that the kernel chooses.
    """
    rows = []
    for kb, run in runs.items():
        mbps = settled_mbps(run)
        window_kb = mbps * OWN_MS / 8
        share = "-" if kb == "tuned" else f"{100 * window_kb / float(kb):.0f} %"
        rows.append((kb, mbps, window_kb if kb != "tuned" else np.nan, share))
    table = pd.DataFrame(rows, columns=["buffer (kB)", "goodput (Mbit/s)", "window (kB)", "share"])
    return widen_columns(table.round(2))


def delays_figure(run: Run, frames_bytes: Sequence[int], bursts: Sequence[int]) -> plots.Comparison:
    """Return a figure of propagation, transmission and queueing, each measured alone by the pings of a run, with
    theory.

    The pings are, in this order: to h2, h3 and h4 (1, 5 and 25 ms, one way), to h5 (1 Mbit/s) in frames of these sizes,
    and to h5 half a millisecond after bursts of these numbers of frames of 1000 bytes.
    """
    pings = run.flows[(run.flows["kind"] == "ping") & run.flows["dst"].isin(["h2", "h3", "h4", "h5"])]
    found_ms = pings["rtt_ms"].to_numpy()
    first_burst = 3 + len(frames_bytes)
    frame_ms = theory.transmission_delay_ms(1000, rate_mbps=1)
    small_ms = theory.transmission_delay_ms(_SMALL_FRAME_BYTES, rate_mbps=1)
    comparison = plots.Comparison(
        x_label="Delay in theory (ms)",
        y_label="Delay measured (ms)",
        log_x=True,
        log_y=True,
        title="Three delays, each measured alone",
    )
    sent_ms = [theory.transmission_delay_ms(frame, rate_mbps=1) for frame in frames_bytes]
    for name, expected, measured in (
        ("propagation", [1, 5, 25], found_ms[:3]),
        ("transmission", sent_ms, found_ms[3:first_burst]),
        ("queueing", [n * frame_ms - 0.5 for n in bursts], found_ms[first_burst:] - small_ms),
    ):
        comparison.add(name, expected, measured, np.geomspace(0.7, 350, 50), lambda delay: delay)
    return comparison
