"""Output of student code during a check: a limit for functions that are called thousands of times."""

import contextlib
import io
import sys
from collections import deque
from collections.abc import Iterator

MAX_LINES = 20
MAX_LINE_CHARACTERS = 500


class _Tail(io.TextIOBase):
    """A text stream that keeps the last MAX_LINES lines and counts all."""

    def __init__(self) -> None:
        """Begin with no text."""
        self.lines: deque[str] = deque(maxlen=MAX_LINES)
        self.count = 0
        self._open = ""

    def writable(self) -> bool:
        """Return True: text can be written to this stream."""
        return True

    def write(self, text: str) -> int:
        """Append text, of which the last 20 whole lines are kept; return the number of its characters."""
        *whole, self._open = (self._open + text).split("\n")
        self.lines.extend(whole)
        self.count += len(whole)
        return len(text)

    def text(self) -> str:
        """Return the last 20 lines, each cut to 500 characters, after a line with the number of those left out, if any;
        "" if nothing was written.
        """
        if self._open:
            self.write("\n")
        left = self.count - len(self.lines)
        before = [f"({left} printed lines left out; the last {MAX_LINES}:)"] if left else []
        return "\n".join(
            [
                *before,
                *(f"{line[:MAX_LINE_CHARACTERS]}…" if len(line) > MAX_LINE_CHARACTERS else line for line in self.lines),
            ]
        )


@contextlib.contextmanager
def last_lines() -> Iterator[None]:
    """Collect the standard output while the context lasts, and print it at the end, also after an error: at most the
    last 20 lines, each cut to 500 characters.
    """
    tail = _Tail()
    try:
        with contextlib.redirect_stdout(tail):
            yield
    finally:
        if text := tail.text():
            sys.stdout.write(f"{text}\n")
