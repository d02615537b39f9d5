"""Grade a class as an instructor does, and hold its contest: how long it takes, and whether a second time and a busy machine give the same.

    python benchmarks/class.py [--submissions N] [--jobs N] [--only speed|again|busy|many|contest] [--students N] [--hand-ins N]

speed: 30 submissions of "UDP loss", each with numbers of its own, every experiment made anew; the goal is 180 s on two idle cores.
again: the class of the tests (right, wrong, broken, hostile), graded twice: all files of both gradings are compared.
many:  300 students with numbers of their own, a tenth of them hostile, within an hour: who lost points or a row, and the peak memory.
busy:  the same class with eight busy processes: the table of points is compared.
contest: 40 hand-ins, fixed windows and the opponents' own classes with other numbers, a tenth of which fail; some race a second time.
The last line is "all as it must be", or what is not; the exit code follows it.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import nbformat
from harness import busy_processes, used_s

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from netlab.base import cache  # noqa: E402
from netlab_classroom.contest import board, contest, race  # noqa: E402
from netlab_classroom.contest.opponents import OPPONENTS  # noqa: E402
from netlab_classroom.grading import grade, master, merged, report_tables, reports  # noqa: E402
from netlab_classroom.grading.grade import GradedClass  # noqa: E402
from netlab_classroom.grading.roster import RosterEntry  # noqa: E402
from netlab_course import authoring  # noqa: E402
from tests.grading import classroom  # noqa: E402
from tests.grading.hostile_pupils import hostile  # noqa: E402
from tests.grading.whole_class import whole_class  # noqa: E402

CACHE = cache.root()
TOPIC, GOAL_S, NUM_BUSY, CPU_S, MANY_S = "udp_loss", 180.0, 8, 5.0, 3600.0
ANSWERS = {
    "right": ({}, 9.0),
    "slip": ({"limit": "def goodput_limit_mbps(rate_mbps, payload_bytes, framing_bytes):\n    return rate_mbps"}, 7.0),
    "half": ({"search": None, "counted": None}, 5.0),
}
"""Kinds of submissions: what differs from the solution (None: as it was handed out), and the points for answers in code."""

CONTEST_SEED, NUM_REPEATED = "benchmark", 4
OPPONENT_SOURCES = [inspect.getsource(opponent) for opponent in OPPONENTS.values()]
ENDS = (2, 12), (0.5, 2.0), (0.4, 0.9)
FIXED_WINDOW = """
class Fixed:
    def on_start(self, flow):
        flow.cwnd_segments = {window}

    def on_ack(self, ack):
        pass
"""
FAILING = (
    "class Typo:\n    def on_acks(self, ack):\n        pass\n",
    "class Raises:\n    def on_ack(self, ack):\n        return ack.rtt\n",
    "class Loops:\n    def on_ack(self, ack):\n        while True:\n            pass\n",
    "My control looks at the delay.\n",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", choices=("speed", "again", "busy", "many", "contest"))
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--hand-ins", type=int, default=40)
    options = parser.parse_args()
    # A shell starts what it puts into the background with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"{options.jobs} submissions side by side, load of the machine {os.getloadavg()[0]:.1f}", flush=True)
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="netlab-class-") as name:
        place = Path(name)
        if options.only in (None, "speed"):
            wrong += speed(place, options.submissions, options.jobs)
        if options.only in (None, "again", "busy"):
            wrong += class_again(place, options.jobs, options.only)
        if options.only == "many":
            wrong += measure_large_class(place, options.students, options.jobs)
        if options.only == "contest":
            wrong += contests(place, options.hand_ins, options.jobs)
    print("all as it must be" if not wrong else "\n".join(f"WRONG: {each}" for each in wrong))
    return 1 if wrong else 0


def speed(place: Path, number: int, jobs: int) -> list[str]:
    chapter = master.find(TOPIC, ROOT)
    entries, expected = [], {}
    (place / "in").mkdir()
    for each in range(number):
        kind = list(ANSWERS)[each % len(ANSWERS)]
        student = f"{kind}-{each:03d}"
        entries.append(RosterEntry(student, {"token": f"token-{each}"}))
        expected[student] = ANSWERS[kind][1]
        (place / "in" / f"{student}.ipynb").write_text(submission(chapter, f"token-{each}", ANSWERS[kind][0]))
    graded, wall_s, cpu_s = timed_grading(chapter, place / "in", place / "speed", jobs, entries=entries)
    awarded = {result["student"]: report_tables.total(result) for result in graded.results}
    print(
        f"speed: {number} submissions of {TOPIC}: {wall_s:.0f} s of wall time, {cpu_s:.0f} s of processor time "
        f"({cpu_s / number:.1f} s each); goal {GOAL_S * number / 30:.0f} s, ratio {wall_s / (GOAL_S * number / 30):.2f}",
        flush=True,
    )
    wrong = [
        f"{student}: {awarded.get(student)} points for {points}"
        for student, points in expected.items()
        if awarded.get(student) != points
    ]
    return wrong + ([f"{wall_s:.0f} s is more than {GOAL_S:g} s for 30"] if wall_s > GOAL_S * number / 30 else [])


def measure_large_class(place: Path, number: int, jobs: int) -> list[str]:
    """A large class: what the hostile tenth costs the others."""
    victim = place / "home"
    victim.mkdir()
    (victim / "id_rsa").write_text("1\n")
    (place / "in").mkdir()
    entries, expected = [], {}
    with classroom.sample_chapter() as chapter:
        attackers = [pupil for pupil in hostile(victim) if pupil.suffix == ".ipynb"]
        for each in range(number):
            student, token = f"s{each:03d}", f"token-{each}"
            path = place / "in" / f"{student}.ipynb"
            entries.append(RosterEntry(student, {"token": token}))
            if each % 10 == 9:
                pupil = attackers[each // 10 % len(attackers)]
                pupil.write(path)
                entries[-1] = RosterEntry(student, {"token": ""})
                expected[student] = pupil.expected
            else:
                path.write_text(nbformat.writes(classroom.notebook(dict(classroom.RIGHT_ANSWERS), token)))
                expected[student] = dict(classroom.ALL_POINTS)
        graded, wall_s, cpu_s = timed_grading(chapter, place / "in", place / "many", jobs, entries=entries)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wrong = mark_differences("many", graded, expected)
    print(
        f"many: {number} students, {number // 10} of them hostile: {wall_s:.0f} s, {cpu_s:.0f} s of processor time, the grader's peak "
        f"{peak_mb:.0f} MB; {len(graded.results)} rows, {len(wrong)} other than they must be",
        flush=True,
    )
    return wrong + ([f"{wall_s:.0f} s is more than an hour"] if wall_s > MANY_S else [])


def hand_ins(number: int) -> dict[str, str]:
    """Return a number of submissions, the same ones each time."""
    chance = random.Random(1)  # noqa: S311 (no secret)
    found = {}
    for each in range(number):
        window, queued, gain, factor = chance.choice((4, 8, 16, 32, 64, 128)), *(chance.uniform(*ends) for ends in ENDS)
        source = (FIXED_WINDOW.format(window=window), *OPPONENT_SOURCES)[each % 4]
        for old, new in {
            ": Any": "",
            "MIN_SEGMENTS": "4",
            "QUEUED_SEGMENTS = 4.0": f"QUEUED_SEGMENTS = {queued:.1f}",
            "GAIN = 10, 1.1": f"GAIN = 10, {gain:.2f}",
            "0.75 *": f"{factor:.2f} *",
        }.items():
            source = source.replace(old, new)
        found[f"student-{each:02d}"] = FAILING[each // 10 % len(FAILING)] if each % 10 == 9 else source
    return found


def contests(place: Path, number: int, jobs: int) -> list[str]:
    """A class in the contest, and some of it a second time: the scores are the same to the digit."""
    wrong = []
    (place / "in").mkdir()
    for student, source in hand_ins(number).items():
        (place / "in" / f"{student}.py").write_text(source)
    began_s = time.monotonic()
    held = contest.run_contest([place / "in"], place / "board", seed=CONTEST_SEED, jobs=jobs)
    wall_s = time.monotonic() - began_s
    board.write(held, place / "board")
    statuses = [row["status"] for row in held.rows if row["status"] in (race.RACED, race.FAILED, race.NOT_TAKEN)]
    print(f"contest: {len(held.rows)} hand-ins: {wall_s:.0f} s; {Counter(statuses)}")
    for row in [*held.rows[:5], *held.reference_rows]:
        print(f"  {row['student']:12} {row['class']:10} {row['total']:6.2f}")
    if len(statuses) != number:
        wrong.append("a submission has no row, or was not raced although it is not at fault")
    if some := [row for row in held.rows if row["status"] == race.RACED][:NUM_REPEATED]:
        paths = [place / "in" / f"{row['student']}.py" for row in some]
        again = contest.run_contest(paths, place / "again", seed=CONTEST_SEED, jobs=jobs)
        scores = {row["student"]: row["scores"] for row in again.rows}
        others = [row["student"] for row in some if scores[row["student"]] != row["scores"]]
        wrong += [f"{student} has other scores the second time" for student in others]
    return wrong


def submission(chapter: master.Master, token: str, changes: dict[str, str | None]) -> str:
    """A notebook for students with the solution's answers, some of them changed."""
    notebook = authoring.student_notebook(chapter.source, token)
    edition = chapter.edition(token)
    solved = {cell.id: cell.source for cell in edition.solved}
    answer_cells = {each.id: each for each in edition.answer_cells}
    for cell in notebook.cells:
        if cell.id in answer_cells and answer_cells[cell.id].name:
            change = changes.get(cell.id, solved[cell.id])
            cell.source = cell.source if change is None else change
    text: str = nbformat.writes(notebook)
    return text


def class_again(place: Path, jobs: int, only: str | None) -> list[str]:
    victim = place / "home"
    victim.mkdir()
    (victim / "id_rsa").write_text("1\n")
    wrong = []
    with classroom.sample_chapter() as chapter:
        pupils = whole_class(victim)
        classroom.write(place / "class", pupils)
        old_digests = digests(place / "class") | digests(victim)
        expected = {pupil.name: pupil.expected for pupil in pupils}
        first, first_s, cpu_s = timed_grading(chapter, place / "class", place / "first", jobs)
        wrong += mark_differences("first", first, expected)
        print(f"class of {len(pupils)}: {first_s:.0f} s, {cpu_s:.0f} s of processor time", flush=True)
        if only in (None, "again"):
            _, again_s, _ = timed_grading(chapter, place / "class", place / "second", jobs)
            one, other = digests(place / "first"), digests(place / "second")
            differ = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
            print(f"again: {again_s:.0f} s; {len(one)} files, {len(differ)} differ", flush=True)
            wrong += [f"{name} differs from grading to grading" for name in differ]
        if only in (None, "busy"):
            with busy_processes(NUM_BUSY):
                busy_marks, busy_s, _ = timed_grading(chapter, place / "class", place / "busy", jobs)
            print(f"with {NUM_BUSY} busy processes: {busy_s:.0f} s, {busy_s / first_s:.1f} times as long", flush=True)
            wrong += mark_differences("busy", busy_marks, expected)
        if digests(place / "class") | digests(victim) != old_digests:
            wrong.append("a file outside the output changed")
    return wrong


def timed_grading(
    chapter: master.Master, submissions: Path, output: Path, jobs: int, entries: list[RosterEntry] | None = None
) -> tuple[GradedClass, float, float]:
    """Grade and write all reports, with no experiment known before; wall and processor time in s."""
    # A cache with netlab's kernels, without its runs.
    os.environ.update(NETLAB_SHARED=str(CACHE), NETLAB_CACHE=str(output.with_name(f"{output.name}-cache")))
    cpu_s, begun_s = used_s(), time.monotonic()
    graded = grade.grade(chapter, [submissions], output, entries=entries or (), jobs=jobs, cpu_s=CPU_S, progress=False)
    reports.write(graded, output)
    merged.write(graded, output / "merged")
    return graded, time.monotonic() - begun_s, used_s() - cpu_s


def mark_differences(what: str, graded: GradedClass, expected: dict[str, dict[str, tuple[str, float]]]) -> list[str]:
    """Return the differences between given and expected points."""
    marks_of = {
        result["student"]: {mark["key"]: (mark["status"], mark["points"]) for mark in result["exercises"]}
        for result in graded.results
    }
    return [
        f"{what}: {name}: {marks_of.get(name)} for {marks}"
        for name, marks in expected.items()
        if marks_of.get(name) != marks
    ] + [f"{what}: {student} was not graded: {reason}" for student, reason in graded.failures.items()]


def digests(place: Path) -> dict[str, str]:
    """SHA-256 of each file below a directory, by its place in it."""
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(place.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


if __name__ == "__main__":
    sys.exit(main())
