"""What is the instructor's alone, and whether any of it stands in what students get."""

import re
from collections.abc import Iterable

from netlab.base.errors import NetlabError
from netlab.grading.master import Edition

SHORTEST_SECRET = 12
"""Shorter lines of a solution, such as `else:`, may stand anywhere."""


class LeakError(NetlabError):
    """Something of the instructor's is in what students would get; nothing was written."""


def require_no_answer(texts: Iterable[str], edition: Edition) -> None:
    """Refuse to hand out any line of an answer.

    Raises LeakError when one holds a line that only the instructor's version has.
    """
    lines = {_bare(line) for text in texts for line in text.split("\n")}
    found = sorted(secrets_of(edition) & lines)
    if found:
        raise LeakError(f"The notebook would hand out an answer: the line {found[0]!r}. Nothing was written.")


def secrets_of(edition: Edition) -> set[str]:
    """The lines that the instructor's version of a chapter has and the student's has not."""
    public = {_bare(line) for cell in edition.handed_out for line in cell.source.split("\n")}
    mine = {_bare(line) for cell in edition.solved for line in cell.source.split("\n")}
    return {line for line in mine - public if len(line) >= SHORTEST_SECRET}


def _bare(line: str) -> str:
    """A line of code without its marks and spaces at the ends."""
    return re.sub(r"\s*#.*SOLUTION.*$|<!--.*?-->", "", line).strip()
