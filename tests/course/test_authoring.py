"""From a chapter's source to its two notebooks: what is stripped, what is kept, what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest

from netlab_course import authoring
from netlab_course.authoring import (
    Chapter,
    build,
    differences,
    main,
    orphans,
    read_source,
    student_notebook,
)
from netlab_course.equality import equal_but_for_rounding
from netlab_course.marks import INSTRUCTION, AuthoringError

SOURCE = '''\
# %% [markdown]
# # A chapter

# %%
import math

# %% [markdown] id="why"
# Why?
# <!-- BEGIN SOLUTION -->
# Because SECRET.
# <!-- END SOLUTION -->

# %% id="limit"
def limit(rate_mbps):
    """Return the limit in Mbit/s."""
    # BEGIN SOLUTION
    secret = rate_mbps * 0.96
    return secret
    # END SOLUTION


guess_mbps = 4.7  # SOLUTION

# %% tags=["nbval-ignore-output"]
print(limit(5))
'''


@pytest.fixture
def chapter(tmp_path: Path) -> Chapter:
    (tmp_path / "solutions").mkdir()
    source = tmp_path / "solutions" / "01_topic.py"
    source.write_text(SOURCE)
    return Chapter(source)


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a chapter that was built."""
    root = tmp_path_factory.mktemp("built")
    (root / "solutions").mkdir()
    source = root / "solutions" / "01_topic.py"
    source.write_text(SOURCE)
    build(Chapter(source))
    return root


@pytest.fixture
def built(chapter: Chapter, built_once: Path) -> Chapter:
    """A chapter that was built, to be changed by the test."""
    shutil.copytree(built_once, chapter.source.parents[1], dirs_exist_ok=True)
    return chapter


def test_the_student_notebook_holds_no_solution(chapter: Chapter) -> None:
    notebook = student_notebook(chapter.source)
    assert "SECRET" not in json.dumps(notebook).upper()
    assert notebook.cells[2].source == f"Why?\n\n{INSTRUCTION}\n\n*Your answer:* …"
    assert notebook.cells[3].source.endswith("    ...\n\n\nguess_mbps = ...")
    assert all(not cell.get("outputs") for cell in notebook.cells)
    assert notebook.cells[4].metadata == {"tags": ["nbval-ignore-output"]}


def test_ids_survive_edits_elsewhere(chapter: Chapter) -> None:
    before = [cell.id for cell in read_source(chapter.source).cells]
    assert before[2:4] == ["why", "limit"]
    assert [cell.id for cell in student_notebook(chapter.source).cells] == before
    edited = SOURCE.replace("# # A chapter", "# # Another title\n\n# %% [markdown]\n# A new cell")
    chapter.source.write_text(edited.replace("* 0.96", "* 0.95"))
    after = [cell.id for cell in read_source(chapter.source).cells]
    assert after[2:] == before[1:]


def test_equal_cells_get_ids_of_their_own(chapter: Chapter) -> None:
    chapter.source.write_text("# %%\nf()\n\n# %%\nf()\n")
    first, second = (cell.id for cell in read_source(chapter.source).cells)
    assert second == f"{first}-2"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('# %% id="a"\nf()\n\n# %% id="a"\ng()\n', ":4: id 'a' is taken by the cell of line 1"),
        ('# %% id="1 a"\nf()\n', ":1: id '1 a' must be"),
        ("# %%\nx = 1  # SOLUTION\n", ":1: a cell with a solution needs an id"),
        ("x = 1\n\n# %%\nf()\n", "the first one too"),
        ('# %%\nf()\n\n# %% id="b"\ng()\n# BEGIN SOLUTION\n', ":6: `# BEGIN SOLUTION` without"),
    ],
)
def test_a_wrong_source_is_refused_with_its_line(chapter: Chapter, source: str, words: str) -> None:
    chapter.source.write_text(source)
    with pytest.raises(AuthoringError) as caught:
        student_notebook(chapter.source)
    assert str(chapter.source) + words in str(caught.value) or words in str(caught.value)


@pytest.mark.slow
def test_build_output_is_accepted_by_check_and_repeatable(chapter: Chapter, capsys: pytest.CaptureFixture[str]) -> None:
    root = ["--root", str(chapter.source.parent.parent)]
    assert main([*root, "--check"]) == 1
    assert "is missing" in capsys.readouterr().err
    assert main(root) == 0
    first = chapter.solution.read_bytes(), chapter.student.read_bytes()
    assert main([*root, "--check"]) == 0
    assert main(root) == 0
    assert (chapter.solution.read_bytes(), chapter.student.read_bytes()) == first
    executed = nbformat.read(chapter.solution, as_version=4)
    assert executed.cells[4].outputs[0].text == "4.8\n"
    assert executed.metadata.language_info == {"name": "python"}


@pytest.mark.slow
def test_text_printed_over_time_is_saved_as_one_piece(chapter: Chapter) -> None:
    chapter.source.write_text("# %%\nimport time\nprint(1)\ntime.sleep(0.5)\nprint(2)\n")
    build(chapter)
    cell = nbformat.read(chapter.solution, as_version=4).cells[0]
    assert [output.text for output in cell.outputs] == ["1\n2\n"]


@pytest.mark.slow
def test_a_widget_leaves_no_view_that_a_page_without_a_kernel_could_not_load(chapter: Chapter) -> None:
    chapter.source.write_text("# %%\nimport ipywidgets\nipywidgets.FloatSlider()\n")
    build(chapter)
    first = chapter.solution.read_bytes()
    build(chapter)
    assert chapter.solution.read_bytes() == first
    assert "application/vnd.jupyter.widget" not in first.decode()


@pytest.mark.slow
def test_check_finds_each_kind_of_difference(built: Chapter) -> None:
    notebook = nbformat.read(built.student, as_version=4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="1")]
    nbformat.write(notebook, built.student)
    assert "outputs, counts or metadata" in differences(built)[0]
    notebook.cells[3].source += "\n# my own"
    nbformat.write(notebook, built.student)
    assert "cell 4 ('limit') differs from the source in its source" in differences(built)[0]
    del notebook.cells[-1]
    notebook.cells[3].source = notebook.cells[3].source[: -len("\n# my own")]
    nbformat.write(notebook, built.student)
    assert "has 4 cells, the source gives 5" in differences(built)[0]
    built.student.write_text("{}")
    assert "is not a notebook" in differences(built)[0]


@pytest.mark.slow
def test_a_solution_with_other_outputs_passes_one_with_other_code_does_not(built: Chapter) -> None:
    notebook = nbformat.read(built.solution, as_version=4)
    notebook.cells[4].outputs = []
    nbformat.write(notebook, built.solution)
    assert differences(built) == []
    notebook.cells[4].source = "print(1)"
    nbformat.write(notebook, built.solution)
    assert "in its source" in differences(built)[0]


@pytest.mark.slow
def test_a_notebook_without_a_source_is_named(built: Chapter) -> None:
    stray = built.student.with_name("09_stray.ipynb")
    stray.write_text("{}")
    assert orphans(built.source.parent.parent) == [f"{stray} has no source in solutions/."]


@pytest.mark.slow
def test_a_failing_cell_leaves_the_old_files_alone(built: Chapter, capsys: pytest.CaptureFixture[str]) -> None:
    before = built.solution.read_bytes(), built.student.read_bytes()
    built.source.write_text(SOURCE + "\n# %%\n1 / 0\n")
    assert main(["--root", str(built.source.parent.parent)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert (built.solution.read_bytes(), built.student.read_bytes()) == before


def test_an_unknown_chapter_is_named(chapter: Chapter, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(chapter.source.parent.parent), "02_none"]) == 2
    assert "there are: 01_topic" in capsys.readouterr().err


def _write_source(path: Path, *cells: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(cells) + "\n")
    return path


def test_too_long_a_chapter_is_refused(tmp_path: Path) -> None:
    source = _write_source(
        tmp_path / "solutions" / "01_nowhere.py",
        '# %% [markdown] id="title"\n# [[minutes]] minutes ' + "word " * 13200,
    )
    with pytest.raises(AuthoringError, match="takes 110 minutes, at most 90 are allowed"):
        authoring.student_notebook(source)


def test_minutes_are_printed_and_an_unknown_figure_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "solutions" / "01_nowhere.py"
    source = _write_source(path, '# %% [markdown] id="title"\n# *Time*: [[minutes]] minutes. ' + "word " * 720)
    assert authoring.student_notebook(source).cells[0].source.startswith("*Time*: 10 minutes.")
    source = _write_source(path, '# %% [markdown] id="title"\n# [[rate_mbps:.3f]]')
    with pytest.raises(AuthoringError, match=r"\[\[rate_mbps:.3f\]\] is not a number of this chapter"):
        authoring.student_notebook(source)


def test_plumbing_is_folded(tmp_path: Path) -> None:
    source = _write_source(tmp_path / "01_nowhere.py", '# %% id="plumbing" tags=["folded"]\nx = 1')
    assert authoring.student_notebook(source).cells[0].metadata["jupyter"] == {"source_hidden": True}


def _exercise(path: Path, tolerance: str, check: str = "chapter.check.rtt(x)") -> Path:
    path.write_text(
        f'# %% [markdown] id="text"\n# How long? Tolerance: {tolerance}\n\n# %% id="rtt"\nx = 1\n\n# %% id="rtt-check"\n{check}\n'
    )
    return path


def test_the_tolerance_in_the_text_is_that_of_the_check(tmp_path: Path) -> None:
    source = _exercise(tmp_path / "00_start_here.py", "[[tolerance]]. A check follows.")
    (text, *_) = student_notebook(source).cells
    assert text.source == "How long? Tolerance: 1 %. A check follows."


@pytest.mark.parametrize("written", ["1 %.", "none.", "less than one packet."])
def test_a_tolerance_that_is_written_into_the_text_is_refused(tmp_path: Path, written: str) -> None:
    with pytest.raises(AuthoringError, match=r"is written into the text; write \"Tolerance: \[\[tolerance\]\]\""):
        read_source(_exercise(tmp_path / "00_start_here.py", f"{written} Own number: [[worked]]"))


def test_a_tolerance_without_a_check_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AuthoringError, match="cell 'text' asks for a tolerance, and no check below it has one"):
        read_source(_exercise(tmp_path / "00_start_here.py", "[[tolerance]].", "print(x)"))


def test_no_chapter_has_a_tolerance_of_its_own_in_the_text() -> None:
    sources = [page.source.read_text(encoding="utf-8") for page in authoring.pages(Path())]
    literal = [
        line
        for text in sources
        for line in text.splitlines()
        if "Tolerance:" in line.replace("Tolerance: [[tolerance]]", "")
    ]
    assert literal == []
    assert sum(text.count("Tolerance: [[tolerance]]") for text in sources) >= 20


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ({"x": [75.20596766239444, -0.0]}, {"x": [75.20596766239443, 0.0]}, True),
        (
            {"x": "rate 75.20596766239444, id figure-0a1b2c3d"},
            {"x": "rate 75.20596766239443, id figure-deadbeef"},
            True,
        ),
        ({"y": {"dtype": "f8", "bdata": "AAAAAAAA8D8="}}, {"y": {"dtype": "f8", "bdata": "AQAAAAAA8D8="}}, True),
        ({"y": {"dtype": "f8", "bdata": "AAAAAAAA8D8="}}, {"y": {"dtype": "f8", "bdata": "AAAAAAAA8T8="}}, False),
        ({"y": {"dtype": "f8", "bdata": "AAAAAAAA8D8="}}, {"y": {"dtype": "f8", "bdata": "AAAA"}}, False),
        ({"x": 1.0001}, {"x": 1.0002}, False),
        ({"x": 1}, {"x": True}, False),
        ({"x": [1]}, {"x": [1, 2]}, False),
        ({"x": "cell 1"}, {"x": "cell 2"}, False),
        ({"x": "1.5 Mbit/s"}, {"x": "1.5-2.5 Mbit/s"}, False),
        ({"x": 10**10}, {"x": 10**10 + 1}, False),
        ({"x": "tolerance=0.01"}, {"x": "tolerance=0.02"}, False),
        ({"x": "a"}, {"x": "b"}, False),
        ({"x": 1}, {"y": 1}, False),
    ],
)
def test_notebooks_are_equal_when_only_the_last_digits_differ(first: object, second: object, equal: bool) -> None:
    assert equal_but_for_rounding(json.dumps(first), json.dumps(second)) is equal
    assert not equal_but_for_rounding(json.dumps(first), "no notebook")


@pytest.mark.slow
def test_a_notebook_that_differs_by_rounding_only_is_not_written_again(
    built: Chapter, capfd: pytest.CaptureFixture[str]
) -> None:
    text = built.solution.read_text(encoding="utf-8")
    assert "4.8\\n" in text
    built.solution.write_text(text.replace("4.8\\n", "4.800000000000001\\n"), encoding="utf-8")
    student_ns = built.student.stat().st_mtime_ns
    build(built)
    assert "4.800000000000001" in built.solution.read_text(encoding="utf-8")
    assert built.student.stat().st_mtime_ns == student_ns
    assert "eavesdropping" not in capfd.readouterr().err
