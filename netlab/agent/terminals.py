"""Programs on a pty, in turns: some keys go in, a little time passes, and what the screen would show comes out."""

import codecs
import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable

from netlab.agent.gate import Gate
from netlab.protocol.requests import Shown

READ_BYTES = 1 << 16
OFFER = "\x1b]netlab;terminal;{}\x07"
"""Written to a terminal by Mininet's prompt: offer a terminal of this node."""
PACE, PACE_NO_MORE = "\x1b]netlab;pace\x07", "\x1b]netlab;go\x07"
"""Written to the terminal around Mininet's prompt: there the network's time keeps to the wall's."""
TURN_BYTES = 30_000


class Terminals:
    """Terminals by the process on them; `foreground` names the process group that an interrupt from outside is for, 0
    is none.
    """

    def __init__(self, foreground: Callable[[int], None]) -> None:
        self._foreground = foreground
        self._open: dict[int, tuple[subprocess.Popen[bytes], int]] = {}

    def open(self, command: list[str], directory: str, environment: dict[str, str], rows: int, columns: int) -> int:
        """Start a program on a new pty, which it has to take as its own (`setsid -c`); returns its pid."""
        master, slave = pty.openpty()
        _resize(master, rows, columns)
        # `setsid` makes the session: a leader of one already would have to fork for it, and end.
        process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=directory, env=environment)
        os.close(slave)
        os.set_blocking(master, False)
        self._open[process.pid] = (process, master)
        return process.pid

    def turn(
        self,
        pid: int,
        keys: str = "",
        turn_s: float = 0.02,
        size: list[int] | None = None,
        close: bool = False,
        until_text: bool = False,
    ) -> Shown:
        """Give a terminal keys and let `turn_s` of time pass, or less where there is text before; returns its text, whether it has
        ended, and its exit code.
        """
        process, master = self._open[pid]
        if size is not None:
            _resize(master, *size)
        if keys:
            os.write(master, keys.encode())
        # A program may compute for minutes while none of this time passes; an interrupt is then for whom Ctrl-C would be for.
        with contextlib.suppress(OSError):
            self._foreground(os.tcgetpgrp(master))
        deadline_s = time.monotonic() + turn_s
        text, gone = b"", False
        while (
            not gone
            and not (until_text and text)
            and len(text) < TURN_BYTES
            and (left_s := deadline_s - time.monotonic()) > 0
        ):
            ready, _, _ = select.select([master], [], [], left_s)
            data = read_now(master) if ready else None
            text += data or b""
            gone = data == b""
        self._foreground(0)
        if close:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGHUP)
        if gone or close:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
        code = process.poll()
        ended = code is not None or gone or close
        if ended:
            # The program may have printed its last lines and ended since they were looked for.
            while not gone and (data := read_now(master)):
                text += data
            os.close(master)
            del self._open[pid]
        return {"text": text.decode(errors="replace"), "ended": ended, "code": code}


def _resize(master: int, rows: int, columns: int) -> None:
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read_now(fd: int) -> bytes | None:
    """What is there to read now; nothing at the end, None where nothing has come yet."""
    try:
        return os.read(fd, READ_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        # The last program on a pty has ended.
        return b""


def run_shown(gate: Gate, command: list[str], cwd: str, env: dict[str, str], *, endless_input: bool = False) -> int:
    """Run a program, the one that an interrupt is for, and send what it prints to the gate; returns its exit status.

    With an `endless_input` it may look at its input while something else runs, as Mininet's prompt does: one that ended
    would keep it busy.
    """
    reading, writing = os.pipe()
    given, kept = os.pipe()
    process = subprocess.Popen(
        command,
        stdin=given if endless_input else subprocess.DEVNULL,
        stdout=writing,
        stderr=writing,
        cwd=cwd,
        env=env,
        start_new_session=True,
    )
    for end in (writing, given):
        os.close(end)
    gate.foreground(process.pid)
    # A program in the background may hold the pipe open for ever; the command ends with its shell.
    ended = os.pidfd_open(process.pid)
    try:
        _relay(gate, reading, ended)
        return process.wait()
    finally:
        gate.foreground(0)
        for end in (reading, kept, ended):
            os.close(end)


def _relay(gate: Gate, reading: int, ended: int) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    os.set_blocking(reading, False)
    while True:
        ready, _, _ = select.select([reading, ended], [], [])
        while (data := read_now(reading)) is not None:
            if not data:
                return
            gate.put(text=decoder.decode(data))
        if ended in ready:
            return
