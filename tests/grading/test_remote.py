"""Students' classes in the sandbox, called by runs that are made outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab.base.errors import NetlabError
from netlab_classroom.grading import plain, remote, sandbox
from netlab_classroom.grading.guest_calls import StudentCodeError
from netlab_classroom.grading.laboratory import Laboratory
from netlab_classroom.grading.remote import RemoteClass
from netlab_classroom.grading.sandbox import ExerciseSandbox
from netlab_course.chapters.adaptive_video.settings import watch

pytestmark = [pytest.mark.pocket, pytest.mark.library]

RENO = """
class Reno:
    def on_start(self, flow):
        self.flow = flow

    def on_ack(self, ack):
        flow = self.flow
        if ack.may_grow and flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments
        elif ack.may_grow:
            flow.cwnd_segments += ack.delivered_segments / flow.cwnd_segments
"""
PROGRAMS = Path(__file__).parents[2] / "docs" / "how-to" / "own_control.md"


def handed_in(source: str, name: str, **limits: Any) -> RemoteClass:
    exercise = {"given": [], "answer": source, "name": name}
    return remote.isolated_class(sandbox.shared_package(), exercise, name, **limits)


def run(control: object, duration_s: float = 3) -> nl.Run:
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=20)
    return nl.run(network, [nl.Tcp("h1", "h2", congestion=control)], duration_s, progress=False)


def test_a_class_in_the_sandbox_gives_the_bytes_that_it_gives_here() -> None:
    space: dict[str, Any] = {"__name__": "here"}
    exec(RENO, space)  # noqa: S102 (ours)
    here, there = run(space["Reno"]), run(handed_in(RENO, "Reno"))
    assert there.flows.equals(here.flows) and there.intervals.equals(here.intervals)
    assert there.flows.flow.tolist() == ["h1-h2 Reno"] and there.flows.retransmits.sum() > 0


HIGHEST = """
class Highest:
    def __init__(self):
        self.asked = 0

    def on_chunk(self, buffer_s, throughput_mbps, sizes):
        self.asked += 1
        return self.asked % 2 + (throughput_mbps * 1e6 / 8 * buffer_s > sizes[2])
"""


def test_a_rule_in_the_sandbox_plays_the_video_that_it_plays_here() -> None:
    space: dict[str, Any] = {"__name__": "here"}
    exec(HIGHEST, space)  # noqa: S102 (ours)
    here, there = watch(space["Highest"], 3.0, 12), watch(handed_in(HIGHEST, "Highest"), 3.0, 12)
    assert there.history == here.history
    assert len({chunk.quality for chunk in here.history}) > 1


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("on_chunk(self, buffer_s, throughput_mbps, sizes): return 1 / 0", "division by zero"),
        ("on_chunk(self, buffer_s): return 0", r"write def on_chunk\(self, buffer_s, throughput_mbps, sizes\)"),
        ("on_chunk(self, *given): return 2.4", "must return a quality, a whole number from 0 to 4, got 2.4"),
        ("on_chunk(self, *given): return True", "got True"),
        ("on_chunk(self, *given): return 1 << 70", "must return a quality"),
        ("on_chunk(self, *given): return 5", "must return a quality, a whole number from 0 to 4, got 5"),
        ("on_ack(self, ack): return 0", "on_chunk"),
    ],
)
def test_a_rule_that_fails_or_returns_no_quality_gets_a_sentence(method: str, sentence: str) -> None:
    with pytest.raises(NetlabError, match=sentence):
        watch(handed_in(f"class Wrong:\n    def {method}\n", "Wrong"), 3.0, 2)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            "return 1 / 0",
            r"Bad.on_ack ended the run at .*ZeroDivisionError: division by zero. In line 5: .*return 1 / 0",
        ),
        ("\n        while True: pass", "more than 1 s of processor time"),
        ("import os; os._exit(3)", "its process ended with status 3"),
        ("import os; os.write(CHANNEL, b'\\xff' * 100)", "wrote into the channel to the grader"),
        (
            "import os; os.write(CHANNEL, b'\\x1a\\0\\0\\0\\x01' + b'\\xff' * 24 + b'\\0')",
            "cwnd_segments must be a number",
        ),
        ("import os; os.read(CHANNEL, 1)", "stopped answering"),
        ("import time; time.sleep(1e6)", "slept for more than"),
    ],
)
def test_failure_in_the_sandbox_ends_the_run_with_a_sentence(body: str, sentence: str) -> None:
    """Also where the student's process finds the grader's channel among its descriptors and speaks over it itself."""
    source = (
        "import os\nCHANNEL = next(n for n in range(3, 99) if os.path.exists(f'/proc/self/fd/{n}') and"
        " 'netlab' in os.readlink(f'/proc/self/fd/{n}'))\nclass Bad:\n    def on_start(self, flow): self.flow = flow\n"
        f"    def on_ack(self, ack): {body}\n"
    )
    with pytest.raises(StudentCodeError, match=sentence):
        run(handed_in(source, "Bad", cpu_s=1))


def test_a_budget_of_calls_ends_a_run() -> None:
    with pytest.raises(StudentCodeError, match="called more than 50 times"):
        run(handed_in(RENO, "Reno", max_calls=50))


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("class Bad(:", "SyntaxError"),
        ("x = 1", "it has no Bad"),
        ("class Bad:\n    def on_acks(self, ack): pass", "has a method that nothing calls: .*on_acks.*on_ack"),
        (
            "import netlab as nl\nnl.run(nl.topologies.dumbbell(), [nl.Tcp('h1', 'h3')])\nclass Bad: pass",
            "no experiments are made here",
        ),
    ],
)
def test_code_without_a_class_is_reported(source: str, sentence: str) -> None:
    with pytest.raises(StudentCodeError, match=sentence):
        run(handed_in(source, "Bad"))


EXERCISE = {
    "topic": "udp_loss", "token": "", "numbers": {"pairs": []}, "key": "k", "name": "found",
    "given": ["import netlab as nl"], "calls": [],
}  # fmt: skip


def measured_answer(answer: str) -> tuple[Any, Laboratory]:
    """Return the result of an answer that makes runs with its own classes, and the laboratory that made them."""
    laboratory = Laboratory("1")

    def reply(asked: Any, line: Any) -> Any:
        own = remote.requested_proxies(asked, line)
        return laboratory.measure(asked["scenario"], graded=True, own=own).to_dict()

    (outcome,) = ExerciseSandbox(sandbox.shared_package()).work([{**EXERCISE, "answer": answer}], reply)
    assert "value" in outcome.message, outcome
    return plain.decode(outcome.message["value"]), laboratory


def test_an_answers_runs_call_its_own_objects_and_are_kept_for_the_judge() -> None:
    """Two windows, as objects of one class, in one answer: the judge finds the run of each."""
    found, laboratory = measured_answer(
        """
class Window:
    def __init__(self, segments): self.segments = segments
    def on_start(self, flow): flow.cwnd_segments = self.segments
    def on_ack(self, ack): pass
network = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=50, queue_packets=100)
found = [nl.run(network, [nl.Tcp("h1", "h2", congestion=Window(n))], duration_s=3) for n in (5, 10)]
"""
    )
    five, ten = (laboratory.measure(each.scenario, graded=True) for each in found)
    assert 1.9 < float(ten.flows.goodput_mbps.iloc[0] / five.flows.goodput_mbps.iloc[0]) < 2.1


def test_an_answers_programs_are_counted_outside() -> None:
    example = PROGRAMS.read_text().split("```python\n")[2].partition("```")[0]
    found, laboratory = measured_answer(example.replace("run = nl.run", "found = run = nl.run"))
    space: dict[str, Any] = {"__name__": "here"}
    seed = laboratory.measure(found.scenario, graded=True).settings["scenario"]["seed"]
    exec(example.replace("duration_s=10", f"duration_s=10, seed={seed}"), space)  # noqa: S102 (ours)
    there, here = laboratory.measure(found.scenario, graded=True).flows, space["run"].flows
    assert there.equals(here)
