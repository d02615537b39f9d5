"""What can go wrong, said in sentences a student can act on."""

from __future__ import annotations

from collections.abc import Sequence

from netlab.base.values import shown

SHORTEST_GUESS = 3


class NetlabError(Exception):
    """Every error that netlab raises on purpose; its text is one or more whole sentences."""


class ScenarioError(NetlabError):
    """A topology or its traffic cannot be run; `problems` holds every mistake found, not just the first."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        count = len(self.problems)
        head = "This scenario cannot run:" if count == 1 else f"This scenario has {count} mistakes:"
        super().__init__("\n".join([head, *(f"  - {problem}" for problem in self.problems)]))


class KernelError(NetlabError):
    """The pocket kernel is missing, broken or cannot be built here."""


class EngineError(NetlabError):
    """The chosen engine cannot run on this machine; the text names the remedy."""


class NotHereError(EngineError):
    """The engine that was chosen cannot do what was asked; the text says which can."""


class RunError(NetlabError):
    """A run started and did not finish."""


class RunCancelled(RunError):  # noqa: N818 (whoever stopped a run made no error)
    """A run was stopped by whoever started it."""


class ThroughputError(NetlabError):
    """The throughput engine cannot do what it was asked."""


def one_of(value: object, allowed: Sequence[object]) -> str:
    """Say what was seen, what is allowed, and which allowed word is nearest: the tail of most messages about a word.

    >>> one_of("rum", ["run", "demo"])
    "got 'rum'; allowed: run, demo; did you mean run?"
    >>> one_of("h9", ["h1", "h2"])
    "got 'h9'; allowed: h1, h2"
    """
    import difflib

    words = [str(word) for word in allowed]
    # Names as short as h1 and h2 are all near to each other.
    long = [word for word in words if len(word) >= SHORTEST_GUESS]
    nearest = difflib.get_close_matches(value, long, n=1) if isinstance(value, str) else []
    guess = f"; did you mean {nearest[0]}?" if nearest else ""
    return f"got {shown(value)}; allowed: {', '.join(words)}{guess}"
