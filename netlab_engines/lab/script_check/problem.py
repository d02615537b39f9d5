"""A problem of a script, as a sentence."""

from dataclasses import dataclass, field
from pathlib import Path

MAX_LINES_NAMED = 5
LAST_LINE = 1 << 30


@dataclass
class Problem:
    """A problem of the script's file `path`, or of one of its modules, that was found before it ran: once for all its
    lines with the problem.
    """

    path: Path
    text: str
    """A whole sentence without its place."""
    lines: list[int] = field(default_factory=list)
    stops: bool = False
    """Certainly ends the script."""
    is_python2: bool = False
    """Shows that the script was written for Python 2, and that converting it helps."""

    def sentence(self) -> str:
        """Return the problem's text after its place, such as "s.py, lines 3, 7: text": the file's path and its distinct
        line numbers (from 1) if they are known, at most MAX_LINES_NAMED of them and the number of the others.
        """
        lines = sorted(set(self.lines))
        if not lines:
            return f"{self.path}: {self.text}"
        named = ", ".join(str(line) for line in lines[:MAX_LINES_NAMED])
        more = f" and {len(lines) - MAX_LINES_NAMED} more" if len(lines) > MAX_LINES_NAMED else ""
        return f"{self.path}, line{'s' if len(lines) > 1 else ''} {named}{more}: {self.text}"


def merge(problems: list[Problem]) -> list[Problem]:
    """Return the problems with those of equal text in the same file merged into one, sorted: those that stop the script
    come first, then those in the file of the first given problem, then by their first lines.
    """
    found: dict[tuple[Path, str], Problem] = {}
    for problem in problems:
        merged = found.setdefault((problem.path, problem.text), Problem(problem.path, problem.text))
        merged.lines += problem.lines
        merged.stops |= problem.stops
    return sorted(
        found.values(),
        key=lambda each: (not each.stops, each.path != problems[0].path, min(each.lines, default=LAST_LINE)),
    )
