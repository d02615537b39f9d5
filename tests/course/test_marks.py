"""Marked cells are stripped of solutions, and wrong marks are refused."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab_course.marks import INSTRUCTION, PROMPT, AuthoringError, strip_code, strip_markdown, without_marks


@pytest.mark.parametrize(
    ("marked", "answer"),
    [
        ("x = 4.8  # SOLUTION", "x = 4.8"),
        ("if x:\n    # BEGIN SOLUTION NO PROMPT\n    y = 2\n    # END SOLUTION", "if x:\n    y = 2"),
        ("Why?\n<!-- BEGIN SOLUTION -->\nBecause.\n<!-- END SOLUTION -->", "Why?\nBecause."),
        ("# The SOLUTION of the equation\nx = 1", "# The SOLUTION of the equation\nx = 1"),
    ],
)
def test_an_answer_is_read_without_its_marks(marked: str, answer: str) -> None:
    assert without_marks(marked) == answer


@pytest.mark.parametrize(
    ("given_code", "stub"),
    [
        ("x = 4.8  # SOLUTION", "x = ..."),
        ("x: float = 4.8 # SOLUTION", "x: float = ..."),
        ("größe = 'a # SOLUTION'  #SOLUTION", "größe = ..."),
        ("a.b[0] = c = f(x == 1)  # SOLUTION", "a.b[0] = c = ..."),
        ("x += 1  # SOLUTION", "..."),
        ("f(x)  # SOLUTION", "..."),
        ("if a:\n    return_ = 1  # SOLUTION", "if a:\n    return_ = ..."),
        ("def f():\n    return 1  # SOLUTION", "def f():\n    ..."),
        ("a = 1\nb = 2  # SOLUTION NO PROMPT", "a = 1"),
        ("a = 1\n# BEGIN SOLUTION\nb = 2\n# END SOLUTION", "a = 1\n..."),
        ("a = 1\n# BEGIN SOLUTION NO PROMPT\nb = 2\n# END SOLUTION\nc = 3", "a = 1\nc = 3"),
        (
            "for i in x:\n    # BEGIN SOLUTION\n    a = 1\n\n    b = 2\n    # END SOLUTION",
            "for i in x:\n    ...",
        ),
        ("text = '# BEGIN SOLUTION'", "text = '# BEGIN SOLUTION'"),
        ("%matplotlib inline\n!ls 'x", "%matplotlib inline\n!ls 'x"),
    ],
)
def test_solutions_become_stubs(given_code: str, stub: str) -> None:
    assert strip_code(given_code) == stub


@pytest.mark.parametrize(
    ("code", "line", "words"),
    [
        ("a = 1\n# BEGIN SOLUTION\nb = 2", 11, "without `# END SOLUTION`"),
        ("a = 1\n# END SOLUTION", 11, "without `# BEGIN SOLUTION` before it"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION", 11, "inside the block that begins in line 10"),
        (
            "# BEGIN SOLUTION\na = 1  # SOLUTION\n# END SOLUTION",
            11,
            "inside the solution that begins in line 10",
        ),
        ("a = 1  # BEGIN SOLUTION", 10, "line of its own"),
        ("a = 1\n# SOLUTION", 11, "must follow the line that it covers"),
        ("a = [1,\n  2]  # SOLUTION", 11, "one whole statement on one line"),
        ("if a:  # SOLUTION\n    b = 1", 10, "one whole statement on one line"),
        ("a = 1; b = 2  # SOLUTION", 10, "covers one statement"),
        ("a, b = 1, 2  # SOLUTION", 10, "cannot be unpacked"),
        ("a = 1\nb = 1  # solution", 11, "is not a mark"),
        ("# BEGIN  SOLUTON\n# BEGIN SOLUTIONS\na = 1", 11, "is not a mark"),
        ("# BEGIN SOLUTION\na = 1\n# END SOLUTION NO PROMPT", 12, "belongs after `# BEGIN SOLUTION`"),
        ("def f():\n    # BEGIN SOLUTION NO PROMPT\n    a = 1\n    # END SOLUTION", 10, "is not valid Python"),
        ("!ls 'x\na = 1  # SOLUTION\n'''", 10, "must be plain Python"),
    ],
)
def test_a_misplaced_mark_is_an_error_with_file_and_line(code: str, line: int, words: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        strip_code(code, "solutions/01_topic.py", first_line=10)
    assert str(caught.value).startswith(f"solutions/01_topic.py:{line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n<!-- BEGIN SOLUTION -->", 2),
        ("<!-- END SOLUTION -->", 1),
        ("<!-- BEGIN SOLUTION -->\n<!-- BEGIN SOLUTION -->\n<!-- END SOLUTION -->", 2),
    ],
)
def test_unbalanced_marks_in_markdown_are_errors_too(text: str, line: int) -> None:
    with pytest.raises(AuthoringError, match=rf"^file:{line}: "):
        strip_markdown(text, "file")


@pytest.mark.parametrize("between", ["\n", "\n\n", "\n\n\n"])
def test_the_room_for_an_answer_is_a_paragraph_below_its_instruction(between: str) -> None:
    solution = "<!-- BEGIN SOLUTION -->\nSECRET\n<!-- END SOLUTION -->\n"
    assert strip_markdown(f"Why?{between}{solution}") == f"Why?\n\n{INSTRUCTION}\n\n{PROMPT}"
    assert strip_markdown(solution) == f"{INSTRUCTION}\n\n{PROMPT}"
    two = strip_markdown(f"One?\n{solution}Two?\n{solution}")
    assert two == f"One?\n\n{INSTRUCTION}\n\n{PROMPT}\nTwo?\n\n{PROMPT}"


PLAIN = st.sampled_from(
    ["a = 1", "b = a + 1", "if a:\n    c = 2", "# a comment", "", "text = '''\n# END SOLUTION\n'''"]
)
SECRET = st.sampled_from(["secret = 42", "secret = [42,\n    42]", "# secret 42", "\n", "if 42:\n    secret = 42"])


@st.composite
def marked_cells(draw: st.DrawFn) -> tuple[str, str]:
    """A cell with solutions and what must be left of it."""
    full: list[str] = []
    left: list[str] = []
    for kind in draw(st.lists(st.sampled_from(["plain", "block", "bare block", "line"]), max_size=8)):
        if kind == "plain":
            text = draw(PLAIN)
            full.append(text)
            left.append(text)
        elif kind == "line":
            full.append("secret = 42  # SOLUTION")
            left.append("secret = ...")
        else:
            bare = kind == "bare block"
            inside = draw(st.lists(SECRET, max_size=3))
            full += [f"# BEGIN SOLUTION{' NO PROMPT' if bare else ''}", *inside, "# END SOLUTION"]
            left += [] if bare else ["..."]
    return "\n".join(full), "\n".join(left)


@given(marked_cells())
def test_stripping_takes_the_solutions_and_nothing_else(cell: tuple[str, str]) -> None:
    full, left = cell
    stripped = strip_code(full)
    assert stripped == left
    assert "42" not in stripped
    ast.parse(stripped)
    assert strip_code(stripped) == stripped


@given(marked_cells(), st.data())
def test_a_lost_mark_is_always_noticed(cell: tuple[str, str], data: st.DataObject) -> None:
    lines = cell[0].split("\n")
    inside_text = False
    marks = []
    for number, line in enumerate(lines):
        inside_text ^= "'''" in line
        if not inside_text and line.startswith(("# BEGIN", "# END")):
            marks.append(number)
    if not marks:
        return
    del lines[data.draw(st.sampled_from(marks))]
    with pytest.raises(AuthoringError):
        strip_code("\n".join(lines))


@given(st.text())
def test_text_without_marks_is_left_as_it_is(text: str) -> None:
    if "SOLUTION" not in text.upper():
        assert strip_code(text) == text
        assert strip_markdown(text) == text
