"""Runs, tables and figures of the chapter "UDP loss"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netlab import plots, theory
from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT
from netlab.measure.results import Run
from netlab.runs import experiment
from netlab.runs.replications import interval
from netlab.traffic import Udp
from netlab_course.chapters.udp_loss import settings
from netlab_course.own_numbers import StudentValues
from netlab_course.page_style import widen_columns

RIVAL_MBPS = settings.RIVAL_TOO_FAST * settings.RATE_MBPS
"""The rate of a link that is too fast by the share of a wire's framing at 1000 bytes."""

PUBLISHED_RATES = ([5, 10, 20], [4.798, 4.798, 4.798], [0.0403, 0.5203, 0.7643])
"""Measurements of `epfl` section 1.2: offered rates (Mbit/s), goodputs (Mbit/s), loss rates."""

PUBLISHED_SHARES = {
    "A1": ((1, 0.5), (1, 0.5), None),
    "A2": ((1, 4), (0.964, 3.83), (0.0358, 0.0411)),
    "A3": ((1, 9), (0.487, 4.314), (0.5126, 0.5206)),
}
"""Measurements of `epfl` section 1.3: offered rates of h1 and h2 (Mbit/s), their goodputs, their loss rates."""


def second_half_loss(run: Run) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return an array of the loss rate (0 to 1) of each flow of a run in the second half of its sending time, in the
    order of the flows, which must send one after the other.
    """
    losses = []
    for flow, start_s, duration_s, sent_bytes in zip(
        *(run.flows[column] for column in ("flow", "start_s", "duration_s", "sent_bytes")), strict=True
    ):
        end_s = start_s + duration_s
        late_mbps = run.goodput_mbps(after_s=end_s - duration_s / 2, before_s=end_s)[flow]
        losses.append(1 - late_mbps * duration_s * 1e6 / 8 / sent_bytes)
    return np.array(losses)


def framing_figure(
    payloads_bytes: Sequence[int], as_tc: Run, as_wire: Run, limit: Callable[..., float]
) -> plots.Comparison:
    """Return a figure of the goodput in Mbit/s of an overloaded link by payload, from a run with each of two framings
    whose flows have these payloads in this order, with `limit`, a function of rate in Mbit/s, payload and framing in
    bytes, and the rival explanation.
    """
    sizes = np.geomspace(60, 1500, 400)
    comparison = plots.Comparison(
        x_label="Payload (bytes)",
        y_label="Goodput (Mbit/s)",
        log_x=True,
        title=f"What {settings.RATE_MBPS} Mbit/s carry, by payload",
    )
    for name, run, framing_bytes in (("tc", as_tc, 14), ("framing='ethernet'", as_wire, 38)):
        comparison.add(
            name,
            payloads_bytes,
            run.flows["goodput_mbps"],
            sizes,
            [limit(settings.RATE_MBPS, size, framing_bytes) for size in sizes],
        )
    comparison.figure.add_scatter(
        x=sizes.tolist(),
        y=[limit(RIVAL_MBPS, size, 38) for size in sizes],
        mode="lines",
        line={"dash": "dot", "color": "#b665a1"},
        name=f"rival: {RIVAL_MBPS:g} Mbit/s, 38 bytes",
        row=1,
        col=1,
    )
    return comparison


def rates_table(climb: Run, offered_mbps: Sequence[float]) -> pd.DataFrame:
    """Return a table for printing of goodput in Mbit/s and loss in % in theory, in the run `climb` and as published, a
    row for each published rate and for 20.36 Mbit/s; the flows of the run offer `offered_mbps` one after the other,
    which must have all these rates.
    """
    late = second_half_loss(climb)
    rows = []
    for rate, goodput, loss in (*zip(*PUBLISHED_RATES, strict=True), (20.36, None, None)):
        place = list(offered_mbps).index(rate)
        flow = climb.flows.iloc[place]
        rows.append(
            {
                "offered": f"{rate:g}",
                "goodput, theory": f"{theory.udp_goodput_mbps(float(rate), settings.RATE_MBPS):.3f}",
                "here": f"{flow['goodput_mbps']:.3f}",
                "epfl": "-" if goodput is None else f"{goodput:.3f}",
                "loss, theory": f"{theory.udp_loss_rate(float(rate), settings.RATE_MBPS):.2%}",
                "second half": f"{late[place]:.2%}",
                "loss, epfl": "-" if loss is None else f"{loss:.2%}",
                "whole step": f"{flow['loss_rate']:.2%}",
            }
        )
    return widen_columns(pd.DataFrame(rows))


def wait_ms(t_s: Any, offered_mbps: float, limit_mbps: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the wait in ms, as an array, of a packet at the time `t_s` in s (a number or an array) after the beginning
    of an overload of `offered_mbps` on a link that carries `limit_mbps` of data: the queue of 100 packets fills
    linearly, and then it is full.
    """
    excess_per_s = (offered_mbps - limit_mbps) * BITS_PER_MEGABIT / BITS_PER_BYTE / settings.PAYLOAD_BYTES
    full_ms = theory.queueing_delay_ms(
        settings.QUEUE_PACKETS * theory.udp_wire_bytes(settings.PAYLOAD_BYTES), settings.RATE_MBPS
    )
    return np.asarray(full_ms * np.minimum(1, np.asarray(t_s) * excess_per_s / settings.QUEUE_PACKETS))


def wait_figure(run: Run, offered_mbps: float, limit_mbps: float) -> plots.Comparison:
    """Return a figure of the round-trip times in ms of a run's ping over time next to UDP of `offered_mbps` that
    overloads the link from the start, with the wait in theory if the link carries `limit_mbps` of data.
    """
    echoes = run.pings.dropna()
    return plots.Comparison(
        "Time (s)", "RTT (ms)", f"A ping beside {offered_mbps:g} Mbit/s of UDP", residual="absolute"
    ).add(
        "measured",
        echoes["t_s"],
        echoes["rtt_ms"],
        np.linspace(0, run.scenario["duration_s"], 201),
        lambda t_s: wait_ms(t_s, offered_mbps, limit_mbps),
    )


def above_the_line_ms(run: Run, offered_mbps: float, limit_mbps: float) -> pd.Series[float]:
    """Return how much longer, in ms, each answered ping of a run took than the wait by `wait_ms` at its time, with this
    offered rate and limit; lost pings are left out.
    """
    echoes = run.pings.dropna()
    return echoes["rtt_ms"] - wait_ms(echoes["t_s"], offered_mbps, limit_mbps)


def by_scenario(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a row for each flow and seed, from a table of `netlab.repeat` of a run in which the scenarios
    of `epfl` follow each other: `scenario` ("A1", "A2", "A3"), `src`, `seed`, `goodput_mbps` and `loss_rate` (0 to 1).
    """
    starts_s = sorted(table["start_s"].unique())
    names = dict(zip(starts_s, PUBLISHED_SHARES, strict=True))
    whole = table.assign(scenario=table["start_s"].map(names))
    return whole[["scenario", "src", "seed", "goodput_mbps", "loss_rate"]]


def shares_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return a table for printing with a row for each scenario and host, from the table of `by_scenario`: the offered
    rate in Mbit/s, and goodput and loss in theory and as mean over the seeds with 95 % intervals.
    """
    rows = []
    for scenario, (offered, _, _) in PUBLISHED_SHARES.items():
        expected = theory.udp_shares_mbps(offered, settings.RATE_MBPS)
        for index, src in enumerate(("h1", "h2")):
            rows_of_host = found[(found["scenario"] == scenario) & (found["src"] == src)]
            rows.append(
                {
                    "scenario": scenario,
                    "host": src,
                    "offers": offered[index],
                    "gets, theory": f"{expected[index]:.3f}",
                    "gets, here": f"{interval(rows_of_host['goodput_mbps']):.3f}",
                    "loss, theory": f"{1 - expected[index] / offered[index]:.1%}",
                    "loss, here": f"{interval(rows_of_host['loss_rate']):.1%}",
                }
            )
    return widen_columns(pd.DataFrame(rows))


def published_shares(found: pd.DataFrame) -> pd.DataFrame:
    """Return a table for printing with a row for each scenario and host, from the table of `by_scenario`: goodput in
    Mbit/s and loss in %, as mean over the seeds and as `epfl` published them.
    """
    rows = []
    for scenario, (_, goodputs_mbps, losses) in PUBLISHED_SHARES.items():
        for index, src in enumerate(("h1", "h2")):
            rows_of_host = found[(found["scenario"] == scenario) & (found["src"] == src)]
            rows.append(
                {
                    "scenario": scenario,
                    "host": src,
                    "here": f"{rows_of_host['goodput_mbps'].mean():.3f}",
                    "epfl": f"{goodputs_mbps[index]:.3f}",
                    "loss, here": f"{rows_of_host['loss_rate'].mean():.1%}",
                    "loss, epfl": "-" if losses is None else f"{losses[index]:.1%}",
                }
            )
    return widen_columns(pd.DataFrame(rows))


def shares_figure(found: pd.DataFrame) -> plots.Comparison:
    """Return a figure of each host's mean goodput in Mbit/s by the offered rate of h2, from the table of `by_scenario`,
    with the proportional share in theory and the values that `epfl` published.
    """
    neighbour_mbps = np.linspace(0.1, 10, 200)
    comparison = plots.Comparison(
        x_label="Rate that h2 offers (Mbit/s)",
        y_label="Goodput (Mbit/s)",
        title=f"Two UDP flows share {settings.RATE_MBPS} Mbit/s; h1 always offers 1 Mbit/s",
    )
    means = found.groupby(["src", "scenario"])["goodput_mbps"].mean()
    offered = [other for (_, other), _, _ in PUBLISHED_SHARES.values()]
    for index, src in enumerate(("h1", "h2")):
        comparison.add(
            src,
            offered,
            means[src].to_numpy(),
            neighbour_mbps,
            [theory.udp_shares_mbps([1, other], settings.RATE_MBPS)[index] for other in neighbour_mbps],
            published=(offered, [goodputs[index] for _, goodputs, _ in PUBLISHED_SHARES.values()]),
        )
    return comparison


def clockwork_table(run: Run, others_mbps: Sequence[float]) -> pd.DataFrame:
    """Return a table with a row for each of the rates `others_mbps`, which h2 offers one after the other in a run: the
    goodput in Mbit/s of h1, which sends 1 Mbit/s exactly periodically, in the run, by the theory of phases and with
    equal chances, and both loss rates (0 to 1).
    """
    modest, other = (run.flows[run.flows["src"] == src] for src in ("h1", "h2"))
    service_ms = theory.transmission_delay_ms(theory.udp_wire_bytes(settings.PAYLOAD_BYTES), settings.RATE_MBPS)
    beat_ms = [settings.PAYLOAD_BYTES * 8 / (offered * 1000) for offered in others_mbps]
    return pd.DataFrame(
        {
            "h2 offers": others_mbps,
            "h1 gets": modest["goodput_mbps"].to_numpy(),
            "phases": [min(1, beat / service_ms) for beat in beat_ms],
            "equal chances": [theory.udp_shares_mbps([1, offered], settings.RATE_MBPS)[0] for offered in others_mbps],
            "h1 loses": modest["loss_rate"].to_numpy(),
            "h2 loses": other["loss_rate"].to_numpy(),
        }
    ).round(3)


class Prober:
    """A real probe of the hidden path of one student; each call is an experiment, and at most PROBES are allowed."""

    def __init__(self, own: StudentValues) -> None:
        """Use the hidden path of a student's numbers; no probe is counted yet."""
        self._path = settings.hidden_path(own)
        self._log: list[dict[str, float]] = []

    def __call__(self, offered_mbps: float, duration_s: float) -> float:
        """Run UDP of `offered_mbps` for `duration_s` seconds over the hidden path, record the probe, and return the
        goodput in Mbit/s. Raises RuntimeError when all 8 probes are used up.
        """
        if len(self._log) == settings.PROBES:
            raise RuntimeError(f"all {settings.PROBES} probes are used up; search in fewer steps")
        flow = Udp("h1", "h2", rate_mbps=float(offered_mbps), duration_s=float(duration_s))
        row = experiment.run(self._path, [flow], duration_s=duration_s + 0.5, progress=False).flows.iloc[0]
        self._log.append(
            {
                "offered (Mbit/s)": offered_mbps,
                "for (s)": duration_s,
                "goodput (Mbit/s)": row["goodput_mbps"],
                "lost datagrams": int(row["sent_datagrams"] - row["received_datagrams"]),
            }
        )
        return float(row["goodput_mbps"])

    def report(self, found_mbps: float) -> str:
        """Return a text with a table of all probes so far, the number of lost datagrams, and the rate `found_mbps` that
        was found.
        """
        table = pd.DataFrame(self._log)
        lost = int(table["lost datagrams"].sum())
        return (
            f"{table.round(3).to_string(index=False)}\n"
            f"found: a bottleneck of {found_mbps:.2f} Mbit/s;\nlost datagrams: {lost} of {settings.LOST_DATAGRAMS} allowed"
        )


def on_the_hidden_path(search: Callable[[Prober], float] | None, own: StudentValues) -> str:
    """Run a student's function `search`, which gets a `Prober` and returns a rate in Mbit/s, on the hidden path of the
    student's numbers, and return the report of the probes; if it is None, return a sentence that asks for it.
    """
    if search is None:
        return "Solve exercise 5 first; then run this cell again."
    probe = Prober(own)
    return probe.report(search(probe))
