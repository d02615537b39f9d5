"""Runs, tables and figures of the chapter "UDP loss"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netlab import plots, theory
from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT
from netlab.measure.results import Run
from netlab.network.topology import Topology
from netlab.runs import experiment
from netlab.runs.replications import Interval, interval, repeat
from netlab.runs.scenario import Scenario
from netlab.traffic import Ping, Udp
from netlab_course.chapters.udp_loss import settings
from netlab_course.own_numbers import StudentValues
from netlab_course.page_style import spaced

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
    """Return the loss rate (0 to 1) of each flow of a run in the second half of its sending time; the flows send one
    after the other.
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
    """Return a figure of the goodput of an overloaded link by payload with two framings (a run for each), with `limit`
    (of rate, payload and framing) and with the rival explanation.
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
    """Return a printed table of goodput in Mbit/s and loss in % of the staircase run `climb`, with theory, at the published
    rates and at 20.36 Mbit/s, which explains a difference; `offered_mbps`, the rates of its steps, must have them all.
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
    return spaced(pd.DataFrame(rows))


def wait_ms(t_s: Any, offered_mbps: float, limit_mbps: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the wait in ms of a packet at a time in s (a number or an array) after the beginning of an overload of
    `offered_mbps` on a link that carries `limit_mbps` of data: the queue fills linearly, and then it is full.
    """
    excess_per_s = (offered_mbps - limit_mbps) * BITS_PER_MEGABIT / BITS_PER_BYTE / settings.PAYLOAD_BYTES
    full_ms = theory.queueing_delay_ms(
        settings.QUEUE_PACKETS * theory.udp_wire_bytes(settings.PAYLOAD_BYTES), settings.RATE_MBPS
    )
    return np.asarray(full_ms * np.minimum(1, np.asarray(t_s) * excess_per_s / settings.QUEUE_PACKETS))


def wait_figure(run: Run, offered_mbps: float, limit_mbps: float) -> plots.Comparison:
    """Return a figure of the round-trip times of a run's ping beside UDP of `offered_mbps` that overloads the link from
    the start, with the wait in theory if the link carries `limit_mbps` of data.
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
    """Return the excess in ms of each round-trip time of a run's ping over the wait in theory, `wait_ms` with this
    offered rate and limit.
    """
    echoes = run.pings.dropna()
    return echoes["rtt_ms"] - wait_ms(echoes["t_s"], offered_mbps, limit_mbps)


def lost_at_random(network: Topology, seeds: int = 8) -> dict[str, Interval]:
    """Measure the loss rate of pings and of datagrams (5.2 Mbit/s, at random moments) in 30 s; return mean and half
    width over the seeds, by kind ("udp", "ping").
    """
    traffic = [Udp("h1", "h3", rate_mbps=5.2, spacing="random"), Ping("h1", "h3", interval_s=0.217)]
    found = repeat(Scenario(network, traffic, duration_s=30), seeds=seeds)
    return {str(kind): interval(rows["loss_rate"]) for kind, rows in found.groupby("kind")}


def by_scenario(table: pd.DataFrame) -> pd.DataFrame:
    """Return goodput in Mbit/s and loss rate of h1 and h2 by `epfl`'s scenarios, which follow each other in a run, from
    a table of `netlab.repeat`; a row for each flow and seed.
    """
    starts_s = sorted(table["start_s"].unique())
    names = dict(zip(starts_s, PUBLISHED_SHARES, strict=True))
    whole = table.assign(scenario=table["start_s"].map(names))
    return whole[["scenario", "src", "seed", "goodput_mbps", "loss_rate"]]


def shares_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return theory, mean and 95 % interval over the seeds of the table of `by_scenario`, as a printed table with a row for
    each flow.
    """
    rows = []
    for scenario, (offered, _, _) in PUBLISHED_SHARES.items():
        expected = theory.udp_shares_mbps(offered, settings.RATE_MBPS)
        for index, src in enumerate(("h1", "h2")):
            mine = found[(found["scenario"] == scenario) & (found["src"] == src)]
            rows.append(
                {
                    "scenario": scenario,
                    "host": src,
                    "offers": offered[index],
                    "gets, theory": f"{expected[index]:.3f}",
                    "gets, here": f"{interval(mine['goodput_mbps']):.3f}",
                    "loss, theory": f"{1 - expected[index] / offered[index]:.1%}",
                    "loss, here": f"{interval(mine['loss_rate']):.1%}",
                }
            )
    return spaced(pd.DataFrame(rows))


def published_shares(found: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the seeds of the table of `by_scenario` with the values that `epfl` published, as a printed
    table with a row for each flow.
    """
    rows = []
    for scenario, (_, goodputs_mbps, losses) in PUBLISHED_SHARES.items():
        for index, src in enumerate(("h1", "h2")):
            mine = found[(found["scenario"] == scenario) & (found["src"] == src)]
            rows.append(
                {
                    "scenario": scenario,
                    "host": src,
                    "here": f"{mine['goodput_mbps'].mean():.3f}",
                    "epfl": f"{goodputs_mbps[index]:.3f}",
                    "loss, here": f"{mine['loss_rate'].mean():.1%}",
                    "loss, epfl": "-" if losses is None else f"{losses[index]:.1%}",
                }
            )
    return spaced(pd.DataFrame(rows))


def shares_figure(found: pd.DataFrame) -> plots.Comparison:
    """Return a figure of each host's goodput by the offered rate of h2, from the table of `by_scenario`, with the
    proportional share.
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
    """Return the goodput in Mbit/s of h1, which sends 1 Mbit/s exactly periodically beside h2 at each of the rates
    `others_mbps` in turn, with the theory of phases, and of equal chances, a row for each rate.
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
        """Use the hidden path with a student's numbers; no probe is counted yet."""
        self._path = settings.hidden_path(own)
        self._log: list[dict[str, float]] = []

    def __call__(self, offered_mbps: float, duration_s: float) -> float:
        """Send at an offered rate for some seconds, record it, and return the goodput in Mbit/s. Raises RuntimeError
        when all probes are used up.
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
        """Return a text with all probes, their losses, and the rate in Mbit/s that was found."""
        table = pd.DataFrame(self._log)
        lost = int(table["lost datagrams"].sum())
        return (
            f"{table.round(3).to_string(index=False)}\n"
            f"found: a bottleneck of {found_mbps:.2f} Mbit/s, with {lost} lost datagrams of {settings.LOST_DATAGRAMS} allowed"
        )


def on_the_hidden_path(search: Callable[[Prober], float] | None, own: StudentValues) -> str:
    """Run a student's search (which gets a `Prober`, and returns a rate in Mbit/s) on the real hidden path and return
    its report; a sentence if it is None.
    """
    if search is None:
        return "Solve exercise 5 first; then run this cell again."
    probe = Prober(own)
    return probe.report(search(probe))
