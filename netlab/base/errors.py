"""Errors with messages that a student can act on."""

from collections.abc import Mapping, Sequence

from netlab.base.values import short_repr

MIN_GUESS_LENGTH = 3
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("bw", "bandwidth", "rate", "speed", "capacity", "mbps"), ("rate_mbps",)),
    **dict.fromkeys(("delay", "latency"), ("delay_ms",)),
    "jitter": ("jitter_ms",),
    **dict.fromkeys(("loss", "plr"), ("loss_rate",)),
    **dict.fromkeys(("max_queue_size", "queue", "queue_size", "qlen", "buffer", "limit"), ("queue_packets",)),
    **dict.fromkeys(("qdisc", "queue_type", "scheduler", "discipline", "enable_red"), ("aqm",)),
    **dict.fromkeys(("cc", "cca", "algorithm", "congestion_control"), ("congestion",)),
    **dict.fromkeys(("size", "bytes", "packet_size", "length"), ("payload_bytes", "num_bytes")),
    **dict.fromkeys(("connections", "parallel"), ("streams",)),
    **dict.fromkeys(("rwnd", "win", "window"), ("window_bytes",)),
    **dict.fromkeys(("time", "when"), ("at_s", "duration_s")),
    **dict.fromkeys(("source", "client", "sender"), ("src",)),
    **dict.fromkeys(("destination", "dest", "server", "target"), ("dst",)),
    **dict.fromkeys(("runs", "repetitions", "times"), ("seeds",)),
    "node1": ("a",),
    "node2": ("b",),
}
"""Names of fields in Mininet and elsewhere, each with the names of the same field in netlab."""


class _BriefTraceback(BaseException):
    """An exception that IPython shows in a few lines: the user's own line and the message, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows instead of a traceback: the user's own line, if any, and the message."""
        import traceback

        from netlab.base.location import is_own_file

        own = [
            frame
            for frame in traceback.extract_tb(self.__traceback__)
            if frame.line and not is_own_file(frame.filename) and "site-packages" not in frame.filename
        ]
        where = [f"In line {own[-1].lineno}: {own[-1].line}", ""] if own else []
        return [*where, f"{type(self).__name__}: {self}"]


class NetlabError(_BriefTraceback, Exception):
    """Every error that netlab raises on purpose; its text is one or more whole sentences."""


class Interrupted(_BriefTraceback, KeyboardInterrupt):
    """Ctrl-C or the notebook's stop button ended an operation of netlab; the text says which results are kept."""


MAX_PROBLEM_LENGTH = 1000


class ScenarioError(NetlabError):
    """A topology or its traffic cannot be run; `problems` is a list with a message for every mistake found."""

    def __init__(self, problems: Sequence[str]) -> None:
        """Make the error from a message for each mistake; each is cut at 1000 characters."""
        # Names may be very long, or not encodable as UTF-8.
        written = [each.encode("utf-8", "backslashreplace").decode() for each in problems]
        self.problems = [
            each if len(each) <= MAX_PROBLEM_LENGTH else f"{each[: MAX_PROBLEM_LENGTH - 1]}…" for each in written
        ]
        count = len(self.problems)
        head = "This cannot run:" if count == 1 else f"This cannot run; it has {count} mistakes:"
        super().__init__("\n".join([head, *(f"  - {problem}" for problem in self.problems)]))


class KernelError(NetlabError):
    """The pocket kernel is missing, broken or cannot be built here."""


class EngineError(NetlabError):
    """The chosen engine cannot run on this machine; the text names the remedy."""


class NotHereError(EngineError):
    """The chosen engine lacks the feature that was asked for; the text names the engines that have it."""


class RunError(NetlabError):
    """A run started and did not finish."""


class RunCancelled(RunError):  # noqa: N818 (stopping a run is not an error)
    """A run was stopped by its caller."""


class ThroughputError(NetlabError):
    """The throughput engine cannot do what it was asked."""


def unknown_name(module: str, name: str, names: Sequence[str]) -> AttributeError:
    """Return, not raise, the AttributeError for a name that a module lacks, with the nearest of `names` or all classes.

    >>> print(unknown_name("netlab", "Tpc", ["Tcp", "Udp", "run"]))
    module 'netlab' has no attribute 'Tpc'; did you mean Tcp?
    """
    guess = _suggestion(name, names)
    if not guess and name[:1].isupper() and (classes := [each for each in names if each[:1].isupper()]):
        guess = f"; its classes are {', '.join(classes)}"
    return AttributeError(f"module {module!r} has no attribute {name!r}{guess}")


def one_of(value: object, allowed: Sequence[object]) -> str:
    """Return the end of a message about a wrong word: "got", the word, the allowed words, the nearest one if any.

    >>> one_of("rum", ["run", "demo"])
    "got 'rum'; allowed: run, demo; did you mean run?"
    >>> one_of("h9", ["h1", "h2"])
    "got 'h9'; allowed: h1, h2"
    >>> one_of("ecn", [])
    "got 'ecn'; allowed: none"
    """
    words = [str(word) for word in allowed]
    return f"got {short_repr(value)}; allowed: {', '.join(words) or 'none'}{_suggestion(value, words)}"


def closest_word(value: object, words: Sequence[str]) -> str:
    """Return the one of `words` that was probably meant by the wrong name `value`; "" if none is near.

    >>> closest_word("goodput", ["flow", "goodput_mbps"]), closest_word("bw", ["rate_mbps"]), closest_word("h9", ["h1", "h2"])
    ('goodput_mbps', 'rate_mbps', '')
    """
    import difflib

    # Names as short as h1 and h2 are all near to each other.
    long = {word.lower(): word for word in words if len(word) >= MIN_GUESS_LENGTH}
    word = value.lower() if isinstance(value, str) else ""
    if not word:
        return ""
    netlab_names = [name for name in _OTHER_NAMES.get(word, ()) if name in words]
    # cwnd_segments and rtt_ms are often asked for without their units.
    without_unit = [name for name in long if name.startswith(f"{word}_")]
    nearest = netlab_names or without_unit or difflib.get_close_matches(word, long, n=1)
    return long.get(nearest[0], nearest[0]) if nearest else ""


def _suggestion(value: object, words: Sequence[str]) -> str:
    """Return "; did you mean WORD?" with the one of `words` that is nearest to `value`; "" if none is near."""
    found = closest_word(value, words)
    return f"; did you mean {found}?" if found else ""
