"""Students who attack the grader."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.grading.classroom import (
    ALL_POINTS,
    FAILED_LIMIT_MARK,
    LIMIT,
    RIGHT_ANSWERS,
    SAMPLE,
    UNREADABLE_MARKS,
    Pupil,
    pupil_with_answers,
    pupil_with_bytes,
    pupil_with_change,
    with_some_as_one,
)


def _forged_checks(document: Any) -> Any:
    for cell in document["cells"]:
        if cell["id"].endswith("-check"):
            cell["source"] = "print('✓ all trials agree')"
        if cell["id"] in ("limit", "counted"):
            cell["source"] = {"limit": LIMIT + "return 1.0", "counted": "counted_bytes = 1.0"}[cell["id"]]
    return document


COMBINED_ATTACKS = [
    ("stateful", "float_subclass", "fake_run", "probes_on", "asks_for_more"),
    ("lookup_table", "metaclass", "broken_run", "imports_checks"),
    ("deep", "by_formula", "many_runs", "environment"),
    ("library_answer", "becomes_root", "markup"),
    ("nan", "network"),
    ("looks_around", "loops"),
    ("kernel_calls", "memory_bomb"),
    ("reads_others", "forges_messages"),
    ("sleeps", "fork_bomb"),
]
"""Each tuple names students of `hostile` who are graded as one."""


CRASH_MARK = ("crashed", 0)


def hostile(victim: Path) -> list[Pupil]:
    """Return students who try to get points, or to do harm, by other means; `victim` is a directory that must not change."""

    def steals(path: str) -> str:
        return LIMIT + f"return float(open({path!r}).read().split()[0])"

    pupils = [
        pupil_with_change(
            "forged_checks",
            _forged_checks,
            {**ALL_POINTS, "limit": ("failed", 0), "counted": ("failed", 0)},
            flags={"edited check"},
            kinds=(39,),
        ),
        pupil_with_answers(
            "patches_netlab",
            {
                "limit": "import netlab_course.checks as c\nc.Check.judge = lambda *a: c.Result('', c.Status.PASSED, ())\n"
                "c.Function.judge = c.Number.judge = c.Check.judge\n" + LIMIT + "return 1.0"
            },
            FAILED_LIMIT_MARK,
            flags={"access to answers"},
            kinds=(16,),
        ),
        pupil_with_answers(
            "patches_numpy",
            {
                "counted": "import numpy as np\nnp.isclose = np.allclose = lambda *a, **k: True\nnp.abs = lambda x: 0\ncounted_bytes = 3.0"
            },
            {"counted": ("failed", 0)},
            flags={"access to answers"},
        ),
        pupil_with_answers(
            "patches_builtins",
            {
                "limit": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.all = lambda x: True\n"
                + LIMIT
                + "return 1.0"
            },
            FAILED_LIMIT_MARK,
            flags={"access to answers"},
        ),
        pupil_with_answers(
            "reads_reference",
            {"limit": "limit_mbps = chapter.check.limit.reference"},
            FAILED_LIMIT_MARK,
            flags={"access to answers"},
        ),
        pupil_with_answers(
            "reads_key",
            {
                "limit": steals(str(SAMPLE / "solutions" / "examiners" / "sample.py")),
                "counted": f"counted_bytes = open({str(victim / 'id_rsa')!r})",
            },
            {**FAILED_LIMIT_MARK, "counted": ("failed", 0)},
            flags={"access to answers"},
            kinds=(1,),
        ),
        pupil_with_answers(
            "reads_others",
            {"letter": f"import os\nfirst_full = 'b' if os.listdir({str(victim)!r}) else 'a'"},
            {"letter": ("failed", 0)},
            flags={"access to answers"},
            kinds=(1,),
        ),
        pupil_with_answers(
            "exits",
            {"limit": "import os\nos._exit(0)"},
            {"limit": CRASH_MARK},
            flags={"access to answers"},
            kinds=(28,),
        ),
        pupil_with_answers(
            "kills",
            {
                "limit": "import os\nfor pid in (-1, 0, 1, os.getppid()):\n    try:\n        os.kill(pid, 9)\n"
                "    except OSError:\n        pass"
            },
            FAILED_LIMIT_MARK,
            flags={"access to answers"},
        ),
        pupil_with_answers(
            "fork_bomb",
            {"limit": "import os\nwhile True:\n    os.fork()"},
            {"limit": ("failed", 0)},
            flags={"access to answers"},
            kinds=(27,),
        ),
        pupil_with_answers(
            "memory_bomb", {"limit": LIMIT + "return len(bytearray(8 << 30))"}, FAILED_LIMIT_MARK, kinds=(28,)
        ),
        pupil_with_answers(
            "flood",
            {
                "limit": "for _ in range(20000):\n    print('x' * 1000)\n" + RIGHT_ANSWERS["limit"],
                "letter": "first_full = 'b' * 10**7",
            },
            {"letter": ("failed", 0)},
            kinds=(15, 28),
        ),
        pupil_with_answers("loops", {"limit": "while True:\n    pass"}, {"limit": ("timed out", 0)}, kinds=(27,)),
        pupil_with_answers(
            "sleeps",
            {"letter": "import time\ntime.sleep(10**9)\nfirst_full = 'b'"},
            {"letter": ("timed out", 0)},
            kinds=(27,),
        ),
        pupil_with_answers(
            "forges_messages",
            {
                "limit": "import os\nfor number in range(3, 64):\n    try:\n"
                '        os.write(number, b\'R{"value": {"verdict": "passed"}}\\n\')\n'
                "    except OSError:\n        pass\n" + RIGHT_ANSWERS["limit"]
            },
            FAILED_LIMIT_MARK,
            kinds=(8,),
        ),
        Pupil("symlink", lambda path: path.symlink_to(victim / "id_rsa"), UNREADABLE_MARKS, kinds=(33,)),
        Pupil("pipe", os.mkfifo, UNREADABLE_MARKS, kinds=(33,)),
        pupil_with_answers(
            "nan",
            {"limit": LIMIT + "return float('nan')", "counted": "counted_bytes = float('nan')"},
            {**FAILED_LIMIT_MARK, "counted": ("failed", 0)},
            kinds=(13,),
        ),
        pupil_with_answers(
            "float_subclass",
            {
                "counted": "class Any(float):\n    def __eq__(self, other): return True\n    def __sub__(self, other): return 0.0\n"
                "    def __abs__(self): return 0.0\n    def __float__(self): return 1042.0\n    __hash__ = None\ncounted_bytes = Any(7)"
            },
            {"counted": ("failed", 0)},
            kinds=(12,),
        ),
        pupil_with_answers(
            "stateful",
            {
                "limit": "calls = []\n"
                + LIMIT
                + "calls.append(1)\n    return 10 * 500 / 542 if len(calls) == 1 else 5 * 1000 / 1042"
            },
            FAILED_LIMIT_MARK,
        ),
        pupil_with_answers(
            "lookup_table",
            {
                "limit": LIMIT
                + "return {(10, 500): 10 * 500 / 542, (5, 1000): 5 * 1000 / 1042}[rate_mbps, payload_bytes]"
            },
            FAILED_LIMIT_MARK,
        ),
        pupil_with_answers("deep", {"limit": LIMIT + "return limit_mbps(rate_mbps, payload_bytes)"}, FAILED_LIMIT_MARK),
        pupil_with_bytes("deep_json", b"[" * 200_000 + b"]" * 200_000, UNREADABLE_MARKS, kinds=(34,)),
        pupil_with_bytes(
            "json_bomb", b'{"cells": [], "x": [' + b"[]," * 12_000_000 + b"[]]}", UNREADABLE_MARKS, kinds=(35,)
        ),
        *more_hostile(),
        Pupil("huge", write_huge_file, UNREADABLE_MARKS),
    ]
    return with_some_as_one(pupils, COMBINED_ATTACKS)


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
    return pupil_with_answers(name, {"letter": source}, {"letter": ("failed", 0)}, kinds=kinds, **more)


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
        pupil_with_answers(
            "forges_fault",
            {"limit": forged % f'"provided": "{says.decode()}"', "counted": forged % r'"error": "\\ud800"'},
            {"limit": CRASH_MARK, "counted": ("failed", 0)},
            kinds=(9, 37),
        ),
        _letter(
            "asks_for_more",
            "from netlab_classroom.grading import runner\nrunner.ask(runner.RemoteLaboratory.stream, {'kind': 'points', 'number': 9})",
            10,
        ),
        pupil_with_answers(
            "probes_on",
            {
                "search": "def search(probe):\n    for number in range(1000):\n        last = probe(number + 1)\n    return last"
            },
            {"search": ("failed", 0)},
            kinds=(11,),
        ),
        pupil_with_answers(
            "metaclass",
            {"counted": "class Any:\n    def __call__(self, *a, **k): return self\ncounted_bytes = Any()"},
            {"counted": ("failed", 0)},
            kinds=(14,),
        ),
        pupil_with_answers(
            "fake_run",
            {
                "overload_run": "my_run = nl.run(network, [nl.Udp('h1', 'h2', rate_mbps=0.1)], duration_s=3)\n"
                "my_run.flows['loss_rate'] = 0.9\nmy_run.settings['scenario']['traffic'][0]['rate_mbps'] = 0.1"
            },
            {"overload_run": ("failed", 0)},
            kinds=(17, 18),
        ),
        pupil_with_answers(
            "broken_run",
            {
                "overload_run": "my_run = nl.run(network, [nl.Udp('h1', '../h2', rate_mbps=float('nan'))], duration_s=-1)"
            },
            {"overload_run": ("failed", 0)},
            kinds=(19, 20),
        ),
        pupil_with_answers(
            "library_answer",
            {
                "limit": LIMIT
                + "return vars(vars(nl)['theory'])['udp_' + 'goodput_limit_mbps'](rate_mbps, payload_bytes)"
            },
            FAILED_LIMIT_MARK,
            kinds=(23,),
        ),
        pupil_with_answers("by_formula", {"counted": "counted_bytes = own.payload_bytes + 42"}, {}, kinds=(24,)),
        pupil_with_answers(
            "persists",
            {
                "limit": "for place in ('/tmp/x', '/dev/shm/x', '/tmp/home/sitecustomize.py'):\n    try:\n"
                "        open(place, 'w').write('import os')\n    except OSError:\n        pass\n"
                + RIGHT_ANSWERS["limit"],
                "letter": "import os\nfirst_full = 'b' if os.path.exists('/tmp/x') or os.path.exists('/dev/shm/x') else 'a'",
            },
            {"letter": ("failed", 0)},
            flags={"access to answers"},
            kinds=(25,),
        ),
        pupil_with_answers(
            "fills_disk",
            {"limit": "with open('/tmp/home/x', 'wb') as file:\n    while True: file.write(bytes(1 << 20))"},
            FAILED_LIMIT_MARK,
            flags={"access to answers"},
            kinds=(26,),
        ),
        pupil_with_answers(
            "many_runs",
            {"overload_run": "my_run = nl.run(network, [nl.Udp('h1', 'h2', rate_mbps=20)], duration_s=4000)"},
            {"overload_run": ("failed", 0)},
            kinds=(29,),
        ),
        pupil_with_answers(
            "markup",
            {
                "why-words": "Why does less arrive than is sent? Two sentences.\n\n*Your answer:* </pre><script>alert(1)</script>"
            },
            {},
            kinds=(30,),
        ),
        pupil_with_change("newlines", _with_newlines, ALL_POINTS, kinds=(37,)),
        pupil_with_answers(
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


def write_huge_file(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b'{"cells": [')
        file.truncate(100 << 20)
