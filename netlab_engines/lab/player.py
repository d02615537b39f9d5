"""Connect the terminal in which netlab was started to a program in a guest."""

import os
import re
import select
import shutil
import signal
import sys
import time
from typing import TextIO

from netlab_engines.agent.terminals import OFFER, PACE, PACE_NO_MORE
from netlab_engines.lab import terminal
from netlab_engines.lab.session import GuestSession

NO_LIMIT_S = 1e9
_TERMINAL_REQUEST = re.compile(re.escape(OFFER).replace(r"\{\}", "([^\x07]+)"))
FAST_TURN_S = 0.5
CTRL_C = b"\x03"


def connect_terminal(session: GuestSession, pid: int, *, paced: bool) -> int:
    """Connect this terminal to the program whose terminal in the session's guest has the id `pid`, until the program
    ends, and return its exit code (0 if it is not known). If `paced`, the network runs in real time, else as fast as
    possible; the program can switch that. Keys and Ctrl-C go to the program; if it asks for a terminal of a node, the
    command that opens it in another shell is printed.
    """
    terminals: list[terminal.Terminal] = []

    def offer_terminal(found: re.Match[str]) -> str:
        """Make a terminal of the node that the program asks for, whose name is in the match `found`, and return a line
        that says how to open it, in place of the request.
        """
        terminals.append(terminal.Terminal(session, found[1]))
        return f"In another shell, type: {terminals[-1].command}\r\n"

    typed = b""

    stopping = session.stopping
    show = write if stopping is None else stopping.guard_output(write)

    def read_keys(patience_s: float) -> None:
        """Wait at most `patience_s` s of wall-clock time for keys, and append them to those that were typed. In a
        script that is not paced, Ctrl-C asks the script to end; a closed terminal does, too, or raises SystemExit if
        there is no script.
        """
        nonlocal typed
        if not select.select(reading, [], [], patience_s)[0]:
            return
        try:
            data = os.read(reading[0], terminal.READ_BYTES)
        except OSError:
            data = b""
        if not data:
            # The terminal was closed.
            reading.clear()
            if stopping is None:
                raise SystemExit(128 + signal.SIGHUP)
            stopping.ask(signal.SIGHUP)
        typed += data
        if CTRL_C in typed and stopping is not None and not paced:
            typed = typed.replace(CTRL_C, b"")
            stopping.ask(signal.SIGINT)

    def check_keys() -> None:
        """Read keys while the guest computes, and interrupt the program at once if one of them is Ctrl-C."""
        # The guest receives keys only between two turns, and a turn lasts as long as a program computes.
        nonlocal typed
        read_keys(0)
        if CTRL_C in typed:
            typed = typed.replace(CTRL_C, b"")
            session.guest.interrupt()

    wall_s = time.monotonic()
    network_s, keys = 0.0, ""
    now_s: float | None = None
    reading = [sys.stdin.fileno()]
    with terminal.raw(sys.stdin.fileno()):
        while True:
            turn_s = terminal.TURN_S if paced else FAST_TURN_S
            answer = session.request(on_wait=check_keys).turn(pid=pid, keys=keys, turn_s=turn_s, until_text=not paced)
            # Use the lab's clock: other terminals also let time pass.
            network_s += turn_s if now_s is None else answer["now_s"] - now_s
            now_s = answer["now_s"]
            text = _TERMINAL_REQUEST.sub(offer_terminal, answer["text"])
            for mark, meaning in ((PACE, True), (PACE_NO_MORE, False)):
                if mark in text:
                    text, paced = text.replace(mark, ""), meaning
                    if paced and stopping is not None:
                        stopping.reset()
            # A terminal puts a return before each new line, and a file has none.
            show(text if sys.stdout.isatty() else text.replace("\r\n", "\n"))
            if answer["ended"]:
                return int(answer["code"] or 0)
            ahead_s = network_s - (time.monotonic() - wall_s)
            if not paced or ahead_s < -terminal.MAX_BEHIND_S:
                wall_s, network_s, ahead_s = time.monotonic(), 0.0, 0.0
            read_keys(max(0.0, ahead_s))
            keys, typed = typed.decode(errors="replace"), b""


def size() -> tuple[int, int]:
    """Return the size of this terminal in characters, as rows and columns, in this order."""
    columns, rows = shutil.get_terminal_size()
    return rows, columns


def write(text: str) -> None:
    """Write a text to the standard output of this process and flush it; surrogates become the bytes that they stand
    for. Nothing happens without a standard output, as after `>&-`.
    """
    if sys.stdout is not None:
        _write_to(sys.stdout, text)


def readable(text: str) -> str:
    """Return a script's text with the replacement character in place of each byte that is not UTF-8, now a surrogate."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def discard_output(stream: TextIO) -> None:
    """Discard what is left to write to an open text file, and all that comes later: Python would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_errors(text: str) -> None:
    """Write a text to the standard error of this process, as `write` does; if that fails, discard it and all later
    ones.
    """
    if sys.stderr is None:
        return
    try:
        _write_to(sys.stderr, text)
    except OSError:
        discard_output(sys.stderr)


def _write_to(stream: TextIO, text: str) -> None:
    """Write a text to an open text file and flush it; surrogates become the bytes that they stand for."""
    if not hasattr(stream, "buffer"):
        # A notebook's output takes text alone.
        stream.write(readable(text))
        stream.flush()
        return
    stream.flush()
    stream.buffer.write(text.encode(errors="surrogateescape"))
    stream.buffer.flush()
