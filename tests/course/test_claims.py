"""Claims of a chapter's text about its runs: their text is printed as it is, and a chapter with a wrong claim does not build."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab_course import authoring
from netlab_course.claims import Claim
from netlab_course.marks import AuthoringError


def chapter(tmp_path: Path, text: str) -> authoring.Chapter:
    path = tmp_path / "solutions" / "01_nowhere.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f'# %% id="run"\nimport numpy as np\nrates = np.array([2.0, 4.0])\n\n# %% [markdown] id="why"\n# {text}\n'
    )
    return authoring.Chapter(path)


@pytest.mark.slow
def test_claims_that_hold_are_printed_as_text(tmp_path: Path) -> None:
    created = chapter(
        tmp_path,
        "The mean is [[3.00 = rates.mean() | .2f]], [[half = rates[0] / rates[1] | 0.4 .. 0.6]]; [[yes = rates[0] < rates[1]]].",
    )
    authoring.build(created)
    for path in (created.student, created.solution):
        text = path.read_text()
        assert "The mean is 3.00, half; yes." in text
        assert "rates.mean" not in text
    assert authoring.differences(created) == []


REFUTED = {
    "[[3.01 = rates.mean() | .2f]]": "cell 'why' says '3.01', its runs give '3.00' (rates.mean())",
    "[[a tenth = rates[0] / rates[1] | 0.05 .. 0.15]]": "says 'a tenth', its runs give 0.5",
    "[[falls = rates[0] > rates[1]]]": "says 'falls', its runs give False",
    "[[many = rates]]": "its runs give 'a ndarray'",
    "[[3 = lost.mean() | .0f]]": "cannot be computed: NameError",
}


@pytest.mark.slow
def test_chapter_with_claims_that_runs_contradict_fails_to_build(tmp_path: Path) -> None:
    created = chapter(tmp_path, f"It is {'; '.join(REFUTED)}; and [[yes = rates[0] < rates[1]]].")
    with pytest.raises(AuthoringError) as text:
        authoring.build(created)
    head, *lines = str(text.value).splitlines()
    assert "the text and the runs disagree" in head
    assert [words for words, line in zip(REFUTED.values(), lines, strict=True) if words not in line] == []
    assert not created.solution.exists()
    assert not created.student.exists()


@pytest.mark.parametrize(
    ("claim", "value", "holds"),
    [
        (Claim("a", "**5.0**", "x", ".1f"), 5.04, True),
        (Claim("a", "5.0", "x", ".1f"), 5.06, False),
        (Claim("a", "near", "x", "1 .. 2"), 2, True),
        (Claim("a", "near", "x", "1 .. 2"), float("nan"), False),
        (Claim("a", "near", "x", "1 .. 2"), "text", False),
        (Claim("a", "so", "x", ""), 1, False),
    ],
)
def test_a_claim_holds_by_its_test(claim: Claim, value: object, holds: bool) -> None:
    assert (claim.fault(value) == "") is holds
