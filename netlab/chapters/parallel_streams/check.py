"""Checks of the chapter "Parallel streams". Whoever reads on finds the answers."""

from __future__ import annotations

import math
from typing import Any, cast

from netlab import theory
from netlab.chapters.parallel_streams import settings
from netlab.chapters.parallel_streams.settings import SLOW_MBPS
from netlab.course.checks import Function, Number, Trap
from netlab.course.conditions import Condition, Measurement, duration, sending
from netlab.course.own_figures import Own
from netlab.measure.results import Run

_NEARLY, _SPARE = 0.9999, 1.1
_FULL = 0.93
"""Share of the limit that a window without spare room reaches: its round trip is a little longer than the delay."""


def _flow(run: Run) -> dict[str, Any]:
    [flow] = run.scenario["traffic"]
    return cast("dict[str, Any]", flow)


def _link(run: Run) -> dict[str, Any]:
    [link] = run.scenario["topology"]["links"]
    return cast("dict[str, Any]", link)


def _of_own_path(run: Run, own: Own) -> bool:
    link = _link(run)
    back_ms = (link.get("reverse") or {}).get("delay_ms", link.get("delay_ms"))
    return link["rate_mbps"] == own.run_mbps and math.isclose(link["delay_ms"] + back_ms, own.run_delay_ms)


class Checks:
    """The checks of the chapter, for one student's figures."""

    def __init__(self, own: Own) -> None:
        self.windows = Function(
            name="goodput of K windows",
            reference=settings.window_mbps,
            cases=[
                {"streams": own.streams, "window_bytes": own.window_bytes, "rtt_ms": own.rtt_ms, "limit_mbps": 1000},
                {"streams": 1, "window_bytes": 8_388_608, "rtt_ms": 20, "limit_mbps": 9564},
                {"streams": 8, "window_bytes": 8_388_608, "rtt_ms": 20, "limit_mbps": 9564},
            ],
            unit="Mbit/s",
            tolerance=0.001,
            traps=[
                Trap(
                    lambda streams, window_bytes, rtt_ms, limit_mbps: (
                        streams * theory.window_limit_mbps(window_bytes, rtt_ms)
                    ),
                    "Nothing stops it at the link's limit: however many windows there are, the link carries limit_mbps.",
                ),
                Trap(
                    lambda streams, window_bytes, rtt_ms, limit_mbps: min(
                        theory.window_limit_mbps(window_bytes, rtt_ms), limit_mbps
                    ),
                    "This is one connection. Each of the K has a window of its own.",
                ),
                Trap(
                    lambda streams, window_bytes, rtt_ms, limit_mbps: min(
                        streams * theory.window_limit_mbps(window_bytes, rtt_ms) / 8, limit_mbps
                    ),
                    "A window counts bytes, a rate counts bits: a byte has 8 bits.",
                ),
                Trap(
                    lambda streams, window_bytes, rtt_ms, limit_mbps: min(
                        streams * theory.window_limit_mbps(window_bytes, rtt_ms) / 1000, limit_mbps
                    ),
                    "It is a thousand times too small: the round-trip time is given in milliseconds.",
                ),
                Trap(
                    lambda streams, window_bytes, rtt_ms, limit_mbps: limit_mbps,
                    "This is the link's limit, but the windows need not fill the link. Is the rate in Mbit/s when it meets "
                    "limit_mbps, and not in bit/s?",
                ),
            ],
            right="K connections have K windows, and nobody else has less for it, as long as the link is not full.",
            hints=[
                "In one round-trip time a connection can send one window. How much is that in a second? And K of them?",
                "One: window_bytes * 8 bits in rtt_ms / 1000 seconds. K: K times that. Then look at the link.",
                "min(streams * window_bytes * 8 / (rtt_ms * 1000), limit_mbps)",
            ],
        )

        limit_mbps = theory.tcp_goodput_limit_mbps(own.run_mbps)

        def window_mbps(run: Run) -> float:
            window = _flow(run)["window_bytes"]
            return math.inf if window is None else float(theory.window_limit_mbps(float(window), own.run_delay_ms))

        self.my_run = Measurement(
            name="one connection that fills the link",
            conditions=[
                Condition(
                    lambda run: _of_own_path(run, own),
                    f"There must be one link, of {own.run_mbps} Mbit/s and a round trip of {own.run_delay_ms} ms.",
                    "settings.wan(delay_ms, rate_mbps=...) makes it. The way back has no delay: give delay_ms the whole round trip.",
                    lambda run: run.scenario["topology"]["links"],
                ),
                Condition(
                    lambda run: (_flow(run)["kind"], _flow(run)["src"], _flow(run)["dst"]) == ("tcp", "h1", "h2"),
                    "The only flow must be TCP from h1 to h2.",
                    "nl.Tcp('h1', 'h2', ...), and nothing beside it.",
                    sending,
                ),
                Condition(
                    lambda run: _flow(run)["streams"] == 1,
                    "It must be a single connection.",
                    "Leave `streams` out.",
                    lambda run: f"streams={_flow(run)['streams']}",
                ),
                Condition(
                    lambda run: window_mbps(run) >= _NEARLY * limit_mbps,
                    "By theory its window must allow what the link allows.",
                    "How many bytes must be in flight, so that a window for each round trip fills the link?",
                    lambda run: f"window_bytes={_flow(run)['window_bytes']}",
                ),
                Condition(
                    lambda run: window_mbps(run) <= _SPARE * limit_mbps,
                    "Its window must be no more than a tenth larger than needed.",
                    "What is more than a busy link has in flight waits in the queue.",
                    lambda run: f"window_bytes={_flow(run)['window_bytes']}",
                ),
                Condition(
                    lambda run: run.scenario["duration_s"] >= 3 and run.goodput_mbps(1).iloc[0] >= _FULL * limit_mbps,
                    "It must run for 3 s at least, and after the first second the link must be full.",
                    "run.goodput_mbps(after_s=1) says what was measured.",
                    lambda run: f"{duration(run)}; {run.goodput_mbps(1).iloc[0]:.4g} Mbit/s",
                ),
            ],
            right="A window that fits the path does what several small ones do.",
            hints=[
                "The bandwidth-delay product is what a busy link has in flight during a round trip.",
                "Bytes = the link's goodput limit in bit/s, times the round trip in s, over 8; int(...) makes it whole.",
                (
                    "nl.run(settings.wan(own.run_delay_ms, rate_mbps=own.run_mbps), [nl.Tcp('h1', 'h2', window_bytes=...)], "
                    "duration_s=3)"
                ),
            ],
        )

        def filling(rate_mbps: float, c: float = theory.MATHIS_RANDOM_C, rtt_ms: float = own.big_rtt_ms) -> float:
            return rate_mbps / float(theory.mathis_mbps(theory.MSS_BYTES, rtt_ms, own.big_loss_rate, c))

        big_limit_mbps = theory.tcp_goodput_limit_mbps(own.big_mbps)
        self.needed = Number(
            name="connections that fill the big link",
            expected=lambda: float(settings.needed(own.big_mbps, own.big_rtt_ms, own.big_loss_rate)),
            unit="",
            tolerance=0.005,
            traps=[
                Trap(filling(own.big_mbps), "The link's rate carries headers, too: of 1514 bytes 1448 are data."),
                Trap(
                    filling(big_limit_mbps, theory.MATHIS_C),
                    "This is with the constant 1.22 for periodic losses. These are random: 1.31.",
                ),
                Trap(filling(big_limit_mbps) * 8, "A segment has bytes, a rate counts bits: a byte has 8 bits."),
                Trap(
                    filling(big_limit_mbps) * math.sqrt(own.big_loss_rate),
                    "Divide one connection's rate by the square root of the loss rate, not by the loss rate.",
                ),
            ],
            right="So many connections, where one cleaner cable would do.",
            hints=[
                "What does one connection get by the formula? How often does that go into what the link carries?",
                "One: 1.31 * 1448 * 8 / (round trip in s * sqrt(loss rate)) bit/s. The link: its rate * 1448 / 1514.",
                "math.ceil(rate_mbps * 1448 / 1514 / one_mbps)",
            ],
        )

        one = settings.one_mbps(own.free_loss_rate)
        slow_limit_mbps = theory.tcp_goodput_limit_mbps(SLOW_MBPS)
        fit = math.floor(slow_limit_mbps / one)
        free_traps = [
            Trap(fit, "This is how many fit on the link together. How many of them are h1's?"),
            Trap(fit + 1 - own.neighbours, "With h2's connections that is more than the link carries."),
            Trap(slow_limit_mbps / one, "So many fill the link. How many whole ones are that, and how many are h1's?"),
            Trap(
                slow_limit_mbps / one - own.neighbours,
                "Only whole connections exist. Round down.",
            ),
            Trap(fit - own.neighbours - 1, "With so many the link is not full yet."),
        ]
        self.free = Number(
            name="most connections that cost nobody anything",
            expected=lambda: float(settings.most_free(own.neighbours, own.free_loss_rate)),
            unit="",
            tolerance=0.001,
            traps=free_traps,
            right="Up to there each connection is held back by the random losses alone, the neighbour's too.",
            hints=[
                "What does each connection get while the link is not full? How many such connections fill the link?",
                "The link carries 47.82 Mbit/s of data. Divide by what one gets, and round down.",
                "Take off the neighbour's connections.",
            ],
        )
