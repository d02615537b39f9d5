"""Paths that cross (`simpleperf` case 4): what is firm, measured against theory with stated tolerances.

The share of one competing TCP flow is a draw of chance. Firm are sums, waits, and shares that somebody enforces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import netlab as nl
from netlab_course.chapters import multiplexing
from tests.agreement import agrees, tcp_limit_mbps
from tests.chapters.checking import extremes, names_of_cells

pytestmark = pytest.mark.pocket


settings = multiplexing.begin().settings
FRAME_BITS = 1514 * 8
CROSSING = list(settings.CROSSING)


@functools.cache
def contests() -> Callable[..., nl.Scenario]:
    """Return the function of the page that makes the scenario of a contest."""
    created: Callable[..., nl.Scenario] = names_of_cells("08_multiplexing", "contest", np=np)["contest"]
    return created


def contest(*arguments: Any, **named: Any) -> nl.Scenario:
    """Return the scenario of a contest as the page's cell makes it."""
    return contests()(*arguments, **named)


def transfers(*pairs: str) -> list[nl.Tcp]:
    return [nl.Tcp(*pair.split("-")[:2], start_s=0.02 * number) for number, pair in enumerate(pairs)]


@pytest.mark.parametrize("pairs", [["h1-h4", "h2-h5"], ["h1-h4", "h7-h9"], ["h1-h4", "h2-h5", "h3-h6"]], ids="+".join)
def test_the_sum_over_a_shared_link_is_firm(pairs: list[str]) -> None:
    """After 5 s the flows carry together what L2 carries, within 0.5 %."""
    run = nl.run(nl.topologies.portfolio(), transfers(*pairs), duration_s=20, interval_s=1)
    agrees("together (Mbit/s)", run.goodput_mbps(after_s=5).sum(), tcp_limit_mbps(30), relative=0.005)


@pytest.mark.parametrize(
    ("rooms", "empty"), [(settings.LIMIT_PACKETS, 0), ((34, 50, 16), 1)], ids=["limits", "rooms in Mininet"]
)
def test_the_longest_wait_is_one_full_queue(rooms: tuple[int, int, int], empty: int) -> None:
    """Longest ping within 2 % of the empty path and a full queue; Mininet's rooms bring the published means within 5 %."""
    pings = [nl.Ping(*pair.split("-"), interval_s=0.1) for pair in ("h1-h4", "h8-h9")]
    run = nl.run(
        nl.topologies.portfolio(queue_packets=rooms),
        [*transfers("h1-h4", "h8-h9"), *pings],
        duration_s=25,
        interval_s=1,
    )
    flows = run.flows.set_index("flow")
    for ping, rate_mbps, empty_ms, room, published_ms in (
        ("h1-h4 ping", 30, 60, rooms[1], 69.058),
        ("h8-h9 ping", 20, 20, rooms[2], 25.032),
    ):
        full_ms = empty_ms + room * FRAME_BITS / rate_mbps / 1e3
        agrees(f"longest {ping} (ms)", flows.rtt_max_ms[ping], full_ms, relative=0.02)
        if empty:
            agrees(f"mean {ping} (ms)", flows.rtt_ms[ping], published_ms, relative=0.05)


def test_fair_queues_find_the_water_level() -> None:
    """Six flows, three links, fq_codel: each within 5 % of its max-min share; with plain queues the long one starves."""
    plain = nl.topologies.portfolio()
    served = nl.topologies.portfolio(**settings.FAIR_QUEUE)
    routes = plain.routes([(pair[:2], pair[3:]) for pair in CROSSING])
    shares = nl.theory.max_min_mbps(plain.capacities_mbps(), routes)
    got = nl.run(served, transfers(*CROSSING), duration_s=15, interval_s=1).goodput_mbps(after_s=3)
    for pair in CROSSING:
        agrees(f"{pair} (Mbit/s)", got[f"{pair} cubic"], tcp_limit_mbps(shares[pair]), relative=0.05)
    starved = nl.run(plain, transfers(*CROSSING), duration_s=15, interval_s=1).goodput_mbps(after_s=3)
    assert starved["h1-h9 cubic"] < 0.4 * tcp_limit_mbps(shares["h1-h9"])


def test_long_flow_is_near_the_square_root_law_under_even_losses() -> None:
    """With RED within 40 % of it; with drop-tail it gets half at most, and is cut far more often than the links add up to."""
    reno = {"draws": 3, "send_s": 30, "congestion": "reno", "ping": False, "interval_s": 0.2}
    red = nl.topologies.portfolio(aqm="red", queue_packets=(200, 200, 200))
    networks = {"drop-tail": nl.topologies.portfolio(), "RED": red}
    runs = nl.sweep({name: contest(network, CROSSING, **reno) for name, network in networks.items()})
    table = settings.crossing_table(runs)
    optimum = table.loc["h1-h9", "square root"]
    agrees("h1-h9 with RED (Mbit/s)", table.loc["h1-h9", "RED"], optimum, relative=0.4)
    assert table.loc["h1-h9", "drop-tail"] < 0.5 * optimum
    cuts = settings.cuts_table(runs).set_index("queues")
    assert 1 < cuts.loc["RED", "h1-h9 / sum"] < 3
    assert 5 < cuts.loc["drop-tail", "h1-h9 / sum"] < 12


def test_red_fills_the_first_link_where_its_queue_may_be_longer() -> None:
    """Three flows share L1: nine tenths of it with RED's 200 packets, all but 1 % with four times as many."""
    found = nl.sweep(
        {
            room: contest(
                nl.topologies.portfolio(aqm="red", queue_packets=(room,) * 3),
                CROSSING,
                5,
                congestion="reno",
                send_s=30,
                ping=False,
            )
            for room in (200, 800)
        }
    )
    tables = {room: settings.by_draw(run, CROSSING)[["h1-h9", "h2-h7", "h3-h4"]] for room, run in found.items()}
    full = {room: table.mean().sum() / tcp_limit_mbps(40) for room, table in tables.items()}
    agrees("of L1 with 200 packets", full[200], 0.9, absolute=0.02)
    assert full[800] > 0.99


def test_eight_times_as_long_a_contest_leaves_less_to_chance() -> None:
    """Five draws of experiment 1: over 200 s the shares differ about half as much as over 25 s."""
    pairs = settings.EXPERIMENTS[1]
    lengths = {send_s: contest(nl.topologies.portfolio(), pairs, 5, send_s=send_s, ping=False) for send_s in (25, 200)}
    scatter = {send_s: settings.by_draw(run, pairs)["h1-h4"].std() for send_s, run in nl.sweep(lengths).items()}
    agrees("of the scatter over 25 s", scatter[200] / scatter[25], 0.5, absolute=0.1)


@pytest.mark.parametrize("most_ms", extremes(settings.NUMBERS.values("most_ms")))
def test_the_queue_of_a_promise_keeps_it_to_half_a_millisecond(most_ms: float) -> None:
    """Five seeds each: the longest ping of all, for the shortest and the longest promise."""
    table = nl.repeat(settings.transfer_and_ping(int((most_ms - 60) * 30_000 / FRAME_BITS)), seeds=5, progress=False)
    longest_ms = table.loc[table["kind"] == "ping", "rtt_max_ms"].max()
    assert most_ms - 1.5 < longest_ms < most_ms + 0.5
