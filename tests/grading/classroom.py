"""A class of forty: right in many ways, wrong in the usual ones, broken, and hostile; each with the points that it must get.

`python -m tests.grading.classroom DIRECTORY` writes the files, to look at or to grade by hand.
"""

from __future__ import annotations

import json
import os
import sys
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
OF = {"limit": 3, "counted": 1, "overload_run": 2, "why-words": 2, "letter": 1, "search": 2}
FULL = {key: ("waiting for review", 0) if key == "why-words" else ("passed", points) for key, points in OF.items()}
NOTHING = dict.fromkeys(OF, ("not attempted", 0))
RIGHT = {
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
    20: "paths and shells in scenarios", 21: "a flow beside the one asked for", 22: "a command in a measurement",
    23: "netlab's own function", 24: "a formula for a measured number", 25: "leave something for the next exercise",
    26: "fill the disk", 27: "loops, fork bombs, sleep", 28: "memory, output, exit", 29: "many runs", 30: "HTML in words",
    31: "formulas in names", 32: "escapes in names", 33: "links and pipes", 34: "odd JSON", 35: "a JSON bomb",
    36: "paths in students' names", 37: "slow patterns and halves of characters", 38: "deep programs", 39: "edited checks, and nbval",
}  # fmt: skip
"""The kinds of attack. Each is tried by a pupil of `hostile`, or by the test in `ELSEWHERE`."""
ELSEWHERE = {
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
    made = authoring.student_notebook(SOURCE, token)
    made.cells = [cell for cell in made.cells if answers.get(cell.id, "") is not None]
    for cell in made.cells:
        cell.source = answers.get(cell.id) or cell.source
    return made


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


def _answering(name: str, answers: dict[str, str | None], changed: dict[str, tuple[str, float]], **more: Any) -> Pupil:
    token = more.get("token", "")

    def write(path: Path) -> None:
        path.write_text(nbformat.writes(notebook({**RIGHT, **answers}, token)))

    return Pupil(name, write, {**FULL, **changed}, answers=answers, **more)


def _together(pupils: list[Pupil]) -> Pupil:
    """Return one student with the answers of these, who differ from the right ones in different exercises."""
    answers = {key: answer for pupil in pupils for key, answer in pupil.answers.items()}
    assert len(answers) == sum(len(pupil.answers) for pupil in pupils), "two answers to an exercise"
    assert not any(pupil.flags or pupil.token for pupil in pupils), "a flag must be that of one answer"
    expected = {key: pupil.expected[key] for pupil in pupils for key in pupil.answers}
    kinds = tuple(kind for pupil in pupils for kind in pupil.kinds)
    return _answering("_and_".join(pupil.name for pupil in pupils), answers, expected, kinds=kinds)


def _bytes(name: str, data: bytes, expected: dict[str, tuple[str, float]], **more: Any) -> Pupil:
    return Pupil(name, lambda path: path.write_bytes(data), expected, **more)


def _changed(name: str, change: Callable[[Any], Any], expected: dict[str, tuple[str, float]], **more: Any) -> Pupil:
    """A right notebook, its JSON changed."""

    def write(path: Path) -> None:
        path.write_text(json.dumps(change(json.loads(nbformat.writes(notebook(dict(RIGHT)))))))

    return Pupil(name, write, expected, **more)


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


def _reordered(document: Any) -> Any:
    document["cells"].reverse()
    return document


def _duplicated(document: Any) -> Any:
    copies = [json.loads(json.dumps(cell)) for cell in document["cells"] if cell["id"] == "letter"]
    copies[0]["source"] = "first_full = 'a'"
    place = next(place for place, cell in enumerate(document["cells"]) if cell["id"] == "letter")
    document["cells"].insert(place, copies[0])
    return document


def _forged_checks(document: Any) -> Any:
    for cell in document["cells"]:
        if cell["id"].endswith("-check"):
            cell["source"] = "print('✓ all trials agree')"
        if cell["id"] in ("limit", "counted"):
            cell["source"] = {"limit": LIMIT + "return 1.0", "counted": "counted_bytes = 1.0"}[cell["id"]]
    return document


TOGETHER = [
    ("stateful", "float_subclass", "fake_run", "probes_on", "asks_for_more"),
    ("lookup_table", "metaclass", "broken_run", "imports_checks"),
    ("deep", "by_formula", "many_runs", "environment"),
    ("library_answer", "becomes_root", "markup"),
    ("nan", "network"),
]
"""Each tuple names students of `hostile` who are graded as one, because grading a student takes 3 s; each exercise runs alone."""
FAILED_LIMIT = {"limit": ("failed", 0)}
CRASHED = ("crashed", 0)
UNREADABLE = dict.fromkeys(OF, ("unreadable", 0))


def hostile(victim: Path) -> list[Pupil]:
    """Return students who try to get points, or to do harm, by other means; `victim` is a directory that must not change."""

    def steals(path: str) -> str:
        return LIMIT + f"return float(open({path!r}).read().split()[0])"

    pupils = [
        _changed(
            "forged_checks",
            _forged_checks,
            {**FULL, "limit": ("failed", 0), "counted": ("failed", 0)},
            flags={"edited check"},
            kinds=(39,),
        ),
        _answering(
            "patches_netlab",
            {
                "limit": "import netlab_course.checks as c\nc.Check.judge = lambda *a: c.Result('', c.Status.PASSED, ())\n"
                "c.Function.judge = c.Number.judge = c.Check.judge\n" + LIMIT + "return 1.0"
            },
            FAILED_LIMIT,
            flags={"access to answers"},
            kinds=(16,),
        ),
        _answering(
            "patches_numpy",
            {
                "counted": "import numpy as np\nnp.isclose = np.allclose = lambda *a, **k: True\nnp.abs = lambda x: 0\ncounted_bytes = 3.0"
            },
            {"counted": ("failed", 0)},
            flags={"access to answers"},
        ),
        _answering(
            "patches_builtins",
            {
                "limit": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.all = lambda x: True\n"
                + LIMIT
                + "return 1.0"
            },
            FAILED_LIMIT,
            flags={"access to answers"},
        ),
        _answering(
            "reads_reference",
            {"limit": "limit_mbps = chapter.check.limit.reference"},
            FAILED_LIMIT,
            flags={"access to answers"},
        ),
        _answering(
            "reads_key",
            {
                "limit": steals(str(SAMPLE / "solutions" / "examiners" / "sample.py")),
                "counted": f"counted_bytes = open({str(victim / 'id_rsa')!r})",
            },
            {**FAILED_LIMIT, "counted": ("failed", 0)},
            flags={"access to answers"},
            kinds=(1,),
        ),
        _answering(
            "reads_others",
            {"letter": f"import os\nfirst_full = 'b' if os.listdir({str(victim)!r}) else 'a'"},
            {"letter": ("failed", 0)},
            flags={"access to answers"},
            kinds=(1,),
        ),
        _answering(
            "exits", {"limit": "import os\nos._exit(0)"}, {"limit": CRASHED}, flags={"access to answers"}, kinds=(28,)
        ),
        _answering(
            "kills",
            {
                "limit": "import os\nfor pid in (-1, 0, 1, os.getppid()):\n    try:\n        os.kill(pid, 9)\n"
                "    except OSError:\n        pass"
            },
            FAILED_LIMIT,
            flags={"access to answers"},
        ),
        _answering(
            "fork_bomb",
            {"limit": "import os\nwhile True:\n    os.fork()"},
            {"limit": ("failed", 0)},
            flags={"access to answers"},
            kinds=(27,),
        ),
        _answering("memory_bomb", {"limit": LIMIT + "return len(bytearray(8 << 30))"}, FAILED_LIMIT, kinds=(28,)),
        _answering(
            "flood",
            {
                "limit": "for _ in range(20000):\n    print('x' * 1000)\n" + RIGHT["limit"],
                "letter": "first_full = 'b' * 10**7",
            },
            {"letter": ("failed", 0)},
            kinds=(15, 28),
        ),
        _answering("loops", {"limit": "while True:\n    pass"}, {"limit": ("timed out", 0)}, kinds=(27,)),
        _answering(
            "sleeps",
            {"letter": "import time\ntime.sleep(10**9)\nfirst_full = 'b'"},
            {"letter": ("timed out", 0)},
            kinds=(27,),
        ),
        _answering(
            "forges_messages",
            {
                "limit": "import os\nfor number in range(3, 64):\n    try:\n"
                '        os.write(number, b\'R{"value": {"verdict": "passed"}}\\n\')\n'
                "    except OSError:\n        pass\n" + RIGHT["limit"]
            },
            FAILED_LIMIT,
            kinds=(8,),
        ),
        Pupil("symlink", lambda path: path.symlink_to(victim / "id_rsa"), UNREADABLE, kinds=(33,)),
        Pupil("pipe", os.mkfifo, UNREADABLE, kinds=(33,)),
        _answering(
            "nan",
            {"limit": LIMIT + "return float('nan')", "counted": "counted_bytes = float('nan')"},
            {**FAILED_LIMIT, "counted": ("failed", 0)},
            kinds=(13,),
        ),
        _answering(
            "float_subclass",
            {
                "counted": "class Any(float):\n    def __eq__(self, other): return True\n    def __sub__(self, other): return 0.0\n"
                "    def __abs__(self): return 0.0\n    def __float__(self): return 1042.0\n    __hash__ = None\ncounted_bytes = Any(7)"
            },
            {"counted": ("failed", 0)},
            kinds=(12,),
        ),
        _answering(
            "stateful",
            {
                "limit": "calls = []\n"
                + LIMIT
                + "calls.append(1)\n    return 10 * 500 / 542 if len(calls) == 1 else 5 * 1000 / 1042"
            },
            FAILED_LIMIT,
        ),
        _answering(
            "lookup_table",
            {
                "limit": LIMIT
                + "return {(10, 500): 10 * 500 / 542, (5, 1000): 5 * 1000 / 1042}[rate_mbps, payload_bytes]"
            },
            FAILED_LIMIT,
        ),
        _answering("deep", {"limit": LIMIT + "return limit_mbps(rate_mbps, payload_bytes)"}, FAILED_LIMIT),
        _bytes("deep_json", b"[" * 200_000 + b"]" * 200_000, UNREADABLE, kinds=(34,)),
        _bytes("json_bomb", b'{"cells": [], "x": [' + b"[]," * 12_000_000 + b"[]]}", UNREADABLE, kinds=(35,)),
        *more_hostile(),
        Pupil("huge", _huge, UNREADABLE),
    ]
    alone = {pupil.name: pupil for pupil in pupils}
    together = [_together([alone.pop(name) for name in names]) for names in TOGETHER]
    return [*alone.values(), *together]


FORGES = """import os, stat
def forge(said):
    for number in range(3, 64):
        try:
            stat.S_ISFIFO(os.fstat(number).st_mode) and os.write(number, said)
        except OSError:
            pass
"""


def _letter(name: str, code: str, *kinds: int, **more: Any) -> Pupil:
    """Answers right only if something succeeds that must not."""
    body = "\n".join(f"    {line}" for line in code.split("\n"))
    source = f"first_full = 'a'\ntry:\n{body}\n    first_full = 'b'\nexcept BaseException:\n    pass"
    return _answering(name, {"letter": source}, {"letter": ("failed", 0)}, kinds=kinds, **more)


def more_hostile() -> list[Pupil]:
    """More of them, each of another kind."""
    says = b"Give full points."
    forged = FORGES + "forge(b'R{%s}\\n')\nos._exit(0)"
    return [
        _letter(
            "imports_checks", "from netlab_course.chapters.sample import check\ncheck.Checks(own).letter.answer[0]", 2
        ),
        _letter(
            "looks_around",
            "import gc, sys\nfound = [o for o in gc.get_objects() if type(o).__module__ == 'netlab_course.checks']\n"
            "frame = sys._getframe()\nwhile frame:\n    found += [v for v in frame.f_locals.values() if hasattr(v, 'judge')]\n"
            "    frame = frame.f_back\nfound[0].judge",
            3,
            flags={"access to answers"},
        ),
        _letter(
            "environment", "text = open('/proc/1/environ').read() + open('/proc/2/environ').read()\nassert text", 4
        ),
        _letter("becomes_root", "import os\nos.setuid(0)", 5),
        _letter(
            "kernel_calls",
            "import ctypes, os\ncall = ctypes.CDLL(None).syscall\n"
            "attach, new_user = (101, 16, os.getppid(), 0, 0), (272, 0x10000000)\n"
            "others = [(number, 0, 0, 0) for number in (165, 246, 304, 321, 323, 425)]\n"
            "assert any(call(*words) >= 0 for words in [attach, new_user, *others])",
            6,
            flags={"access to answers"},
        ),
        _letter("network", "import socket\nsocket.create_connection(('127.0.0.1', 22), 5)", 7),
        _answering(
            "forges_fault",
            {"limit": forged % f'"provided": "{says.decode()}"', "counted": forged % r'"error": "\\ud800"'},
            {"limit": CRASHED, "counted": ("failed", 0)},
            kinds=(9, 37),
        ),
        _letter(
            "asks_for_more",
            "from netlab_classroom.grading import runner\nrunner.ask(runner.Laboratory.stream, {'kind': 'points', 'number': 9})",
            10,
        ),
        _answering(
            "probes_on",
            {
                "search": "def search(probe):\n    for number in range(1000):\n        last = probe(number + 1)\n    return last"
            },
            {"search": ("failed", 0)},
            kinds=(11,),
        ),
        _answering(
            "metaclass",
            {"counted": "class Any:\n    def __call__(self, *a, **k): return self\ncounted_bytes = Any()"},
            {"counted": ("failed", 0)},
            kinds=(14,),
        ),
        _answering(
            "fake_run",
            {
                "overload_run": "my_run = nl.run(network, [nl.Udp('h1', 'h2', rate_mbps=0.1)], duration_s=3)\n"
                "my_run.flows['loss_rate'] = 0.9\nmy_run.settings['scenario']['traffic'][0]['rate_mbps'] = 0.1"
            },
            {"overload_run": ("failed", 0)},
            kinds=(17, 18),
        ),
        _answering(
            "broken_run",
            {
                "overload_run": "my_run = nl.run(network, [nl.Udp('h1', '../h2', rate_mbps=float('nan'))], duration_s=-1)"
            },
            {"overload_run": ("failed", 0)},
            kinds=(19, 20),
        ),
        _answering(
            "library_answer",
            {
                "limit": LIMIT
                + "return vars(vars(nl)['theory'])['udp_' + 'goodput_limit_mbps'](rate_mbps, payload_bytes)"
            },
            FAILED_LIMIT,
            kinds=(23,),
        ),
        _answering("by_formula", {"counted": "counted_bytes = own.payload_bytes + 42"}, {}, kinds=(24,)),
        _answering(
            "persists",
            {
                "limit": "for place in ('/tmp/x', '/dev/shm/x', '/tmp/home/sitecustomize.py'):\n    try:\n"
                "        open(place, 'w').write('import os')\n    except OSError:\n        pass\n" + RIGHT["limit"],
                "letter": "import os\nfirst_full = 'b' if os.path.exists('/tmp/x') or os.path.exists('/dev/shm/x') else 'a'",
            },
            {"letter": ("failed", 0)},
            flags={"access to answers"},
            kinds=(25,),
        ),
        _answering(
            "fills_disk",
            {"limit": "with open('/tmp/home/x', 'wb') as file:\n    while True: file.write(bytes(1 << 20))"},
            FAILED_LIMIT,
            flags={"access to answers"},
            kinds=(26,),
        ),
        _answering(
            "many_runs",
            {"overload_run": "my_run = nl.run(network, [nl.Udp('h1', 'h2', rate_mbps=20)], duration_s=4000)"},
            {"overload_run": ("failed", 0)},
            kinds=(29,),
        ),
        _answering(
            "markup",
            {
                "why-words": "Why does less arrive than is sent? Two sentences.\n\n*Your answer:* </pre><script>alert(1)</script>"
            },
            {},
            kinds=(30,),
        ),
        _changed("newlines", _with_newlines, FULL, kinds=(37,)),
        _answering(
            "deep_syntax",
            {
                "limit": LIMIT + "return " + "1+" * 1500 + "1",
                "counted": "counted_bytes = " + "-" * 3000 + "1",
                "letter": "first_full = " + "(" * 150 + "'b'" + ")" * 150,
            },
            {"limit": ("failed", 0), "counted": ("failed", 0), "letter": ("passed", 1)},
            kinds=(38,),
        ),
    ]


def _with_newlines(document: Any) -> Any:
    """Lines that a pattern may cross, in a cell of the student's own."""
    cell: dict[str, Any] = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": None}
    return {**document, "cells": [{**cell, "source": "\n" * 400_000}, *document["cells"]]}


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b'{"cells": [')
        file.truncate(100 << 20)


def honest() -> list[Pupil]:
    """Return students who did the exercises, more or less."""
    return [
        _answering("right_as_taught", {}, {}),
        _answering(
            "right_in_numpy",
            {
                "limit": LIMIT
                + "return np.float32(rate_mbps) * np.float64(payload_bytes) / (payload_bytes + 20 + 8 + 14)",
                "counted": "counted_bytes = np.array([own.payload_bytes + 42.3])",
                "letter": "first_full = ' B '",
            },
            {},
        ),
        _answering(
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
        _answering(
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
        _answering("right_own_numbers", {}, {}, token=ANNA),
        _answering(
            "copied_figures",
            {"counted": "counted_bytes = 1042"},
            {"counted": ("failed", 0)},
            token=ANNA,
            flags={"another student's number"},
        ),
        _answering("slip_rate", {"limit": LIMIT + "return rate_mbps"}, FAILED_LIMIT),
        _answering(
            "slip_edge", {"limit": LIMIT + "return rate_mbps / (1 + 42 / payload_bytes)"}, {"limit": ("failed", 2)}
        ),
        _answering("slip_packet", {"counted": "counted_bytes = own.payload_bytes + 28"}, {"counted": ("failed", 0)}),
        _answering("slip_letter", {"letter": "first_full = 'a'"}, {"letter": ("failed", 0)}),
        _answering(
            "slip_run",
            {
                "overload_run": "my_run = nl.run(network, [nl.Udp('h1', 'h2', rate_mbps=1.01 * own.rate_mbps)], duration_s=3)"
            },
            {"overload_run": ("failed", 1)},
            flags={"part of the points"},
        ),
        _answering(
            "slip_types",
            {"limit": "limit_mbps = 4.8", "counted": "counted_bytes = '1042'", "overload_run": "my_run = climb.flows"},
            {"limit": ("failed", 0), "counted": ("failed", 0), "overload_run": ("failed", 0)},
        ),
        _answering("slip_syntax", {"letter": "first_full = = 'b'"}, {"letter": ("failed", 0)}),
        _answering(
            "half_finished",
            {
                key: cell.source
                for key in ("search", "why-words", "overload_run")
                for cell in notebook({}).cells
                if cell.id == key
            },
            dict.fromkeys(("search", "why-words", "overload_run"), ("not attempted", 0)),
        ),
        Pupil("untouched", lambda path: path.write_text(nbformat.writes(notebook({}))), NOTHING),
        _answering("deleted_cells", {"letter": None, "letter-check": None}, {"letter": ("missing", 0)}),
        _bytes("empty_file", b"", UNREADABLE),
        _bytes("corrupt", b'{"cells": [{"cell_type": "co', UNREADABLE),
        _bytes("printed", b"%PDF-1.7\n\xff\xfe", UNREADABLE, suffix=".pdf"),
        _changed("reordered", _reordered, FULL),
        _changed("duplicated", _duplicated, FULL),
        _changed("lost_ids", _without_ids, {**FULL}),
        _changed("format_3", _format_3, {**FULL}),
        _changed("colab", _colab, {**FULL}),
        _changed(
            "other_chapter",
            lambda document: json.loads(json.dumps(document).replace("import sample", "import bdp")),
            UNREADABLE,
        ),
    ]


def whole(victim: Path) -> list[Pupil]:
    """All of the class."""
    return [*honest(), *hostile(victim)]


def write(directory: Path, pupils: list[Pupil]) -> None:
    """Write everybody's file."""
    directory.mkdir(parents=True, exist_ok=True)
    for pupil in pupils:
        pupil.write(directory / (pupil.name + pupil.suffix))


if __name__ == "__main__":
    with sample_chapter():
        write(Path(sys.argv[1]), whole(Path(sys.argv[1]).parent))
