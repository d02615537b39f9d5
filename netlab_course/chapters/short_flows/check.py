"""Checks of the chapter on short flows, with their formulas."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pandas as pd

from netlab import theory
from netlab.base.headers import MSS_BYTES
from netlab.base.units import BITS_PER_BYTE, MS_PER_S
from netlab.measure.results import Run
from netlab.theory.slow_start import INITIAL_WINDOW_SEGMENTS
from netlab_course.chapters.short_flows.settings import PAGES, failing_percent, lossy_pages
from netlab_course.checks import Number
from netlab_course.conditions import (
    Condition,
    Measurement,
    link_in_words,
    links_on_path,
    slow_links,
    traffic_items,
)
from netlab_course.function_checks import Function
from netlab_course.misconceptions import formula_slips, slips
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement

MIN_SIZES = 6
MIN_STAIRS = 4
ON_A_STAIR = 0.05
LATE_S = 0.9
"""The first timer alone takes 1 s. Of 9000 pages with 2 to 4 % loss, two took longer than this time in s with losses of data only."""
CUT_RATE_MBPS = 10
CUT_PAGE_BYTES, CUT_START_S = 16 * MSS_BYTES, 1
FIRST_TIMER_MS = (1200, 1400)
"""Limits of the time in ms of a page whose SYN or SYN-ACK is lost once: 1275 ms in a run, 259 ms without a loss."""
ROUNDS = 2
"""The number of rounds that fit into the deadline of exercise 2."""


def stairs_ms(size_bytes: float, rtt_ms: float, initial_window_segments: int) -> float:
    """Return the time in ms of a TCP transfer of this size over a fast link: a handshake, then the rounds of slow
    start, the last of which ends half-way.
    """
    return rtt_ms * (theory.slow_start_rounds(size_bytes, initial_window_segments) + 0.5)


def smallest_window(size_bytes: float, rounds: int) -> int:
    """Return the smallest initial window in segments with which a page of this size is sent in this number of rounds of
    slow start.
    """
    return math.ceil(size_bytes / MSS_BYTES / ((1 << rounds) - 1))


class Checks:
    """The checks of the chapter on short flows, each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.stairs = _stairs()
        self.window = _window(own)
        self.staircase = _staircase(own)
        self.cut = _cut_link_check()
        self.repeated = _repetition_check(own)


def _stairs() -> Function:
    """Return the check of the function that computes the time of a transfer in slow start; it is the same for all
    students.
    """
    return Function(
        name="stairs of slow start",
        same_as=(theory.slow_start_rounds, theory.short_flow_ms),
        reference=stairs_ms,
        cases=[
            # Bits for bytes and an initial window of one segment give different numbers of rounds in the first trial.
            {"size_bytes": 760_000, "rtt_ms": 100, "initial_window_segments": 10},
            {"size_bytes": 100_000, "rtt_ms": 100, "initial_window_segments": 10},
            {"size_bytes": 500, "rtt_ms": 40, "initial_window_segments": 3},
            # A logarithm without + 1 is wrong in this trial, and a segment of 1460 or 1500 bytes is not.
            {"size_bytes": 32_000, "rtt_ms": 80, "initial_window_segments": 3},
            {"size_bytes": 250_000, "rtt_ms": 20, "initial_window_segments": 30},
            {"size_bytes": 70 * MSS_BYTES, "rtt_ms": 200, "initial_window_segments": 10},
            {"size_bytes": 70 * MSS_BYTES + 300, "rtt_ms": 50, "initial_window_segments": 10},
        ],
        unit="ms",
        tolerance=0.002,
        misconceptions=formula_slips(
            lambda q: stairs_ms(q.size_bytes * MSS_BYTES / 1460, q.rtt_ms, q.initial_window_segments),
            "A full segment holds 1448 bytes of data: headers take the rest of the 1500.",
            lambda q: q.rtt_ms * (math.ceil(math.log2(q.size_bytes / (q.initial_window_segments * MSS_BYTES))) + 0.5),
            "After n rounds 2**n - 1 windows have left, not 2**n: the logarithm lacks a 1.",
            lambda q: (
                q.rtt_ms * (math.ceil(math.log(q.size_bytes / (q.initial_window_segments * MSS_BYTES) + 1)) + 0.5)
            ),
            "math.log is the natural logarithm. Each round doubles the window: math.log2.",
            lambda q: stairs_ms(q.size_bytes, q.rtt_ms, 1),
            "This is for an initial window of one segment. Divide by all that the first window holds.",
            lambda q: stairs_ms(q.size_bytes * MSS_BYTES, q.rtt_ms, q.initial_window_segments),
            "The initial window is in segments, of 1448 bytes each.",
            lambda q: stairs_ms(BITS_PER_BYTE * q.size_bytes, q.rtt_ms, q.initial_window_segments),
            "This compares bits of the page with bytes of a segment.",
            lambda q: stairs_ms(q.size_bytes, q.rtt_ms, q.initial_window_segments) - q.rtt_ms,
            "This is a round trip too few. Opening the connection takes one, and a round that is only begun counts as a whole one.",
            lambda q: stairs_ms(q.size_bytes, q.rtt_ms, q.initial_window_segments) + q.rtt_ms / 2,
            "This is half a round trip too much. The transfer is over when the last byte arrives, not its acknowledgement; "
            "and nobody asks for it first.",
            lambda q: q.rtt_ms * (math.ceil(q.size_bytes / (q.initial_window_segments * MSS_BYTES)) + 0.5),
            "Here each round sends as much as the first. In slow start each sends twice as much as the one before.",
            lambda q: (
                q.rtt_ms
                * (max(1, math.ceil(math.log2(q.size_bytes / (q.initial_window_segments * MSS_BYTES)) + 1)) + 0.5)
            ),
            "This is a round trip too many. All rounds together bring the data, 1 + 2 + 4 windows, and the last one ends half-way.",
            lambda q: q.rtt_ms * (math.log2(q.size_bytes / (q.initial_window_segments * MSS_BYTES) + 1) + 0.5),
            "Rounds are whole: a round that is only begun takes its time, too.",
        ),
        hints=[
            "How many windows of the first size is the page? And how many are 1, 1 + 2, 1 + 2 + 4 of them?",
            "math.ceil(math.log2(windows + 1)) rounds, where windows = size_bytes / (initial_window_segments * 1448).",
            "After the last round's window has left, how much of a round trip does its data need? Add it and multiply.",
        ],
    )


def _window(own: StudentValues) -> Number:
    """Return the check of the initial window with which the page of a student's numbers arrives within a deadline."""
    size_bytes = 1000 * own.page_kb
    return Number(
        name="initial window",
        same_as=(theory.slow_start_rounds, theory.short_flow_ms),
        expected=lambda: smallest_window(size_bytes, ROUNDS),
        unit="segments",
        tolerance=0.01,
        whole=True,
        misconceptions=slips(
            lambda: smallest_window(size_bytes, 1),
            "This sends the page in one round. The deadline leaves time for more.",
            lambda: smallest_window(size_bytes, ROUNDS + 1),
            "With this window the page takes a round more than there is time for. Did you count the handshake?",
            lambda: math.ceil(size_bytes / MSS_BYTES / ROUNDS),
            "This divides the page into equal rounds. The second round sends twice as much as the first.",
            lambda: smallest_window(size_bytes, ROUNDS) - 1,
            "With this window the last bytes are left over and need a round of their own: round up.",
            lambda: smallest_window(size_bytes, ROUNDS) + 1,
            "One segment less does it, too. (1 kB is 1000 bytes here.)",
        ),
        right="The next cell runs it.",
        hints=[
            "How many rounds fit into the deadline, when the handshake takes one round trip and the last round half of one?",
            "Two rounds send 1 + 2 windows. How many segments of 1448 bytes is the page?",
            "The smallest window with which these rounds hold all the page's segments. The next window below must not do it.",
        ],
        harmless=lambda window: 2 <= window <= 45 and window == int(window),
    )


def _flows(run: Run) -> list[dict[str, Any]]:
    """Return the transfers of a run in the order of their starts, each as a dict with the values of its row of
    `Run.flows` and its size `num_bytes` (None: no limit).
    """
    rows: list[dict[str, Any]] = [
        {str(name): value for name, value in row.items()} for row in run.flows.to_dict("records")
    ]
    for row, item in zip(rows, traffic_items(run), strict=True):
        row["num_bytes"] = item.get("num_bytes")
    return sorted(rows, key=lambda row: float(row["start_s"]))


def _pages_do_not_overlap(run: Run) -> bool:
    """Return whether a run has two transfers or more, and each is over before the next one starts."""
    flows = _flows(run)
    return len(flows) > 1 and all(
        one["start_s"] + one["completion_s"] <= two["start_s"] for one, two in pairwise(flows)
    )


def _stairs_taken_ms(run: Run) -> set[float]:
    """Return the set of the times in ms by `stairs_ms` of those transfers of a run whose time is within 5 % of it."""
    rtt_ms = sum(shape.delay_ms for ends in (("h1", "h2"), ("h2", "h1")) for shape in links_on_path(run, *ends))
    found = set()
    for item, completion_s in zip(traffic_items(run), run.flows["completion_s"], strict=True):
        wanted_ms = stairs_ms(item["num_bytes"], rtt_ms, item.get("initial_window_segments") or INITIAL_WINDOW_SEGMENTS)
        if abs(MS_PER_S * completion_s / wanted_ms - 1) < ON_A_STAIR:
            found.add(wanted_ms)
    return found


def _sent_in_words(run: Run) -> str:
    """Return the ends (sender and receiver) and the sizes of a run's transfers, each once, as text."""
    ways = sorted({f"{item['src']} to {item['dst']}" for item in traffic_items(run)})
    sizes = sorted({int(item.get("num_bytes") or 0) for item in traffic_items(run)})
    return f"{', '.join(ways)}: {', '.join(f'{size} bytes' if size else 'no num_bytes' for size in sizes)}"


def _taken_in_words(run: Run) -> str:
    """Return the duration of each transfer of a run in ms as text, in the order of their starts; "not over" for one
    that did not end.
    """
    times_ms = [MS_PER_S * row["completion_s"] for row in _flows(run)]
    return ", ".join("not over" if math.isnan(ms) else f"{ms:.0f} ms" for ms in times_ms)


def _staircase(own: StudentValues) -> Measurement:
    """Return the check of a student's run of transfers of different sizes over the link of the student's numbers, which
    must take different numbers of round trips.
    """
    return Measurement(
        name="a staircase of your own",
        conditions=[
            Condition(
                lambda run: [link["rate_mbps"] for link in slow_links(run)] == [own.rate_mbps],
                f"One link must have a rate, {own.rate_mbps} Mbit/s.",
                "Look at rate_mbps of your links.",
                lambda run: [link["rate_mbps"] for link in slow_links(run)],
            ),
            Condition(
                lambda run: (
                    [sum(s.delay_ms for s in links_on_path(run, *ends)) for ends in (("h1", "h2"), ("h2", "h1"))]
                    == [own.delay_ms] * 2
                ),
                f"Each way must be delayed by {own.delay_ms} ms.",
                "delay_ms of a link holds for both directions.",
                lambda run: [
                    sum(s.delay_ms for s in links_on_path(run, *ends)) for ends in (("h1", "h2"), ("h2", "h1"))
                ],
            ),
            Condition(
                lambda run: (
                    all(
                        item["kind"] == "tcp" and (item["src"], item["dst"]) == ("h1", "h2")
                        for item in traffic_items(run)
                    )
                    and len({item["num_bytes"] for item in traffic_items(run) if item["num_bytes"]}) >= MIN_SIZES
                    and all(item["num_bytes"] and item["streams"] == 1 for item in traffic_items(run))
                ),
                f"There must be {MIN_SIZES} TCP transfers or more from h1 to h2, each with a num_bytes of its own.",
                "A list such as [nl.Tcp(..., num_bytes=size, start_s=...) for ...] makes them.",
                _sent_in_words,
            ),
            Condition(
                lambda run: bool(run.flows["completion_s"].notna().all()) and _pages_do_not_overlap(run),
                "Each transfer must be over before the next one starts, or they share the link.",
                "Look at start_s of your transfers, at duration_s of the run, and at run.flows['completion_s'].",
                _taken_in_words,
            ),
            Condition(
                lambda run: any(run.flows["completion_s"].notna()) and int(run.flows["retransmits"].sum()) == 0,
                "Nothing may be lost.",
                "A queue that is too short drops a part of a window; without loss_rate nothing else does.",
                lambda run: f"{int(run.flows['retransmits'].sum())} sent again",
            ),
            Condition(
                lambda run: len(_stairs_taken_ms(run)) >= MIN_STAIRS,
                f"The transfers must lie on {MIN_STAIRS} different stairs or more, each within {100 * ON_A_STAIR:g} % of your function.",
                "How many segments do one, two, three and four rounds bring? Choose sizes in between. For large transfers the link's "
                "rate decides, and they lie on no stair.",
                lambda run: f"{len(_stairs_taken_ms(run))}; the transfers took {_taken_in_words(run)}",
            ),
        ],
        right="Does each lie where your function says? On the highest stairs the link's own time shows.",
        hints=[
            "Sizes of 1, 15, 45 and 105 segments and more need one, two, three and four rounds.",
            '[nl.Tcp("h1", "h2", num_bytes=size, start_s=2 * number) for number, size in enumerate(sizes)] gives each its start.',
            "nl.Topology(['h1', 'h2'], links=[nl.Link('h1', 'h2', rate_mbps=..., delay_ms=..., queue_packets=1000)]).",
        ],
    )


def _link_states(run: Run) -> list[bool | None]:
    """Return for each change of a run, in the order of time, whether a link is up after it; None for a change that says
    nothing of this or sets other fields, too.
    """
    changes = sorted(run.scenario.get("changes") or [], key=lambda change: float(change["at_s"]))
    only_state = {"at_s", "link", "up"}
    return [
        change.get("up") if {name for name, value in change.items() if value is not None} <= only_state else None
        for change in changes
    ]


def _is_plain_path(run: Run) -> bool:
    """Return whether a run's path between h1 and h2 has 10 Mbit/s and loses no packets at random, in both directions."""
    shapes = [shape for ends in (("h1", "h2"), ("h2", "h1")) for shape in links_on_path(run, *ends)]
    loses = any(shape.loss_rate or shape.burst_loss for shape in shapes)
    return {shape.rate_mbps for shape in shapes} - {None} == {CUT_RATE_MBPS} and not loses


def _cut_link_check() -> Measurement:
    """Return the check of a student's run in which a link is cut while a packet of the handshake passes; it is the same
    for all students.
    """
    return Measurement(
        name="a cut of your own",
        answer_name="my_cut",
        commands=True,
        conditions=[
            Condition(
                lambda run: (
                    [
                        (item["kind"], item["src"], item["dst"], item.get("num_bytes"), item.get("start_s"))
                        for item in traffic_items(run)
                    ]
                    == [("tcp", "h1", "h2", CUT_PAGE_BYTES, CUT_START_S)]
                ),
                "The traffic must be small_page alone.",
                "nl.run(path(10), [small_page], duration_s=4, changes=[...]).",
                _sent_in_words,
            ),
            Condition(
                _is_plain_path,
                "The path must be path(10), which loses nothing by itself.",
                "Hand path(10) to nl.run, without other arguments.",
                lambda run: "; ".join(map(link_in_words, run.scenario["topology"]["links"])),
            ),
            Condition(
                lambda run: _link_states(run) == [False, True],
                "The link must be cut once and mended once, by up=False and up=True alone.",
                "changes=[nl.Change(at_s=..., link=..., up=False), nl.Change(at_s=..., link=..., up=True)].",
                lambda run: f"up is {', '.join(map(str, _link_states(run))) or 'never set'}",
            ),
            Condition(
                lambda run: bool(run.flows["completion_s"].notna().all()) and int(run.flows["retransmits"].sum()) == 1,
                "One packet must be sent again, and the page must arrive.",
                "How long is the link down? The SYN leaves at 1 s and is sent again a second later; its answer takes 100 ms.",
                lambda run: f"{int(run.flows['retransmits'].sum())} sent again; the page took {_taken_in_words(run)}",
            ),
            Condition(
                lambda run: FIRST_TIMER_MS[0] < MS_PER_S * float(run.flows["completion_s"].iloc[0]) < FIRST_TIMER_MS[1],
                "The lost packet must be the SYN or its answer.",
                "When does it pass the link? A lost segment of data costs less than the first timer.",
                _taken_in_words,
            ),
        ],
        right="A second more for one lost packet of the handshake: so this is the reason of the outlier.",
        hints=[
            "small_page calls connect at 1 s. Its SYN is at r1 at once, and at h2 half a round trip later.",
            "A cut that begins before 1 s and ends before the second SYN loses the first one alone.",
            "The two changes need at_s a little before and a little behind 1 s.",
        ],
    )


def late_percent(table: pd.DataFrame, late_s: float = LATE_S) -> pd.Series[float]:
    """Return the percentage of the pages that took longer than `late_s` s, by seed, from a table of `netlab.repeat`
    with a row for each page.
    """
    return 100 * (table["completion_s"] > late_s).groupby(table["seed"]).mean()


def _repetition_check(own: StudentValues) -> Repetition:
    """Return the check of the repeated measurement of pages that a lost handshake delays, at the loss rate of a
    student's numbers.
    """
    return Repetition(
        name="pages that a lost handshake delays",
        scenario=lambda: lossy_pages(own),
        made_by="The cell above, `lossy`,",
        values=late_percent,
        expected=lambda _table: failing_percent(own),
        unit="%",
        right="With the seeds 1 to 30 theory lies inside the interval: a lost handshake explains the late pages.",
        hints=[
            'my_shares = my_table.groupby("seed")["late"].mean() has one value for each seed; nl.interval(my_shares).',
            "Theory: both packets must arrive, each with a chance of 1 - p. How often does one of them not?",
        ],
        compared="the chance that a handshake fails",
        statement=Statement(own.stated_percent),
        slips={
            "these are shares of 1, and the exercise asks for per cent": lambda table: late_percent(table) / 100,
            "these are numbers of pages, and the exercise asks for their share in per cent": lambda table: (
                late_percent(table) * PAGES / 100
            ),
            "these are the pages that were in time": lambda table: 100 - late_percent(table),
            "no page is late by this: completion_s is in seconds": lambda table: late_percent(table, LATE_S * MS_PER_S),
        },
    )
