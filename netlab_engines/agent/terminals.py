"""Run programs on ptys in turns: a turn sends keys, lets a little time pass and returns the output."""

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
import threading
import time
from collections.abc import Callable, Mapping
from typing import BinaryIO, Literal, TextIO

from netlab_engines.agent.host_channel import HostChannel
from netlab_engines.protocol.requests import TerminalOutput

READ_BYTES = 1 << 16
OFFER = "\x1b]netlab;terminal;{}\x07"
"""Mininet's prompt writes this sequence to its terminal to ask for a terminal of a node."""
PACE, PACE_NO_MORE = "\x1b]netlab;pace\x07", "\x1b]netlab;go\x07"
"""Written to the terminal when Mininet's prompt opens and closes: between the two the network runs in real time."""
TURN_BYTES = 30_000
OutputKind = Literal["text", "error_text"]


class Terminals:
    """The open pseudo-terminals of a lab, each known by the pid of its program; programs run only during a turn,
    because network time passes only then.

    `foreground` sets the process group that receives interrupts from the host; 0 is none.
    """

    def __init__(self, foreground: Callable[[int], None]) -> None:
        """Start without terminals. `foreground` is called at each turn with the id of the process group that is to
        receive the host's interrupts, and with 0 (none) at its end.
        """
        self._foreground = foreground
        self._open: dict[int, tuple[subprocess.Popen[bytes], int]] = {}

    def open(self, command: list[str], directory: str, environment: dict[str, str], rows: int, columns: int) -> int:
        """Start a program on a new pseudo-terminal of `rows` by `columns` characters and return its pid, which names
        the terminal. `command` has its name and arguments and must make the terminal its own (`setsid -c`); `directory`
        is its working directory and `environment` its environment variables. Raises OSError if it cannot be started.
        """
        master, slave = pty.openpty()
        _resize(master, rows, columns)
        # `setsid` makes the session, so Popen must not: setsid in a session leader would fork, and the leader would end.
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
    ) -> TerminalOutput:
        """Send `keys` to the terminal of the program `pid`, let up to `turn_s` s of network time pass (less after about
        TURN_BYTES of output, at the program's end or, if `until_text`, at the first output), and return a dict of its
        output ("text"), whether its program has ended ("ended"; the terminal is then closed) and the exit code ("code",
        None if not known). `size` is a new size, rows and columns (None: unchanged); `close` hangs up the terminal.
        Raises KeyError if there is no such terminal.
        """
        process, master = self._open[pid]
        if size is not None:
            _resize(master, *size)
        if keys:
            os.write(master, keys.encode())
        # A program may compute for minutes while no virtual time passes; an interrupt then goes where Ctrl-C would go.
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
            data = read_available(master) if ready else None
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
            # Read once more: the program may have printed its last lines after the last read.
            while not gone and (data := read_available(master)):
                text += data
            os.close(master)
            del self._open[pid]
        return {"text": text.decode(errors="replace"), "ended": ended, "code": code}


def _resize(master: int, rows: int, columns: int) -> None:
    """Set the size of the pseudo-terminal whose master end has the file descriptor `master`, in rows and columns of
    characters.
    """
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read_available(fd: int) -> bytes | None:
    """Return the bytes, at most READ_BYTES, that can be read from the file descriptor `fd` now: None if there are none
    yet, and b"" at the end of the file or on an error. The descriptor must be non-blocking.
    """
    try:
        return os.read(fd, READ_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        # The pty's last program has ended.
        return b""


def silent_input() -> TextIO:
    """Return a file that is open for reading and has neither data nor an end, for as long as this process runs.

    Mininet's prompt polls its input while a command runs, and an input at its end would keep it busy.
    """
    reading, _ = os.pipe()
    return open(reading)


def run_with_output(
    channel: HostChannel,
    command: list[str],
    cwd: str,
    env: dict[str, str],
    input_file: BinaryIO | int = subprocess.DEVNULL,
    *,
    separate_errors: bool = False,
) -> int:
    """Run a command (its name and arguments) in the directory `cwd` with the environment variables `env`, send its
    output to the host while it runs, and return its exit code (negative: the signal that ended it); later output of its
    background programs is discarded. The host's interrupts go to it. Its standard input is `input_file`, a file or a
    file descriptor; the default is empty. With `separate_errors` its error output is sent separately, and bytes that
    are not UTF-8 as surrogates; else both are one text, in which such bytes are replaced.
    """
    kinds: tuple[OutputKind, ...] = ("text", "error_text") if separate_errors else ("text",)
    pipes = [os.pipe() for _ in kinds]
    process = subprocess.Popen(
        command,
        stdin=input_file,
        stdout=pipes[0][1],
        stderr=pipes[-1][1],
        cwd=cwd,
        env=env,
        start_new_session=True,
    )
    for _, writing in pipes:
        os.close(writing)
    channel.foreground(process.pid)
    # Wait for the shell, not for the end of the pipe, which a background program may keep open for ever.
    ended = os.pidfd_open(process.pid)
    try:
        on_invalid = "surrogateescape" if separate_errors else "replace"
        _relay(channel, {reading: kind for (reading, _), kind in zip(pipes, kinds, strict=True)}, ended, on_invalid)
        return process.wait()
    finally:
        channel.foreground(0)
        os.close(ended)
        # A background program that writes to a closed pipe would be killed.
        for reading, _ in pipes:
            threading.Thread(target=_discard, args=(reading,), daemon=True).start()


def _discard(pipe: int) -> None:
    """Read the pipe with the file descriptor `pipe` and discard the data until no program has its other end open, then
    close it; blocks meanwhile.
    """
    os.set_blocking(pipe, True)
    while os.read(pipe, READ_BYTES):
        pass
    os.close(pipe)


def _relay(channel: HostChannel, pipes: Mapping[int, OutputKind], pidfd: int, on_invalid: str) -> None:
    """Send the host the text that arrives on pipes, as a message of the kind that `pipes` has by the pipe's descriptor,
    and reports of programs that fail early; return when all pipes are at their ends or the process of the pidfd `pidfd`
    has ended and its output until then is sent. `on_invalid` is the name of the way to decode bytes that are not UTF-8.
    """
    decoders = {pipe: codecs.getincrementaldecoder("utf-8")(on_invalid) for pipe in pipes}
    for pipe in pipes:
        os.set_blocking(pipe, False)
    early_exits = channel.early_exits
    watched = [*pipes, pidfd, *(early_exits.descriptors() if early_exits else ())]
    while True:
        ready, _, _ = select.select(watched, [], [], early_exits.wait_s() if early_exits else None)
        if early_exits:
            early_exits.report()
        for pipe, decoder in list(decoders.items()):
            while (data := read_available(pipe)) is not None:
                if text := decoder.decode(data, final=not data):
                    channel.put(**{pipes[pipe]: text})
                if not data:
                    del decoders[pipe]
                    watched.remove(pipe)
                    break
        if pidfd in ready or not decoders:
            return
