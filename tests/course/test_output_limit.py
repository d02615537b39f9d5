"""Output of functions that print many lines."""

from __future__ import annotations

import sys

import pytest

from netlab_course.output_limit import last_lines


@last_lines()
def prints_and_fails() -> None:
    for number in range(500):
        sys.stdout.write(f"line {number}\n")
    sys.stdout.write("no end")
    raise ValueError("stop")


@last_lines()
def prints_two_lines() -> None:
    sys.stdout.write("one\ntwo\n")


@last_lines()
def prints_a_piece() -> None:
    sys.stdout.write(f"{bytes(1000)!r}\n")


def test_last_of_many_printed_lines_are_shown_even_after_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="stop"):
        prints_and_fails()
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("(481 printed lines left out")
    assert lines[-2:] == ["line 499", "no end"] and len(lines) == 20


def test_a_few_printed_lines_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    prints_two_lines()
    assert capsys.readouterr().out == "one\ntwo\n"


def test_beginning_of_a_long_line_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    prints_a_piece()
    assert capsys.readouterr().out == repr(bytes(1000))[:500] + "…\n"
