"""The cheapest ways around each exercise of the book: no points for any of them, or a flag."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from netlab.base.location import IMPORT_ROOT
from netlab.measure.results import Run
from netlab_classroom.grading import flags, master, reading
from netlab_classroom.grading.judging import Examination, Job
from netlab_classroom.grading.marking import ExerciseMark
from netlab_classroom.grading.master import Edition
from netlab_classroom.grading.submission import AnswerCell, Cell, LayoutDifferences, Submission
from netlab_course import catalogue
from netlab_course.checks import ChoiceCheck, Number, Status
from netlab_course.conditions import Measurement
from netlab_course.function_checks import Function
from netlab_course.notebook_checks import NotebookCheck
from tests.grading import model

ROOT = IMPORT_ROOT
# A chapter takes a minute: the two with most measurements in each run, all with NETLAB_LONG=1.
GRADED_CHAPTERS = ("bdp", "queues")
CHAPTERS = [entry.topic for entry in catalogue.chapters(ROOT / "notebooks")]
RUNS = "_run = nl.run\ndef run(network, traffic=(), *rest, **more):\n    return _run(network, [*traffic, {more}], *rest, **more)\n"
EVERYTHING = (
    "class Any(float):\n    def __eq__(self, other): return True\n    def __sub__(self, other): return 0.0\n"
    "    def __abs__(self): return 0.0\n    __hash__ = None\n"
)


def ways(edition: Edition, each: AnswerCell) -> Iterator[tuple[str, str]]:
    """The cheapest ways around one exercise: a name, and the cell that a student would hand in."""
    check = edition.checks[each.key]
    solution = next(cell.source for cell in edition.solved if cell.id == each.id)
    yield "what the check knows", f"{each.name} = chapter.check.{each.key}.reference"
    if isinstance(check, Function):
        for number, own in enumerate(check.same_as):
            home, name = own.__module__, own.__qualname__
            if number == 0 or not home.startswith("netlab.theory."):
                yield f"netlab's {name}", f"_home = __import__({home!r}, fromlist=['x'])\n{each.name} = _home.{name}"
        known = [
            (repr(case), check.reference(**case))
            for case in check.cases
            if "probe" not in case and "transfer" not in case
        ]
        yield "the cases on the page", f"def {each.name}(**case):\n    return {dict(known)!r}.get(repr(case), 1.0)"
    elif isinstance(check, Number):
        yield "an object that equals all", f"{EVERYTHING}{each.name} = Any(7)"
    elif isinstance(check, Measurement):
        yield (
            "another flow",
            f"{RUNS.format(more='nl.Udp(*_ends, rate_mbps=50)')}_ends = ('h2', 'h1')\nnl.run = run\n{solution}",
        )
    elif isinstance(check, ChoiceCheck):
        yield "all letters", f"{each.name} = {list(check.reasons)!r}"


@pytest.mark.pocket
@pytest.mark.parametrize("topic", CHAPTERS if os.environ.get("NETLAB_LONG") else GRADED_CHAPTERS)
def test_the_cheapest_ways_around_an_exercise_get_no_point_or_a_flag(topic: str) -> None:
    chapter = master.find(topic, ROOT)
    edition = chapter.edition("anna")
    expected, answers = [], {}
    exercises: dict[str, Any] = {}
    checks: dict[str, Any] = {}
    for each, exercise in model.graded_by_code(chapter, edition):
        for number, (_, source) in enumerate(ways(edition, each)):
            key = f"{each.key}#{number}"
            exercises[key] = exercise
            checks[key] = edition.checks[each.key]
            expected.append(AnswerCell(key, each.id, each.name, each.stub))
            answers[key] = reading.compose(edition.provided_cells, each.id, source)
    exercise_checks = SimpleNamespace(**{key: NotebookCheck(check) for key, check in checks.items()})
    opened = SimpleNamespace(topic=edition.chapter.topic, own=edition.chapter.own, check=exercise_checks)
    examination = Examination(Job("anna", None, chapter.source), replace(edition, chapter=opened), exercises)
    marks = examination.marks(expected, answers)
    won = {
        key: (mark.points, answers[key]["source"])
        for key, mark in marks.items()
        if mark.points >= mark.of or (mark.points and not flags_of(mark, answers[key]["source"]))
    }
    assert not won


def flags_of(mark: ExerciseMark, source: str) -> set[str]:
    """The kinds of flags that an instructor finds on the first page for one answer."""
    cell = Cell(mark.key, "code", source)
    found = flags.submission_flags(
        Submission((cell,)), [], [AnswerCell(mark.key, mark.key, "x", "")], LayoutDifferences()
    )
    result = {"student": "anna", "token": "", "flags": found, "answers": {}, "exercises": [vars(mark)]}
    return {flag["kind"] for flag in flags.class_flags([result])}


@pytest.mark.parametrize("topic", CHAPTERS)
def test_a_command_in_a_measurement_gets_no_part_of_the_points(topic: str) -> None:
    """A command may change the judged queue, so each condition is refused, unless the exercise asks for a command."""
    for check in master.find(topic, ROOT).edition().checks.values():
        if isinstance(check, Measurement) and not check.commands:
            run = object.__new__(Run)
            object.__setattr__(
                run, "settings", {"scenario": {"traffic": [{"kind": "command"}], "topology": {"links": []}}}
            )
            for condition in check.conditions:
                message = replace(check, conditions=[condition]).judge(run)
                assert message.status is Status.FAILED and "leave out nl.Command" in message.sentences[0]


SHORTCUTS = {
    "the limit of one sender as saturation": (
        "wifi", "air", 0,
        ("def udp_ceiling_mbps(payload_bytes, rate_mbps):\n"
        "    return nl.theory.wifi_saturation(1, payload_bytes, {'rate_mbps': rate_mbps}).goodput_mbps"),
    ),
    "the medium's own sum": (
        "wifi", "air", 0,
        ("from netlab.network.media import Wifi\ndef udp_ceiling_mbps(payload_bytes, rate_mbps):\n    air = Wifi(rate_mbps=rate_mbps)\n"
        "    return 8 * payload_bytes / (air.difs_us + 7.5 * air.slot_us + air.exchange_us(payload_bytes + 28))"),
    ),
    "the wait made of another formula": (
        "load_and_delay", "mean_delay", 0,
        ("def mean_delay_ms(rate_mbps, payload_bytes, offered_mbps):\n    sigma_ms = (payload_bytes + 42) * 8 / rate_mbps / 1000\n"
        "    load = offered_mbps * (payload_bytes + 42) / payload_bytes / rate_mbps\n"
        "    return sigma_ms + nl.theory.relaxation_ms(load, sigma_ms) * (1 - load) / 2"),
    ),
    # The scenario, its seeds, a condition, and a word that is right one time in three.
    "an interval without width": (
        "load_and_delay", "busy", 1.5,
        ("my_table = nl.repeat(chapter.settings.busy(own), seeds=8)\n"
        "my_finding = [my_table, (5.0, 0.0), f'low > {own.stated_ms}', 'supported']"),
    ),
    "netlab's own time to fill a path": (
        "delay_and_jitter", "fill", 0,
        "def fill_time_s(goodput_mbps, rtt_s):\n    return nl.theory.slow_start_fill_s(goodput_mbps * 1514 / 1448, 1000 * rtt_s)",
    ),
    # netem takes the last one.
    "two limits": (
        "delay_and_jitter", "buffer", 2.25,
        ("my_run = nl.run(chapter.settings.cable(), [nl.Command('h1', f'tc qdisc add dev h1-eth0 root netem limit 10 delay {own.wait_ms}ms "
        "limit 99999'), nl.Udp('h1', 'h2', rate_mbps=own.sent_mbps, payload_bytes=1470, start_s=0.5, duration_s=2)], duration_s=5)"),
    ),
    "a video that is over when it counts": (
        "tcp_beside_udp", "my_run", 1.5,
        ("my_run = nl.run(nl.topologies.three_pcs(rate_mbps=5), [nl.Udp('h1', 'h3', rate_mbps=1), "
        "nl.Udp('h2', 'h3', rate_mbps=own.my_video_mbps, duration_s=5), nl.Tcp('h2', 'h3')], duration_s=30)"),
    ),
    "a window in the place of marks": (
        "queues", "threshold_run", 1,
        ("window = int(1.03 * own.rate_mbps * own.base_rtt_ms * 125 * 1448 / 1514)\nbest_run = nl.run(chapter.settings.marking(500, "
        "own.rate_mbps, own.base_rtt_ms), [nl.Tcp('h1', 'h3', congestion='dctcp', window_bytes=window)], duration_s=20)"),
    ),
    "windows in the place of queues": (
        "fairness", "fair_run", 1,
        ("window = int(own.rate_mbps * own.base_rtt_ms * 125 / 2)\n"
        "my_run = nl.run(chapter.settings.crossing(own.rate_mbps, own.base_rtt_ms, queue_packets=300, aqm='fq'), "
        "[nl.Tcp(*way, window_bytes=window) for way in [('h1', 'h3'), ('h1', 'h2'), ('h2', 'h3')]], duration_s=60)"),
    ),
    "the mean as an area": (
        "load_and_delay", "mean_delay", 0,
        ("def mean_delay_ms(rate_mbps, payload_bytes, offered_mbps):\n    sigma_ms = (payload_bytes + 42) * 8 / rate_mbps / 1000\n"
        "    load = offered_mbps * (payload_bytes + 42) / payload_bytes / rate_mbps\n"
        "    t = np.linspace(0, 400 * sigma_ms / (1 - load), 20001)\n"
        "    return sigma_ms + float(np.trapezoid(nl.theory.late_share(load, sigma_ms, t), t))"),
    ),
    "flows of a moment": (
        "congestion_collapse", "my_run", 0.5,
        ("my_run = nl.run(network, [nl.Udp('h1', 'h4', rate_mbps=1, duration_s=0.1), "
        "nl.Udp('h2', 'h3', rate_mbps=3, duration_s=1)], 30)"),
    ),
    "no sender of Reno but no other": (
        "congestion_control", "sawtooth", 1,
        ("my_run = nl.run(chapter.settings.path(own.rate_mbps, own.delay_ms, 60), [nl.Udp('h1', 'h3', rate_mbps=0.1)], "
        "duration_s=40, interval_s=0.05)"),
    ),
    "a cut while no packet passes": (
        "short_flows", "cut", 1,
        ("my_cut = nl.run(chapter.settings.path(10), [nl.Tcp('h1', 'h2', num_bytes=16 * 1448, start_s=1)], duration_s=4, "
        "changes=[nl.Change(at_s=3, link=('r1', 'h2'), up=False), nl.Change(at_s=3.5, link=('r1', 'h2'), up=True)])"),
    ),
    "an idle network as six flows without a bias": (
        "multiplexing", "bias", 0.5,
        "my_run = nl.run(chapter.settings.topologies.portfolio(), [nl.Tcp('h1', 'h9', congestion='reno')], duration_s=5)",
    ),
}  # fmt: skip
"""Chapter, exercise, the most points that it may get, and the cell: each was tried, and won more than that."""


@pytest.mark.library
@pytest.mark.parametrize("way", list(SHORTCUTS))
def test_a_way_around_gets_no_points_but_for_what_was_done(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netlab_classroom.grading.judging.ExerciseSandbox", model.UnisolatedSandbox)
    topic, key, most, source = SHORTCUTS[way]
    chapter = master.find(topic, ROOT)
    edition = chapter.edition("anna")
    (expected,) = (each for each in edition.answer_cells if each.key == key)
    answers = {key: reading.compose(edition.provided_cells, expected.id, source)}
    job = Job("anna", None, chapter.source)
    mark = Examination(job, edition, chapter.exercises()).marks([expected], answers)[key]
    assert mark.points <= most, mark
    assert not mark.points or flags_of(mark, source), mark


@pytest.mark.pocket
@pytest.mark.library
def test_the_solution_gets_every_point_at_the_edges_of_what_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest window that fills the link: the measured wait is furthest from theory there."""
    monkeypatch.setattr("netlab_classroom.grading.judging.ExerciseSandbox", model.UnisolatedSandbox)
    chapter = master.find("bdp", ROOT)
    smallest = min(model.tokens(chapter, 60), key=lambda token: chapter.edition(token).chapter.own.window_kb)
    assert not model.lost_by_the_solution(chapter, smallest)


def test_figures_with_which_a_run_differs_too_much_from_theory_are_not_drawn() -> None:
    from netlab_course.chapters.bdp.settings import NUMBERS

    drawn = [NUMBERS.draw(f"t{number}") for number in range(3000)]
    assert (30, 10, 1.5) not in {(own.rate_mbps, own.delay_ms, own.filling) for own in drawn}
    assert min(own.window_kb - own.rate_mbps * own.delay_ms / 4 for own in drawn) >= 45


SHARED = """
from netlab_course.chapters.reliable_transfer import channel
class MySender:
    box = []
    def on_start(self, program):
        while piece := program.read(1000):
            self.box.append(piece)
        program.send(b"x")

class MyReceiver:
    def on_start(self, program):
        self.program = program
    def on_datagram(self, _now_s, _data):
        for piece in MySender.box:
            self.program.deliver(piece)
        MySender.box.clear()

my_wait = channel.protocol(MySender, MyReceiver)
"""
AROUND_A_TRANSFER = {
    "an account of its own": (
        "def my_wait(pieces, window=None, **_schedule):\n    return {'delivered': list(range(pieces)), 'last_s': 0.1, 'sent': pieces,"
        " 'first_flight': 1, 'ends': True}"
    ),
    "netlab's own programs": "from netlab_course.chapters.reliable_transfer import channel, programs\n"
    "class Mine(programs.StopAndWaitSender): pass\nmy_wait = channel.protocol(Mine, programs.InOrderReceiver)",
    "netlab's selective repeat with a window of one": (
        "from netlab_course.chapters.reliable_transfer import channel, programs\n"
        "my_wait = channel.protocol(programs.SelectiveSender, programs.SelectiveReceiver)"
    ),
    "two programs with one memory": SHARED,
}


@pytest.mark.slow
@pytest.mark.parametrize("way", list(AROUND_A_TRANSFER))
def test_a_transfer_is_made_outside_between_two_programs_that_share_nothing(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netlab_classroom.grading.judging.ExerciseSandbox", model.UnisolatedSandbox)
    chapter = master.find("reliable_transfer", ROOT)
    edition = chapter.edition("anna")
    expected = [each for each in edition.answer_cells if each.key == "stop_and_wait"]
    answers = {expected[0].key: reading.compose(edition.provided_cells, expected[0].id, AROUND_A_TRANSFER[way])}
    job = Job("anna", None, chapter.source)
    mark = Examination(job, edition, chapter.exercises()).marks(expected, answers)["stop_and_wait"]
    assert mark.points == 0, mark
