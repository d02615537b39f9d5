"""Students' text is worked over in a process with limits, and what comes back is clean."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netlab_classroom.grading import helper, judging, marking, needs, submission
from netlab_classroom.grading.helper import GaveUpError, Helper
from netlab_classroom.grading.judging import Job
from netlab_classroom.grading.submission import AnswerCell, Cell
from netlab_classroom.grading.text import clean, one_line
from netlab_course.marks import INSTRUCTION, PROMPT, strip_markdown
from netlab_course.tries import WRONG_TRIES
from tests.grading import classroom

ASKED_NUMBER = AnswerCell("goodput", "goodput", "goodput_mbps", "goodput_mbps = ...")
WRITTEN_ANSWER = AnswerCell("why-words", "why-words", "", f"Why?\n\n{PROMPT}")


@pytest.fixture(scope="module")
def reader() -> Iterator[Helper]:
    """A helper that starts its process again after a text that took too much."""
    found = Helper(cpu_s=1, wall_s=20)
    yield found
    found.close()


def read(reader: Helper, path: Path, content: Any) -> Any:
    path.write_text(json.dumps(content))
    return reader.ask("read", path=str(path))


def code(source: str, name: str = "own") -> dict[str, Any]:
    return {"cell_type": "code", "id": name, "metadata": {}, "source": source, "outputs": []}


def test_a_cell_of_newlines_is_read_as_fast_as_any_other(reader: Helper, tmp_path: Path) -> None:
    begun_s = time.monotonic()
    cells = [code("\n" * 400_000), code("from netlab_course.chapters import bdp\nbdp.begin('anna')", "imports")]
    assert read(reader, tmp_path / "a", {"cells": cells}) == {"topic": "bdp", "token": "anna"}
    assert time.monotonic() - begun_s < 10


@pytest.mark.slow
def test_a_file_that_takes_too_much_costs_its_own_row_and_the_next_is_read(reader: Helper, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.ipynb"
    bomb.write_bytes(b'{"cells":[],"x":[' + b"[]," * 12_000_000 + b"[]]}")
    with pytest.raises(GaveUpError, match=r"MB of memory|processor time"):
        reader.ask("read", path=str(bomb))
    assert read(reader, tmp_path / "next", {"cells": []}) == {"topic": "", "token": ""}


@pytest.mark.slow
def test_slow_reading_is_ended() -> None:
    short = Helper(cpu_s=0)
    with pytest.raises(GaveUpError, match="processor time"):
        short.ask("compose", provided=[["x", "", False]], id="x", source="x = 1\n" * 150_000)
    short.close()


def test_a_cell_that_asks_for_something_is_not_reported_as_edited(tmp_path: Path) -> None:
    """Students predict, and do optional exercises, which are not graded."""
    handed_out = [
        Cell("predict", "code", "my_mbps = ...\npredict(my_mbps)"),
        Cell("optional", "code", "def f(x):\n    ..."),
        Cell("optional-words", "markdown", f"Why?\n\n{PROMPT}"),
        Cell("limit", "code", "limit_mbps = 3"),
    ]
    cells = [code(f"{cell.source} # changed", cell.id) for cell in handed_out]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    notes = submission.layout(submission.read_submission(tmp_path / "a.ipynb"), handed_out, []).notes
    assert notes == ("Edited cells (the instructor's were used): limit.",)


def test_ctrl_c_does_not_wait_for_a_text(reader: Helper) -> None:
    helper.stop_requested.set()
    try:
        begun_s = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            reader.ask("page", template="feedback.html.j2", words={})
        assert time.monotonic() - begun_s < 5
    finally:
        helper.stop_requested.clear()


def test_text_that_comes_back_has_no_halves_of_characters_and_no_control_characters(reader: Helper) -> None:
    answers = reader.ask("compose", provided=[["x", "", False]], id="x", source="s = '\ud800\x1b[2J'")
    assert answers["source"] == answers["answer"] == "s = '�[2J'".replace("�", "�" * 2, 1)
    assert one_line("a\n\x1b]0;x\x07b") == "a �]0;x�b"
    assert one_line("x" * 200) == "x" * 200 and one_line("x" * 201) == "x" * 200 + " …"
    assert clean("tab\tand\nline") == "tab\tand\nline"
    missing, stay = (
        "\x00\x1f\x7f\x9f\u200e\u200f\u2028\u202e\u2066\u2069\ufffe\uffff",
        " ~\xa0\u200d\u2010\u2027\u202f\u2065\u206a\ufffd",
    )
    assert clean(missing) == "�" * len(missing) and clean(stay) == stay


def test_a_file_that_was_not_read_before_it_is_compared_is_read_then(reader: Helper, tmp_path: Path) -> None:
    requested: dict[str, Any] = {"handed_out": [], "provided": [], "questions": []}
    assert "error" in reader.ask("compare", path=str(tmp_path / "nothing.ipynb"), **requested)


def test_comments_of_a_solution_are_not_those_of_the_notebook_that_was_handed_out(
    reader: Helper, tmp_path: Path
) -> None:
    """Two students who have the solution have the same comments, which is worth a flag."""
    source = "# what the solution alone says\n# what the notebook itself says\nx = 3"
    path = tmp_path / "anna.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": [{"id": "x", "cell_type": "code", "source": source}]}))
    found = reader.ask(
        "compare",
        path=str(path),
        handed_out=[["x", "code", "# what the notebook itself says\nx = ..."]],
        provided=[["x", source, False]],
        questions=[["x", "x", "x", "x = ..."]],
    )
    assert found["answers"]["x"]["comments"] == ["what the solution alone says"]


PREDICTED = """%time
my_rate_mbps = 4.7
my_loss_rate = ...
my_reason = ...
my_reason = "headers take\\nthe rest"
guess = nl.checks.predict("goodput", my_rate_mbps, "Mbit/s", reason=my_reason)
"""


@pytest.mark.parametrize(
    ("source", "predicted"),
    [
        (PREDICTED, "my_rate_mbps = 4.7; my_reason = 'headers take\\nthe rest'"),
        ("my_rate_mbps = ...\nmy_reason = ...", None),
        ("my_rate_mbps = = 4", None),
    ],
)
def test_the_lesson_of_a_prediction_comes_with_the_prediction(
    source: str, predicted: str | None, reader: Helper, tmp_path: Path
) -> None:
    path = tmp_path / "anna.ipynb"
    words = {"id": "prediction-words", "cell_type": "markdown", "source": f"What?\n\n{PROMPT[:-1]} the queue"}
    cells = [{"id": "predict", "cell_type": "code", "source": source}, words, {**words, "id": "why-words"}]
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}))
    keys = ["prediction-words", "why-words"]
    question = f"What?\n\n{PROMPT}"
    found = reader.ask(
        "compare",
        path=str(path),
        handed_out=[["predict", "code", "my_rate_mbps = ..."], *([key, "markdown", question] for key in keys)],
        provided=[],
        questions=[[key, key, "", question] for key in keys],
    )
    lesson, other = (found["answers"][key] for key in keys)
    assert lesson["source"] == other["source"] == "the queue"
    assert lesson.get("predicted") == predicted
    assert "predicted" not in other


@pytest.mark.parametrize(
    ("metadata", "tries"),
    [
        ({WRONG_TRIES: 5}, 5),
        ({WRONG_TRIES: True}, 1),
        ({WRONG_TRIES: "5"}, 0),
        ({WRONG_TRIES: 10**9}, 0),
        ([], 0),
        ({}, 0),
    ],
)
def test_the_number_of_wrong_tries_is_read_from_the_output_of_the_check(
    metadata: object, tries: int, reader: Helper, tmp_path: Path
) -> None:
    check = {
        **code("chapter.check.x(x)", "x-check"),
        "outputs": [7, {"output_type": "display_data", "metadata": metadata}],
    }
    path = tmp_path / "anna.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": [code("x = 3", "x"), check]}))
    cells = [["x", "code", "x = ..."], ["x-check", "code", "chapter.check.x(x)"]]
    found = reader.ask(
        "compare",
        path=str(path),
        handed_out=cells,
        provided=[["x", "x = 4", False]],
        questions=[["x", "x", "x", "x = ..."]],
    )
    assert found["answers"]["x"].get("wrong_tries", 0) == tries


def test_a_program_that_is_too_deep_is_no_error(reader: Helper) -> None:
    deep = "y = " + "1+" * 20_000 + "1"
    assert reader.ask("compose", provided=[["x", "", False]], id="x", source=deep)["comments"] == []


def take(source: str, *own: Cell, question: AnswerCell = ASKED_NUMBER) -> submission.ExtractedAnswer:
    kind = "code" if question.name else "markdown"
    cells = (Cell(question.id, kind, source), *own)
    return submission.extract(submission.Submission(cells), question, {question.id: question.stub}, own)


def test_lines_that_only_look_like_magics_stay() -> None:
    """Black puts an operator at a line's beginning; a text may begin with anything."""
    source = "goodput_mbps = (\n    7\n    % 4\n)\ntext = '''\n!x\n%y\n'''"
    assert take(source).source == source
    assert take("%matplotlib inline\n!ls\nif True:\n    %time\n    goodput_mbps = 3").source == (
        "pass\npass\nif True:\n    pass\n    goodput_mbps = 3"
    )


def test_cell_in_another_language_is_reported_as_no_answer() -> None:
    answers = take("%%bash\ngoodput_mbps=3")
    assert not answers.attempted and "IPython" in answers.notes[-1]
    assert take("%%time\ngoodput_mbps = 3").source == "\ngoodput_mbps = 3"


def test_comments_for_nbval_are_not_taken() -> None:
    assert take("# NBVAL_SKIP\ngoodput_mbps = 3").source == "\ngoodput_mbps = 3"


def test_answer_in_a_cell_below_the_stub_is_taken_and_reported() -> None:
    answers = take(ASKED_NUMBER.stub, Cell("own", "code", "goodput_mbps = 3"))
    assert answers.attempted and answers.source == "goodput_mbps = 3" and "a cell of yours" in answers.notes[0]
    words = take(WRITTEN_ANSWER.stub, Cell("own", "markdown", "Because of the queue."), question=WRITTEN_ANSWER)
    assert words.attempted and words.source == "Because of the queue." and "below" in words.notes[0]
    assert not take(ASKED_NUMBER.stub).attempted and not take(WRITTEN_ANSWER.stub, question=WRITTEN_ANSWER).attempted


def test_answer_in_a_cell_of_another_id_is_taken_and_reported() -> None:
    """The last of several cells is taken; a single cell is not called several."""
    first, last = (Cell(name, "code", f"goodput_mbps = {number}") for number, name in enumerate(("a", "b")))
    one = take("x = 1", first)
    assert one.source == first.source and one.notes == (
        "goodput: its cell does not define goodput_mbps; taken from the cell that defines goodput_mbps.",
    )
    two = take("x = 1", first, last)
    assert two.source == last.source and two.notes[1:] == ("goodput: 2 cells define goodput_mbps; the last was used.",)
    lost = submission.extract(submission.Submission((first,)), ASKED_NUMBER, {ASKED_NUMBER.id: ASKED_NUMBER.stub})
    assert lost.attempted and "another id" in lost.notes[0]
    none = submission.extract(submission.Submission(()), ASKED_NUMBER, {ASKED_NUMBER.id: ASKED_NUMBER.stub})
    assert (none.source, none.attempted) == (None, False)


def test_a_stub_that_is_no_python_is_not_attempted_until_it_is_changed() -> None:
    broken = AnswerCell("goodput", "goodput", "goodput_mbps", "goodput_mbps = ?")
    assert not take("goodput_mbps = ?\n\n", question=broken).attempted
    assert take("goodput_mbps = = 3", question=broken).attempted
    assert not take("# nothing left", question=ASKED_NUMBER).attempted


def test_last_of_two_cells_with_the_same_question_counts() -> None:
    again = Cell(WRITTEN_ANSWER.id, "markdown", f"{WRITTEN_ANSWER.stub.removesuffix('…')}Because.")
    answers = take(WRITTEN_ANSWER.stub, again, question=WRITTEN_ANSWER)
    assert answers.source == "Because." and "2 cells have its id" in answers.notes[0]
    assert not take(WRITTEN_ANSWER.stub, Cell("own", "markdown", "  "), question=WRITTEN_ANSWER).attempted


QUESTION = AnswerCell("why-words", "why-words", "", strip_markdown(
    "### Exercise 4: explain it\n\nWhy?\n<!-- BEGIN SOLUTION -->\nBecause.\n<!-- END SOLUTION -->"
))  # fmt: skip
ANSWERED = QUESTION.stub.replace("…", "the queue\noverflows.")


@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
@pytest.mark.parametrize("name", [QUESTION.id, "1c90a2be", ""])
@pytest.mark.parametrize("heading", ["### ", "# ", "###### "])
def test_an_answer_in_words_is_found_in_a_cell_of_any_kind_with_and_without_its_id(
    kind: str, name: str, heading: str
) -> None:
    """In command mode the letters of an answer are commands: `r` makes its cell raw, `y` code, a digit a heading."""
    cells = (
        Cell("first", "markdown", "# A chapter"),
        Cell(name, kind, ANSWERED.replace("### ", heading)),
        Cell("last", "code", "x = 1"),
    )
    master = {"first": "# A chapter", QUESTION.id: QUESTION.stub, "last": "x = 1"}
    answers = submission.extract(submission.Submission(cells), QUESTION, master)
    assert answers.attempted and answers.source == "the queue\noverflows."
    assert any("another id" in note for note in answers.notes) == (name != QUESTION.id)
    assert any("of the kind" in note for note in answers.notes) == (kind != "markdown")


@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
def test_an_open_question_is_not_attempted_in_a_cell_of_any_kind(kind: str) -> None:
    cells = (Cell("other", kind, QUESTION.stub),)
    answers = submission.extract(submission.Submission(cells), QUESTION, {QUESTION.id: QUESTION.stub})
    assert (answers.source, answers.attempted) == ("", False)


def test_prose_in_a_code_cell_and_unchanged_cells_are_no_answer() -> None:
    """Else a student could have an answer in code judged that stands in no code cell of theirs, or be given the question's."""
    words = Cell(QUESTION.id, "code", f"{QUESTION.stub}\ngoodput_mbps = 3")
    master = {
        QUESTION.id: QUESTION.stub,
        ASKED_NUMBER.id: ASKED_NUMBER.stub,
        "text": "Exercise 4: explain it\nas was said here",
    }
    cells = (Cell(ASKED_NUMBER.id, "code", ASKED_NUMBER.stub), words, Cell("text", "markdown", master["text"]))
    assert not submission.extract(submission.Submission(cells), ASKED_NUMBER, master).attempted
    without = tuple(cell for cell in cells if cell is not words)
    assert submission.extract(submission.Submission(without), QUESTION, master).source is None


def test_answers_to_earlier_questions_and_instruction_lines_are_prose() -> None:
    earlier = "### Exercise 4: explain it\n\nWhy?\n*Your answer:* because."
    assert submission.words_of(earlier, QUESTION.stub) == "because."
    same_line = QUESTION.stub.replace(INSTRUCTION, f"{INSTRUCTION} Because.")
    assert submission.words_of(same_line, QUESTION.stub) == "Because."


def test_a_heading_of_the_oldest_format_is_read_as_text(tmp_path: Path) -> None:
    cells = [{"cell_type": "heading", "level": level, "source": "Queues"} for level in (3, 7, "x")]
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}))
    read_cells = submission.read_submission(path).cells
    assert [(cell.kind, cell.source) for cell in read_cells] == [
        ("markdown", "### Queues"),
        ("markdown", "# Queues"),
        ("markdown", "# Queues"),
    ]


def test_the_name_of_an_error_that_is_caught_is_no_need() -> None:
    """Else another answer that happens to define `e` is run before this one."""
    answer = "try:\n    y = 1\nexcept Exception as e:\n    print(e)"
    assert needs.needed_code([], answer) == ([], set())
    assert "rest" in needs.names("match x:\n    case {**rest}:\n        y = rest").defined


@pytest.mark.slow
def test_grader_survives_every_file(tmp_path: Path) -> None:
    with classroom.sample_chapter() as chapter:
        path = tmp_path / "x.ipynb"
        path.write_bytes(b'{"cells":[],"x":[' + b"[]," * 20_000_000 + b"[]]}")
        result = judging.judge(Job("x", path, chapter.source, file="x.ipynb"))
        assert {mark["status"] for mark in result["exercises"]} == {marking.UNREADABLE}
        assert "memory" in result["notes"][0] or "processor time" in result["notes"][0]
