"""Students of a class who are honest: right in many ways, wrong in the usual ones, or with broken files; each with the points
that the student must get.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

import netlab_course.chapters
from netlab_classroom.grading import master
from netlab_classroom.grading.master import Master
from netlab_course import authoring

SAMPLE = Path(__file__).parent / "sample"
SOURCE = SAMPLE / "solutions" / "00_sample.py"
MAX_POINTS = {"limit": 3, "counted": 1, "overload_run": 2, "why-words": 2, "letter": 1, "search": 2}
ALL_POINTS = {
    key: ("waiting for review", 0) if key == "why-words" else ("passed", points) for key, points in MAX_POINTS.items()
}
NO_POINTS = dict.fromkeys(MAX_POINTS, ("not attempted", 0))
RIGHT_ANSWERS = {
    "limit": "def limit_mbps(rate_mbps, payload_bytes):\n    return rate_mbps * payload_bytes / (payload_bytes + 42)",
    "counted": "counted_bytes = own.rate_mbps * own.payload_bytes / measured_mbps",
    "overload_run": "my_run = nl.run(network, [nl.Udp('h1', 'h2', rate_mbps=overload_mbps)], duration_s=3)",
    "why-words": "Why does less arrive than is sent? Two sentences.\n\n*Your answer:* The queue overflows.",
    "letter": "first_full = 'b'",
    "search": (
        "def search(probe):\n    offered = 0.01\n    while probe(offered) > 0.99 * offered:\n        offered *= 2\n"
        "    return probe(offered)"
    ),
}
ANNA = "anna"
KINDS = {
    1: "read the solutions, the class list, other work", 2: "import checks and examiners", 3: "garbage collector and frames",
    4: "environment and /proc", 5: "become root", 6: "the kernel's surface", 7: "network", 8: "forge the last word",
    9: "forge a fault of the provided cells", 10: "forge questions", 11: "more probes than allowed",
    12: "a number that equals all", 13: "NaN", 14: "an object in place of a number", 15: "huge values",
    16: "patch what judges", 17: "a run that was not made", 18: "a run with other results", 19: "broken scenarios",
    20: "paths and shells in scenarios", 21: "a flow in addition to the requested one", 22: "a command in a measurement",
    23: "netlab's own function", 24: "a formula for a measured number", 25: "leave something for the next exercise",
    26: "fill the disk", 27: "loops, fork bombs, sleep", 28: "memory, output, exit", 29: "many runs", 30: "HTML in words",
    31: "formulas in names", 32: "escapes in names", 33: "links and pipes", 34: "odd JSON", 35: "a JSON bomb",
    36: "paths in students' names", 37: "slow patterns and halves of characters", 38: "deep programs", 39: "edited checks, and nbval",
}  # fmt: skip
"""The kinds of attack. Each is tried by a pupil of `hostile`, or by the test in `OTHER_PROGRAMS`."""
OTHER_PROGRAMS = {
    21: "test_shortcuts.test_the_cheapest_ways_around_an_exercise_get_no_point_or_a_flag",
    22: "test_shortcuts.test_a_command_in_a_measurement_gets_no_part_of_the_points",
    31: "test_command.test_names_are_harmless_in_every_table_and_on_the_terminal",
    32: "test_command.test_names_are_harmless_in_every_table_and_on_the_terminal",
    36: "test_roster.test_a_students_name_is_no_path",
}
LIMIT = "def limit_mbps(rate_mbps, payload_bytes):\n    "


@contextmanager
def sample_chapter() -> Iterator[Master]:
    """The sample chapter, importable while this lasts."""
    place = str(SAMPLE / "chapters")
    netlab_course.chapters.__path__.append(place)
    try:
        yield master.find("sample", SAMPLE)
    finally:
        netlab_course.chapters.__path__.remove(place)


def notebook(answers: dict[str, str | None], token: str = "") -> Any:
    """A submission with these answers; None leaves a cell out."""
    created = authoring.student_notebook(SOURCE, token)
    created.cells = [cell for cell in created.cells if answers.get(cell.id, "") is not None]
    for cell in created.cells:
        cell.source = answers.get(cell.id) or cell.source
    return created


@dataclass(frozen=True)
class Pupil:
    """One of the class.

    Attributes
    ----------
    name : str
        Its file's name.
    write : callable
        Writes the file, given its path.
    expected : dict
        Status and points of each exercise.
    flags : set of str
        Kinds of flags that it must get.
    token : str
        Whose numbers it has.
    kinds : tuple of int
        Kinds of attack that it tries, by their numbers in `KINDS`.
    answers : dict
        Its answers that are not the right ones, by exercise.
    """

    name: str
    write: Callable[[Path], object]
    expected: dict[str, tuple[str, float]]
    flags: set[str] = field(default_factory=set)
    token: str = ""
    suffix: str = ".ipynb"
    kinds: tuple[int, ...] = ()
    answers: dict[str, str | None] = field(default_factory=dict)


def pupil_with_answers(
    name: str, answers: dict[str, str | None], changed: dict[str, tuple[str, float]], **more: Any
) -> Pupil:
    token = more.get("token", "")

    def write(path: Path) -> None:
        path.write_text(nbformat.writes(notebook({**RIGHT_ANSWERS, **answers}, token)))

    return Pupil(name, write, {**ALL_POINTS, **changed}, answers=answers, **more)


def pupil_with_bytes(name: str, data: bytes, expected: dict[str, tuple[str, float]], **more: Any) -> Pupil:
    return Pupil(name, lambda path: path.write_bytes(data), expected, **more)


def pupil_with_change(
    name: str, change: Callable[[Any], Any], expected: dict[str, tuple[str, float]], **more: Any
) -> Pupil:
    """A right notebook, its JSON changed."""

    def write(path: Path) -> None:
        path.write_text(json.dumps(change(json.loads(nbformat.writes(notebook(dict(RIGHT_ANSWERS)))))))

    return Pupil(name, write, expected, **more)


def pupils_as_one(pupils: list[Pupil]) -> Pupil:
    """Return one student with the answers of these, who differ from the right ones in different exercises."""
    answers = {key: answer for pupil in pupils for key, answer in pupil.answers.items()}
    assert len(answers) == sum(len(pupil.answers) for pupil in pupils), "two answers to an exercise"
    assert sum(bool(pupil.flags) for pupil in pupils) <= 1, "a flag must be that of one answer"
    assert not any(pupil.token for pupil in pupils), "one student has one copy of the chapter"
    expected = {key: pupil.expected[key] for pupil in pupils for key in pupil.answers}
    flags = {flag for pupil in pupils for flag in pupil.flags}
    kinds = tuple(kind for pupil in pupils for kind in pupil.kinds)
    return pupil_with_answers("_and_".join(pupil.name for pupil in pupils), answers, expected, flags=flags, kinds=kinds)


def with_some_as_one(pupils: list[Pupil], combined: list[tuple[str, ...]]) -> list[Pupil]:
    """Return the students, each tuple of names of them as one: to grade a student takes 3 s, and each exercise runs alone."""
    alone = {pupil.name: pupil for pupil in pupils}
    together = [pupils_as_one([alone.pop(name) for name in names]) for names in combined]
    return [*alone.values(), *together]


def _without_ids(document: Any) -> Any:
    document["nbformat_minor"] = 2
    for cell in document["cells"]:
        cell.pop("id")
    return document


def _format_3(document: Any) -> Any:
    cells = []
    for cell in _without_ids(document)["cells"]:
        text = cell.pop("source")
        code = cell["cell_type"] == "code"
        cells.append(
            {**cell, "input" if code else "source": text, **({"language": "python", "outputs": []} if code else {})}
        )
    return {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": cells, "metadata": {}}],
    }


def _colab(document: Any) -> Any:
    for cell in document["cells"]:
        cell["metadata"]["id"] = cell.pop("id")
    document["nbformat_minor"] = 0
    return document


def _reorder_cells(document: Any) -> Any:
    document["cells"].reverse()
    return document


def _duplicate_cells(document: Any) -> Any:
    copies = [json.loads(json.dumps(cell)) for cell in document["cells"] if cell["id"] == "letter"]
    copies[0]["source"] = "first_full = 'a'"
    place = next(place for place, cell in enumerate(document["cells"]) if cell["id"] == "letter")
    document["cells"].insert(place, copies[0])
    return document


FAILED_LIMIT_MARK = {"limit": ("failed", 0)}
UNREADABLE_MARKS = dict.fromkeys(MAX_POINTS, ("unreadable", 0))


COMBINED_SLIPS = [("slip_rate", "slip_letter"), ("slip_types", "slip_syntax")]
"""Each tuple names students of `honest` who are graded as one."""


def honest() -> list[Pupil]:
    """Return students who did the exercises, more or less."""
    pupils = [
        pupil_with_answers("right_as_taught", {}, {}),
        pupil_with_answers(
            "right_in_numpy",
            {
                "limit": LIMIT
                + "return np.float32(rate_mbps) * np.float64(payload_bytes) / (payload_bytes + 20 + 8 + 14)",
                "counted": "counted_bytes = np.array([own.payload_bytes + 42.3])",
                "letter": "first_full = ' B '",
            },
            {},
        ),
        pupil_with_answers(
            "right_with_helpers",
            {
                "limit": "def frame(payload_bytes):\n    return payload_bytes + 42\n\n"
                + LIMIT
                + "return rate_mbps * (payload_bytes / frame(payload_bytes))",
                "counted": "counted_bytes = frame(own.payload_bytes)",
                "search": "def search(probe):\n    return max(probe(x) for x in (1, 10, 100, 1e6))",
            },
            {},
        ),
        pupil_with_answers(
            "right_in_loops",
            {
                "limit": "import math\nlimit_mbps = lambda rate_mbps, payload_bytes: "
                "math.fsum([rate_mbps]) * payload_bytes / (payload_bytes + 42)",
                "overload_run": "runs = nl.sweep({f: nl.Scenario(network, [nl.Udp('h1', 'h2', rate_mbps=f * own.rate_mbps)], "
                "duration_s=2) for f in (1, 3)})\nmy_run = runs[3]",
                "counted": "total = 0\nfor _ in range(own.payload_bytes + 42):\n    total += 1\ncounted_bytes = total",
            },
            {},
        ),
        pupil_with_answers("right_own_numbers", {}, {}, token=ANNA),
        pupil_with_answers(
            "copied_figures",
            {"counted": "counted_bytes = 1042"},
            {"counted": ("failed", 0)},
            token=ANNA,
            flags={"another student's number"},
        ),
        pupil_with_answers("slip_rate", {"limit": LIMIT + "return rate_mbps"}, FAILED_LIMIT_MARK),
        pupil_with_answers(
            "slip_edge", {"limit": LIMIT + "return rate_mbps / (1 + 42 / payload_bytes)"}, {"limit": ("failed", 2)}
        ),
        pupil_with_answers(
            "slip_packet", {"counted": "counted_bytes = own.payload_bytes + 28"}, {"counted": ("failed", 0)}
        ),
        pupil_with_answers("slip_letter", {"letter": "first_full = 'a'"}, {"letter": ("failed", 0)}),
        pupil_with_answers(
            "slip_run",
            {
                "overload_run": "my_run = nl.run(network, [nl.Udp('h1', 'h2', rate_mbps=1.01 * own.rate_mbps)], duration_s=3)"
            },
            {"overload_run": ("failed", 1)},
            flags={"part of the points"},
        ),
        pupil_with_answers(
            "slip_types",
            {"limit": "limit_mbps = 4.8", "counted": "counted_bytes = '1042'", "overload_run": "my_run = climb.flows"},
            {"limit": ("failed", 0), "counted": ("failed", 0), "overload_run": ("failed", 0)},
        ),
        pupil_with_answers("slip_syntax", {"letter": "first_full = = 'b'"}, {"letter": ("failed", 0)}),
        pupil_with_answers(
            "half_finished",
            {
                key: cell.source
                for key in ("search", "why-words", "overload_run")
                for cell in notebook({}).cells
                if cell.id == key
            },
            dict.fromkeys(("search", "why-words", "overload_run"), ("not attempted", 0)),
        ),
        Pupil("untouched", lambda path: path.write_text(nbformat.writes(notebook({}))), NO_POINTS),
        pupil_with_answers("deleted_cells", {"letter": None, "letter-check": None}, {"letter": ("missing", 0)}),
        pupil_with_bytes("empty_file", b"", UNREADABLE_MARKS),
        pupil_with_bytes("corrupt", b'{"cells": [{"cell_type": "co', UNREADABLE_MARKS),
        pupil_with_bytes("printed", b"%PDF-1.7\n\xff\xfe", UNREADABLE_MARKS, suffix=".pdf"),
        pupil_with_change("reordered", _reorder_cells, ALL_POINTS),
        pupil_with_change("duplicated", _duplicate_cells, ALL_POINTS),
        pupil_with_change("lost_ids", _without_ids, {**ALL_POINTS}),
        pupil_with_change("format_3", _format_3, {**ALL_POINTS}),
        pupil_with_change("colab", _colab, {**ALL_POINTS}),
        pupil_with_change(
            "other_chapter",
            lambda document: json.loads(json.dumps(document).replace("import sample", "import bdp")),
            UNREADABLE_MARKS,
        ),
    ]
    return with_some_as_one(pupils, COMBINED_SLIPS)


def write(directory: Path, pupils: list[Pupil]) -> None:
    """Write everybody's file."""
    directory.mkdir(parents=True, exist_ok=True)
    for pupil in pupils:
        pupil.write(directory / (pupil.name + pupil.suffix))
