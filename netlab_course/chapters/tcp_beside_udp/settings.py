"""Networks, runs, tables and figures of the chapter "TCP beside UDP", without answers."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.base.units import BITS_PER_BYTE
from netlab.engines import run_length_s
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.plots.theme import line, series_settings
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp, Traffic, Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.page_style import widen_columns
from netlab_course.statements import stated_number

RATE_MBPS = 5
QUEUE_PACKETS = 100
SENSOR_MBPS = 1
PAYLOAD_BYTES = 1000
SETTLED_S = 10
"""The time in s at the beginning of a run that is ignored."""

CABLE_MBPS = 100
IPERF_PAYLOAD_BYTES = 1470
TCP_HELD_PACKETS, UDP_HELD_PACKETS = 88, 46
"""The measured numbers of packets that a TCP connection, and a UDP socket with Linux's default send buffer (212 992 bytes),
keep in their own host's queue."""


def left_mbps(udp_mbps: float, rate_mbps: float, payload_bytes: int) -> float:
    """Return the goodput in Mbit/s of a TCP connection that gets the rest of a link of `rate_mbps` on which UDP has
    `udp_mbps` of data in datagrams with this payload; 0 if nothing is left.
    """
    wire_mbps = udp_mbps * theory.udp_wire_bytes(payload_bytes) / payload_bytes
    left = rate_mbps - wire_mbps
    return float(theory.tcp_goodput_limit_mbps(left)) if left > 0 else 0.0


def wait_ms(first_timer_ms: float, loss_rate: float) -> float:
    """Return the mean time in ms that a segment, which is lost with the probability `loss_rate` each time, waits for
    retransmission timers that double without a limit; infinite from a loss rate of 0.5 on.
    """
    return first_timer_ms * loss_rate / (1 - 2 * loss_rate) if loss_rate < 0.5 else math.inf


_STATED_RATIOS = (0.88, 0.93, 1.18, 1.24)
"""The numbers that a statement may have, relative to what UDP leaves; TCP gets up to a tenth more."""


def _derived_numbers(own: StudentValues) -> Mapping[str, float]:
    """Return the numbers that follow from a student's numbers, by name: the wait of the worked example in ms,
    `worked_wait_ms`, and the number of the copy's statement on TCP in Mbit/s, `stated_mbps`.
    """
    left = left_mbps(SENSOR_MBPS + own.beside_mbps, RATE_MBPS, PAYLOAD_BYTES)
    return {
        "worked_wait_ms": wait_ms(own.wait_timer_ms, own.wait_loss_rate),
        "stated_mbps": stated_number(own, left, _STATED_RATIOS),
    }


NUMBERS = OwnNumbers(
    {
        "beside_mbps": (2.8, 2.2, 2.4, 2.5, 2.6, 3),
        "update_mb": (60, 45, 50, 55, 70, 75),
        "update_minutes": (5, 4, 6),
        "wait_timer_ms": (250, 220, 280, 300, 320),
        "wait_loss_rate": (0.3, 0.25, 0.35, 0.4),
        "my_video_mbps": (9, 6, 7, 8, 10, 11),
    },
    # With less than 1.2 left, TCP's own probing displaces the video, and a run would differ from the formula; at 2.333
    # two mistakes give the same number.
    holds=lambda own: 1.2 <= own.update_mb * BITS_PER_BYTE / (60 * own.update_minutes) <= 2.3,
    derive=_derived_numbers,
)


def senders(video_mbps: float, **tcp: Any) -> list[Traffic]:
    """Return three flows to h3: the sensor from h1 (UDP, 1 Mbit/s), the video from h2 (UDP, `video_mbps`) and the
    update from h2 (TCP from 1 s on, with the fields `tcp`).
    """
    return [
        Udp("h1", "h3", rate_mbps=SENSOR_MBPS),
        Udp("h2", "h3", rate_mbps=video_mbps),
        Tcp("h2", "h3", **{"start_s": 1, **tcp}),
    ]


def video_scenario(
    video_mbps: float,
    seed: int = 1,
    duration_s: float = run_length_s(40, real_s=25),
    interval_s: float = 1,
    **queue: Any,
) -> Scenario:
    """Return a scenario of sensor, video (at `video_mbps`) and update on the link of 5 Mbit/s, with this seed, duration
    and interval in s; `queue` has other fields of that link, such as `aqm`.
    """
    network = topologies.three_pcs(rate_mbps=RATE_MBPS, **{"queue_packets": QUEUE_PACKETS, **queue})
    return Scenario(network, senders(video_mbps), duration_s=duration_s, interval_s=interval_s, seed=seed)


def goodputs(runs: Mapping[Any, Run]) -> pd.DataFrame:
    """Return a table of the goodputs in Mbit/s of `sensor`, `video` and `TCP` after the first 10 s, a row for each run
    (the keys of `runs`), whose flows are in this order.
    """
    # A connection that never opened has no intervals; its goodput is 0.
    rows = [run.goodput_mbps(SETTLED_S).reindex(run.flows["flow"], fill_value=0.0) for run in runs.values()]
    return pd.DataFrame(
        [row.to_numpy() for row in rows], index=pd.Index(list(runs)), columns=["sensor", "video", "TCP"]
    )


def fair_table(run: Run, video_mbps: float) -> pd.DataFrame:
    """Return a table with a row for each flow of a run: its name, and as text its goodput in Mbit/s after the first 10
    s and its max-min fair share next to a video of `video_mbps` ("-" for flows of other hosts).
    """
    # The shares are in bits on the link, headers included: 1000 bytes of UDP data take 1042 bytes, 1448 of TCP's take 1514.
    udp_share = PAYLOAD_BYTES / theory.udp_wire_bytes(PAYLOAD_BYTES)
    data_share = {"sensor": udp_share, "video": udp_share, "TCP": theory.MSS_BYTES / theory.tcp_wire_bytes()}
    demands = {"sensor": SENSOR_MBPS / udp_share, "video": video_mbps / udp_share, "TCP": float(RATE_MBPS)}
    fair = theory.max_min_mbps({"link": RATE_MBPS}, {name: ["link"] for name in demands}, demands)
    got = run.goodput_mbps(SETTLED_S)
    rows = []
    for _, flow in run.flows.iterrows():
        name = "TCP" if flow["kind"] == "tcp" else {"h1": "sensor", "h2": "video"}.get(flow["src"], "")
        rows.append(
            {
                "flow": name or flow["flow"],
                "Mbit/s": f"{got.get(flow['flow'], 0.0):.2f}",
                "max-min fair": f"{fair[name] * data_share[name]:.2f}" if name else "-",
            }
        )
    return pd.DataFrame(rows)


def windows_figure(runs: Mapping[str, Run], title: str) -> go.Figure:
    """Return a figure of the congestion window in segments of the only TCP flow of each run (by name) over time in
    s.
    """
    figure = go.Figure()
    for number, (name, run) in enumerate(runs.items()):
        rows = run.intervals[run.intervals["cwnd_segments"].notna()]
        figure.add_scatter(
            x=rows["t_s"].tolist(), y=rows["cwnd_segments"].tolist(), name=name, **line(number, shape="hv")
        )
    figure.update_xaxes(title_text="Time (s)")
    figure.update_yaxes(title_text="Window (segments)", type="log", tickvals=[1, 2, 5, 10, 20, 50, 100])
    return figure.update_layout(template="netlab", title_text=title, height=420)


# ---- part 2: a path that loses at random

LOSSY_MS = 60
FIRST_TIMER_MS = LOSSY_MS + 200
"""The first timer in ms: Linux adds the variation of the round-trip time, but at least 200 ms."""


def loss_table(runs: Mapping[float, Run]) -> pd.DataFrame:
    """Return a table by loss rate (0 to 1, the keys of `runs`), each run with several connections: the mean goodput of
    a connection in kbit/s with its half width, the goodputs by three formulas, and timeouts per retransmission.
    """
    rows = {}
    for rate, run in runs.items():
        mean, half = interval(1000 * run.streams["goodput_mbps"])
        rows[rate] = {
            "measured": mean,
            "+-": half,
            "square root": 1000 * theory.mathis_mbps(theory.MSS_BYTES, LOSSY_MS, rate, c=theory.MATHIS_RANDOM_C),
            "PFTK": 1000 * theory.pftk_mbps(theory.MSS_BYTES, LOSSY_MS, rate),
            "waiting": 1000 * theory.backoff_mbps(theory.MSS_BYTES, LOSSY_MS, rate),
            "timeouts per loss": run.streams["timeouts"].sum() / run.streams["retransmits"].sum(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(columns="loss rate")


def seen_losses(runs: Sequence[Run]) -> dict[str, float]:
    """Return values by name from the runs of one case with the flows of `senders`: the loss rates of video and TCP (0
    to 1, TCP's with its half width), TCP's RTT in ms, two formulas with these, and TCP's goodput with its half width,
    all three in kbit/s.
    """
    tcp, video = (pd.DataFrame([run.flows.iloc[place] for run in runs]) for place in (2, 1))
    loss_rate, loss_half = interval(tcp["loss_rate"].dropna())
    measured, half = interval(1000 * goodputs(dict(enumerate(runs)))["TCP"])
    rtt_ms = tcp["rtt_ms"].mean()
    return {
        "video loses": video["loss_rate"].mean(),
        "TCP loses": loss_rate,
        "+- TCP": loss_half,
        "RTT (ms)": rtt_ms,
        "square root": 1000 * theory.mathis_mbps(theory.MSS_BYTES, rtt_ms, loss_rate),
        "waiting": 1000 * theory.backoff_mbps(theory.MSS_BYTES, rtt_ms, loss_rate),
        "measured": measured,
        "+- measured": half,
    }


def cliff_table(table: pd.DataFrame, wait: Callable[[float, float], float]) -> pd.DataFrame:
    """Return a table for printing from the table of `loss_table`, with a column of the mean wait in s by the function
    `wait`, a student's, of the first timer in ms and the loss rate; "-" from a loss rate of 0.5 on.
    """
    waits = [f"{wait(FIRST_TIMER_MS, rate) / 1000:.2f}" if rate < 0.5 else "-" for rate in table.index]
    return widen_columns(
        pd.DataFrame(
            {
                "measured": table["measured"].map("{:.0f}".format),
                "+-": table["+-"].map("{:.0f}".format),
                "square root": table["square root"].map("{:.0f}".format),
                "too high": (table["square root"] / table["measured"]).map("{:.1f} x".format),
                "timeouts per loss": table["timeouts per loss"].map("{:.2f}".format),
                "mean wait (s)": waits,
            }
        )
    ).rename_axis(columns="loss rate")


def loss_figure(table: pd.DataFrame, title: str) -> go.Figure:
    """Return a figure of the goodput in kbit/s of a connection by loss rate, from the table of `loss_table`: measured
    points, and the three formulas as lines.
    """
    rates = np.geomspace(0.004, 0.65, 80)
    comparison = plots.Comparison(
        x_label="Loss rate", y_label="Goodput (kbit/s)", title=title, log_x=True, log_y=True
    ).add(
        "measured",
        table.index.to_numpy(),
        table["measured"].to_numpy(),
        rates,
        lambda rate: 1000 * theory.mathis_mbps(theory.MSS_BYTES, LOSSY_MS, rate, c=theory.MATHIS_RANDOM_C),
        theory_name="square root",
    )
    figure = comparison.figure
    formulas: dict[str, Callable[..., Any]] = {"PFTK": theory.pftk_mbps, "waiting": theory.backoff_mbps}
    for number, (name, formula) in enumerate(formulas.items(), start=1):
        figure.add_scatter(
            x=rates.tolist(),
            y=(1000 * formula(theory.MSS_BYTES, LOSSY_MS, rates)).tolist(),
            **line(number),
            **series_settings("theory", name, "Loss rate", "Goodput (kbit/s)"),
            row=1,
            col=1,
        )
    ticks = [0.005, 0.02, 0.05, 0.1, 0.2, 0.5]
    return figure.update_xaxes(tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks])


# ---- part 3: TCP and UDP from one host


def crowd_theory_mbps(udp_flows: int) -> tuple[float, float]:
    """Return the theoretical goodputs in Mbit/s of TCP and of each of `udp_flows` UDP flows from the same host over 100
    Mbit/s, in proportion to their packets in the host's queue.
    """
    shares = theory.held_shares_mbps(
        [TCP_HELD_PACKETS, *[UDP_HELD_PACKETS] * udp_flows],
        [theory.MSS_BYTES, *[IPERF_PAYLOAD_BYTES] * udp_flows],
        [
            theory.tcp_wire_bytes(framing="ethernet"),
            *[theory.udp_wire_bytes(IPERF_PAYLOAD_BYTES, "ethernet")] * udp_flows,
        ],
        CABLE_MBPS,
    )
    return float(shares[0]), float(shares[-1])


def crowd_table(runs: Mapping[tuple[str, int], Run]) -> pd.DataFrame:
    """Return a table of the values of `crowd_row` for each run, a row for each; the keys of `runs` are the send buffer
    and the number of UDP flows, which become the index.
    """
    rows = {case: crowd_row(run) for case, run in runs.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["buffer", "UDP flows"])


def crowd_row(run: Run) -> dict[str, float]:
    """Return values of a run by name: the goodputs after 1 s in Mbit/s of `TCP`, `each UDP` (the mean of the UDP flows)
    and in `total`, the mean number of packets `queued` after 1 s, and the packets `dropped` by the queue.
    """
    goodput = run.goodput_mbps(after_s=1)
    queues = run.queues[run.queues["t_s"] > 1].groupby("interface")
    is_tcp = goodput.index.str.contains("cubic")
    return {
        "TCP": float(goodput[is_tcp].sum()),
        "each UDP": float(goodput[~is_tcp].mean()),
        "total": float(goodput.sum()),
        "queued": float(queues["backlog_packets"].mean().max()),
        "dropped": float(run.queues["drops"].max()),
    }


def crowd_figure(table: pd.DataFrame, title: str) -> go.Figure:
    """Return a figure of the goodputs in Mbit/s of TCP and of each UDP flow by the number of UDP flows, with theory;
    `table` has rows of `crowd_row` with that number as the index.
    """
    counts = np.arange(1, table.index.max() + 1)
    comparison = plots.Comparison(x_label="UDP flows", y_label="Goodput (Mbit/s)", title=title)
    for place, name in enumerate(("TCP", "each UDP")):
        comparison.add(name, table.index, table[name], counts, [crowd_theory_mbps(int(n))[place] for n in counts])
    return comparison.figure.update_xaxes(dtick=1)
