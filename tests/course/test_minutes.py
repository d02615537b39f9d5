"""The minutes that a notebook takes, as counted from its cells."""

from pathlib import Path

import pytest

from netlab_course import authoring
from netlab_course.authoring import read_source
from netlab_course.minutes import minutes
from tests.course.test_authoring import _write_source as sourced


def test_minutes_count_words_lines_figures_and_exercises(tmp_path: Path) -> None:
    source = sourced(
        tmp_path / "solutions" / "01_nowhere.py",
        '# %% [markdown] id="title"\n# ' + "word " * 120 + "$x = 1$ and `no`",  # 122 words
        '# %% id="limit"\n' + "x = 1\n" * 8 + "# a comment\ny = 2  # SOLUTION",  # 9 lines
        '# %% id="limit-check"\nprint(1)',  # 1 line, 10 minutes
        '# %% id="why-words" tags=["minutes-5"]\ny = 1',  # 1 line, 5 minutes
        '# %% id="plumbing" tags=["folded"]\n' + "x = 1\n" * 80,
        '# %% id="plot" tags=["figure"]\nx = 1',  # 1 line, 1.5 minutes
        '# %% id="predict"\na = nl.checks.predict("x", 1)\nb = nl.checks.predict("y", 1)',  # 2 lines, 3 minutes
        '# %% id="table"\nprint(x.to_string())',  # 1 line, 1 minute
        '# %% id="panel" tags=["figure"]\nchapter.panel()',  # 1 line, 8 minutes
        '# %% id="mine"\nrun = nl.run(network)  # SOLUTION',  # 1 line
        '# %% id="mine-check" tags=["figure"]\nprint(1)',  # 1 line, 13 minutes, its own figure in them
        '# %% [markdown] id="summary"\n# One two three.',  # 3 words
        '# %% [markdown] id="more"\n# ' + "word " * 1000,
    )
    expected = (122 + 3) / 120 + (12 + 6) / 8 + 10 + 5 + 1.5 + 3 + 1 + 8 + 13
    measured = minutes(read_source(source))
    assert measured == pytest.approx(expected), f"expected {expected} minutes, counted {measured}"


def test_no_chapter_takes_more_than_ninety_minutes() -> None:
    sources = Path(__file__).parents[2].joinpath("solutions").glob("[0-9]*.py")
    answers = {path.stem: minutes(read_source(path)) for path in sources}
    assert max(answers.values()) <= 90, answers


def test_optional_part_takes_no_minutes_and_is_marked(tmp_path: Path) -> None:
    text = (
        '# %% [markdown] id="one"\n# '
        + "word " * 120
        + '\n\n# %% [markdown] id="two" tags=["optional"]\n# '
        + "word " * 240
        + "\n"
    )
    assert minutes(read_source(sourced(tmp_path / "01_nowhere.py", text))) == pytest.approx(1)
    for page in authoring.chapters(Path()):
        cells = read_source(page.source).cells
        optional = ["optional" in cell.metadata.get("tags", []) for cell in cells]
        firsts = [
            cell for cell, one, before in zip(cells, optional, [False, *optional], strict=False) if one and not before
        ]
        assert all("optional" in cell.source.split("\n")[0].lower() for cell in firsts), page.source
