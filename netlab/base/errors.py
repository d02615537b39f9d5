"""Errors with messages that a student can act on."""

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from netlab.base.values import shown

SHORTEST_GUESS = 3
_P = ParamSpec("_P")
_T = TypeVar("_T")


class _Short(BaseException):
    """An exception that IPython shows in a few lines."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows instead of a traceback: the student's own line and the message."""
        import traceback
        from pathlib import Path

        package = Path(__file__).parent.parent
        own = [
            frame
            for frame in traceback.extract_tb(self.__traceback__)
            if frame.line and not Path(frame.filename).is_relative_to(package) and "site-packages" not in frame.filename
        ]
        where = [f"In line {own[-1].lineno}: {own[-1].line}", ""] if own else []
        return [*where, f"{type(self).__name__}: {self}"]


class NetlabError(_Short, Exception):
    """Every error that netlab raises on purpose; its text is one or more whole sentences."""


class Interrupted(_Short, KeyboardInterrupt):
    """Ctrl-C, or the notebook's square, stopped what netlab did; its text says what is left of it."""


LONGEST_PROBLEM = 1000


class ScenarioError(NetlabError):
    """A topology or its traffic cannot be run; `problems` holds every mistake found, not just the first."""

    def __init__(self, problems: Sequence[str]) -> None:
        # Names of any length may be in them, also such as no file of text takes.
        written = [each.encode("utf-8", "backslashreplace").decode() for each in problems]
        self.problems = [
            each if len(each) <= LONGEST_PROBLEM else f"{each[: LONGEST_PROBLEM - 1]}…" for each in written
        ]
        count = len(self.problems)
        head = "This cannot run:" if count == 1 else f"This cannot run; it has {count} mistakes:"
        super().__init__("\n".join([head, *(f"  - {problem}" for problem in self.problems)]))


def told_arguments(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a function answer arguments that it has not with those that it has, where Python has but a TypeError."""
    import functools
    import inspect

    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*given: _P.args, **named: _P.kwargs) -> _T:
        allowed = list(signature.parameters)
        problems = [
            f"{function.__name__}: unknown argument: {one_of(name, allowed)}" for name in named if name not in allowed
        ]
        try:
            signature.bind(*given, **{name: value for name, value in named.items() if name in allowed})
        except TypeError as error:
            problems.append(
                f"{function.__name__}: {error}; it takes ({', '.join(allowed)}), and the flows in one list: [..., ...]"
            )
        if problems:
            raise ScenarioError(problems)
        return function(*given, **named)

    return checked


class KernelError(NetlabError):
    """The pocket kernel is missing, broken or cannot be built here."""


class EngineError(NetlabError):
    """The chosen engine cannot run on this machine; the text names the remedy."""


class NotHereError(EngineError):
    """The engine that was chosen cannot do what was asked; the text says which can."""


class RunError(NetlabError):
    """A run started and did not finish."""


class RunCancelled(RunError):  # noqa: N818 (stopping a run is no error)
    """A run was stopped by its caller."""


class ThroughputError(NetlabError):
    """The throughput engine cannot do what it was asked."""


def unknown_name(module: str, name: str, known: Sequence[str]) -> AttributeError:
    """The error for a name that a module does not have, with the nearest of those that it has.

    >>> print(unknown_name("netlab", "Tpc", ["Tcp", "Udp", "run"]))
    module 'netlab' has no attribute 'Tpc'; did you mean Tcp?
    """
    return AttributeError(f"module {module!r} has no attribute {name!r}{_guess(name, known)}")


def one_of(value: object, allowed: Sequence[object]) -> str:
    """Say what was seen, what is allowed, and which allowed word is nearest: the tail of most messages about a word.

    >>> one_of("rum", ["run", "demo"])
    "got 'rum'; allowed: run, demo; did you mean run?"
    >>> one_of("h9", ["h1", "h2"])
    "got 'h9'; allowed: h1, h2"
    >>> one_of("ecn", [])
    "got 'ecn'; allowed: none"
    """
    words = [str(word) for word in allowed]
    return f"got {shown(value)}; allowed: {', '.join(words) or 'none'}{_guess(value, words)}"


def _guess(value: object, words: Sequence[str]) -> str:
    import difflib

    # Names as short as h1 and h2 are all near to each other.
    long = {word.lower(): word for word in words if len(word) >= SHORTEST_GUESS}
    word = value.lower() if isinstance(value, str) else ""
    # cwnd_segments and rtt_ms are often asked for without their units.
    nearest = difflib.get_close_matches(word, long, n=1) or [name for name in long if name.startswith(f"{word}_")]
    return f"; did you mean {long[nearest[0]]}?" if word and nearest else ""
