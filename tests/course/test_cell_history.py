"""A check judges a value only while the notebook's page still has the cell that made it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from netlab_course import cell_history

CHECK = "chapter.check.rtt(rtt_ms)"
BEGIN = "from netlab_course.chapters import start_here\nchapter = start_here.begin()"
RIGHT = "✓ round-trip time h2-h3"
NOT_CHECKED = "! round-trip time h2-h3: not checked."


class Notebook:
    """A kernel as a front end drives it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(env={**os.environ, "JPY_SESSION_NAME": str(path)})
        self.client: Any = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, source: str, cell_id: str = "") -> str:
        """Run a cell; return its output, of an error only the type."""
        content = {
            "code": source,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        message = self.client.session.msg("execute_request", content, metadata={"cellId": cell_id} if cell_id else {})
        self.client.shell_channel.send(message)
        messages: list[str] = []
        while True:
            got = self.client.get_iopub_msg(timeout=120)
            if got["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            kind, what = got["msg_type"], got["content"]
            if kind == "status" and what["execution_state"] == "idle":
                return " ".join(" ".join(messages).split())
            messages.append(what.get("text") or what.get("ename") or what.get("data", {}).get("text/plain") or "")

    def save(self, *sources: str, age_s: float = 0.0) -> None:
        """Save the notebook with these cells, as if that were some time ago."""
        cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources]
        self.path.write_text(json.dumps({"cells": cells}))
        then_s = time.time() + 2 * cell_history.SAVE_DELAY_S - age_s
        os.utime(self.path, (then_s, then_s))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    notebook = Notebook(tmp_path_factory.mktemp("page") / "00_start_here.ipynb")
    yield notebook
    notebook.client.stop_channels()
    notebook.manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(shared: Notebook) -> Notebook:
    shared.path.unlink(missing_ok=True)
    shared.run("%reset -f")
    shared.run(BEGIN)
    shared.run("rtt_ms = 60", "rtt")
    assert RIGHT in shared.run(CHECK, "rtt-check")
    return shared


@pytest.mark.slow
@pytest.mark.parametrize("cell_id", ["rtt", ""])
@pytest.mark.parametrize(
    ("source", "how"),
    [
        ("rtt_ms = 60 ms", "ended with a SyntaxError"),
        ("rtt_ms = 60 / 0", "ended with a ZeroDivisionError"),
        ("%%time\nrtt_ms = nothing", "ended with a NameError"),
        ("rtt_ms: float = round()", "ended with a TypeError"),
        ("other, rtt_ms = 1,", "ended with a ValueError"),
        ("raise KeyboardInterrupt\nrtt_ms = 60", "was interrupted"),
    ],
)
def test_a_check_judges_no_value_from_before_the_answers_cell_failed(
    notebook: Notebook, source: str, how: str, cell_id: str
) -> None:
    notebook.run(source, cell_id)
    text = notebook.run(CHECK, "rtt-check")
    assert NOT_CHECKED in text and f"that defines rtt_ms {how}, so rtt_ms still has" in text
    assert "✓" not in text
    notebook.run("rtt_ms = 60", cell_id)
    assert RIGHT in notebook.run(CHECK, "rtt-check")


@pytest.mark.slow
def test_value_assigned_before_a_failure_is_judged_and_the_failure_mentioned(
    notebook: Notebook,
) -> None:
    notebook.run("rtt_ms = 60\nprint(rtt_ms / 0)", "rtt")
    text = notebook.run(CHECK, "rtt-check")
    assert RIGHT in text and "(The cell that defines rtt_ms ended with a ZeroDivisionError, after" in text


@pytest.mark.slow
def test_a_cell_that_no_longer_defines_the_answer_leaves_it_unchecked(notebook: Notebook) -> None:
    notebook.run("rtt = 60", "rtt")
    text = notebook.run(CHECK, "rtt-check")
    assert (
        NOT_CHECKED in text and "no longer defines it; it now defines rtt. Assign your answer to rtt_ms there" in text
    )


@pytest.mark.slow
def test_a_number_from_netlabs_own_function_does_not_count(notebook: Notebook) -> None:
    notebook.run(
        "from netlab_course.chapters import how_sure\nchapter = how_sure.begin()\nown, nl = chapter.own, __import__('netlab')"
    )
    check, numbers = "chapter.check.runs(needed)", "(own.scatter_ms, own.wanted_ms)"
    for source in (
        f"needed = nl.theory.runs_needed{numbers}",
        f"from netlab.theory import runs_needed as f\nneeded = f{numbers}",
        f"f = nl.theory.runs_needed\nneeded = next(map(f, *([each] for each in {numbers})))",
    ):
        notebook.run(source, "needed")
        assert "its cell uses runs_needed. An answer that uses netlab's own function" in notebook.run(
            check, "needed-check"
        )
    given_there = f"chapter.check.runs(nl.theory.runs_needed{numbers})"
    assert "its cell uses runs_needed" in notebook.run(given_there, "needed-check")
    number = notebook.run("print(needed)")
    notebook.run(f"def runs_needed(*_given):\n    return {number}\nneeded = runs_needed{numbers}", "needed")
    assert "✓ number of runs" in notebook.run(check, "needed-check"), "a function of the student's with the same name"


@pytest.mark.slow
def test_a_name_that_another_cell_has_taken_over_is_judged(notebook: Notebook) -> None:
    notebook.run("something = 1", "rtt")
    notebook.run("rtt_ms = 60", "elsewhere")
    assert RIGHT in notebook.run(CHECK, "rtt-check")


@pytest.mark.slow
def test_a_check_notices_a_cell_that_was_edited_and_saved_but_not_run(notebook: Notebook) -> None:
    notebook.save("rtt_ms = 61", CHECK)
    text = notebook.run(CHECK, "rtt-check")
    assert NOT_CHECKED in text and "was changed after its last run" in text
    notebook.save("rtt_ms = 60", CHECK)
    assert RIGHT in notebook.run(CHECK, "rtt-check")


@pytest.mark.slow
def test_outdated_or_foreign_file_leaves_the_verdict_unchanged(notebook: Notebook) -> None:
    notebook.save("rtt_ms = 61", CHECK, age_s=60)
    assert RIGHT in notebook.run(CHECK, "rtt-check")
    notebook.save("rtt_ms = 61", "chapter.check.other(1)")
    assert RIGHT in notebook.run(CHECK, "rtt-check")
    notebook.path.write_text("no notebook")
    assert RIGHT in notebook.run(CHECK, "rtt-check")


@pytest.mark.slow
def test_an_answer_made_of_several_names_is_doubted_by_each(notebook: Notebook) -> None:
    notebook.run("one = 59\ntwo = 1", "parts")
    check = "mine = one + two\nchapter.check.rtt(mine)"
    assert RIGHT in notebook.run(check, "rtt-check")
    notebook.run("one = 59\ntwo = 1 +", "parts")
    text = notebook.run(check, "rtt-check")
    assert "defines one ended" in text and "defines two ended" in text


@pytest.mark.slow
def test_a_check_of_a_number_without_a_name_is_judged(notebook: Notebook) -> None:
    notebook.run("rtt_ms = 60 ms", "rtt")
    assert RIGHT in notebook.run("chapter.check.rtt(60)", "rtt-check")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x += 1", {"x"}),
        ("with open(p) as f, open(q) as (g, h):\n    k = 1", {"f", "g", "h", "k"}),
        ("try:\n    a = 1\nexcept ValueError as e:\n    b = 2", {"a", "b", "e"}),
        ("class Mine:\n    inner = 1\n    def f(self):\n        z = 1", {"Mine"}),
        ("y = [i for i in range(3)]", {"y"}),
        ("import a.b, c as d\nfrom e import f", {"a", "d", "f"}),
        ("t[0] = 1\no.p = 2", set()),
        ("v = ('%s'\n     % 3)", {"v"}),
        ("%matplotlib inline\n!ls\nw = 1", {"w"}),
        ("a, (b, c) = 1, (2, 3)\nfor d in e: f = g\ndef h(): pass\nx.y = 1", set("abcdfh")),
        ("%%host h1\nping", set()),
    ],
)
def test_defined_names(source: str, names: set[str]) -> None:
    assert cell_history.defined_names(source) == names


def test_a_call_of_another_checks_name_is_no_answer() -> None:
    assert cell_history.answer_names("chapter.settings.window(a)\nchapter.check.window(b)", "window") == {"b"}
    assert cell_history.answer_names("chapter.check.window.take(a, b)", "window") == set()
