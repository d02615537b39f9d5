"""The check of docstrings and comments that `make lint` runs."""

from pathlib import Path

import pytest

from tests.programs import load

SOURCE = '''"""What a module has."""
import os  # the standard library

# Of all lines the first counts.
# Return nothing.

class Box:
    """A box."""

    width_mm = 3
    """Whether it is wide."""

    def name(self):
        """Return the name."""
        # noqa: D102
        return "What is in a string does not count"
'''


def test_docstrings_fields_and_comment_blocks_are_counted_once(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text(SOURCE)
    found = load("tools/wording.py").headless_sentences(package)
    assert found == [
        "package/module.py:1: What a module has.",
        "package/module.py:4: Of all lines the first counts.",
        "package/module.py:11: Whether it is wide.",
    ]


SCRIPT = """// Whether it is wide.
// What a second line of a block says does not count.
const width = 3; // What follows code does not count
/* Of all words the first counts.
 * Return the width. */
// Return the height.
"""


def test_blocks_of_comments_in_scripts_are_examined(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "page.js").write_text(SCRIPT)
    (package / "page.c").write_text(SCRIPT)
    assert load("tools/wording.py").headless_sentences(package) == [
        "package/page.js:1: Whether it is wide.",
        "package/page.js:4: Of all words the first counts.",
    ]


DESCRIPTIONS = '''"""How many boxes there are."""

class Box:
    """A box.

    Attributes
    ----------
    width_mm : float
        How wide it is, in mm.
        What a second line says does not count.

    Examples
    --------
    >>> "in another section"
    How words begin does not matter.
    """

    weight_g = 3
    """How many grams it weighs."""

    def fill(self, items, lid):
        """Fill the box.

        Parameters
        ----------
        items : list
            Number of items.
        lid : bool
            Whether it gets a lid.
        """
'''


def test_descriptions_of_parameters_attributes_and_fields_are_examined(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text(DESCRIPTIONS)
    found = load("tools/wording.py").headless_sentences(package)
    assert found == [
        "package/module.py:9: How wide it is, in mm.",
        "package/module.py:19: How many grams it weighs.",
        "package/module.py:29: Whether it gets a lid.",
    ]


@pytest.mark.parametrize("word", ["When", "Whatever", "Which", "Twice"])
def test_sentences_without_a_subject_are_refused(word: str) -> None:
    assert load("tools/wording.py").is_headless(f"{word} a packet is lost.")


@pytest.mark.parametrize("word", ["How", "Whether", "What", "When", "Where", "Of", "Who"])
def test_descriptions_that_begin_with_a_question_word_are_refused(word: str) -> None:
    assert load("tools/wording.py").is_headless_description(f"{word} packets.")


@pytest.mark.parametrize(
    "sentence", ["How many packets fit", "One of the two ends", "Before sending, the queue drains"]
)
def test_noun_phrases_that_begin_with_such_a_word_are_accepted(sentence: str) -> None:
    assert not load("tools/wording.py").is_headless(sentence)


def test_more_sentences_than_the_limit_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wording = load("tools/wording.py")
    monkeypatch.setattr("sys.argv", ["wording.py"])
    monkeypatch.setattr(wording, "MAX_HEADLESS", {("netlab_replication",): -1})
    assert wording.main() == 1
    assert "CONTRIBUTING.md, Wording" in capsys.readouterr().out
