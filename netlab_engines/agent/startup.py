"""Prepare a script's own Python process before the script runs: Mininet's classes, its prompt, interrupts and
tracebacks.

Python imports `sitecustomize` before it runs a script. The one that `script` writes calls `begin`, so that the script
itself runs as its user would run it: as `__main__`, and without a frame of netlab's above its own.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from netlab.base.location import is_own_file
from netlab_engines.agent import interrupted_hosts, replacements
from netlab_engines.agent.terminals import PACE, PACE_NO_MORE, silent_input
from netlab_engines.files import ENDING_FILE
from netlab_engines.planning.settings import script_start_ns
from netlab_engines.sockets.moments import sleep_until_ns

CLOSING_COMMANDS = ("exit", "quit", "EOF")
"""The commands that close Mininet's prompt."""


class Prompts:
    """The state of Mininet's prompt in this process: whether it is open."""

    are_open = False


def begin(folder: str, commands: str) -> None:
    """Prepare this process for a Mininet script, before its first line: remove netlab's directory from the path of
    modules and the environment, install netlab's versions of Mininet's classes and prompt, and its handling of
    interrupts and tracebacks, and run the machine's `sitecustomize`; then sleep until a round time and accept
    interrupts. `folder` is the folder in which the host writes the name of the signal with which it ends the script,
    `commands` the path of a file with lines that Mininet's prompt reads without a terminal. If an interrupt came
    before, the process exits with status 130.

    The sleep lets nothing in the script depend on the time that the preparation took.
    """
    import_root = os.environ.pop("PYTHONPATH")
    sys.path.remove(import_root)
    # Imports here do not find files next to the script: Python adds the script's directory to its path later.
    if sys.version_info >= (3, 12):
        replacements.provide_distutils()
    from netlab_engines.agent import mininet_classes

    mininet_classes.install()
    adapt_prompt(commands)
    interrupted_hosts.free_at_interrupts()
    hide_own_frames()
    if sys.stdout is not None:
        # A write for each line, not for each piece: each one wakes the process that sends it to the host.
        sys.stdout.reconfigure(line_buffering=True, write_through=False)  # type: ignore[union-attr]
    handle_interrupts(Path(folder) / ENDING_FILE)
    customize_as_the_machine_does()
    sleep_until_ns(script_start_ns(time.monotonic_ns()))
    if signal.SIGINT in signal.sigpending():
        # End before the script's first line runs.
        sys.stderr.write("KeyboardInterrupt\n")
        os._exit(128 + signal.SIGINT)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def customize_as_the_machine_does() -> None:
    """Run the module `sitecustomize` of this machine's Python, if it has one; Python itself did not run it, because
    netlab's module of the same name came first in the path.
    """
    found = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if found is not None and found.loader is not None:
        found.loader.exec_module(importlib.util.module_from_spec(found))


def adapt_prompt(commands: str) -> None:
    """Replace Mininet's class of its prompt, `mininet.cli.CLI`: with a terminal, the network runs in real time while
    the prompt is open; without one, the prompt runs the lines of the standard input, which it first copies to a file at
    the path `commands`.
    """
    import mininet.cli

    class Prompt(mininet.cli.CLI):  # type: ignore[misc]
        """Mininet's prompt, which runs the lines of the standard input one after another if that is not a terminal; it
        tells the host's terminal when it opens and closes.
        """

        def __init__(self, network: Any, stdin: Any = sys.stdin, script: str | None = None, **more: Any) -> None:
            """Open the prompt of the Mininet network `network` and run commands until it closes. The commands come from
            the file at the path `script`; without it, from `stdin` if the process has a terminal, or else from the lines
            of the standard input that nobody has read, up to one that closes the prompt.
            """
            if script is None and not (sys.stdin and sys.stdin.isatty()):
                Path(commands).write_text("".join(_prompt_lines(sys.stdin or ())), errors="surrogateescape")
                script, stdin = commands, silent_input()
            super().__init__(network, stdin=stdin, script=script, **more)

        def run(self) -> None:
            """Read and run commands until the prompt is closed; print a mark at the beginning and one at the end, with
            which the host's terminal lets the network run in real time meanwhile.
            """
            Prompts.are_open = True
            sys.stdout.write(PACE)
            sys.stdout.flush()
            try:
                super().run()
            finally:
                Prompts.are_open = False
                sys.stdout.write(PACE_NO_MORE)
                sys.stdout.flush()

    mininet.cli.CLI = Prompt


def _prompt_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines up to the first that closes Mininet's prompt, and that one; later ones are not read."""
    for line in lines:
        yield line
        if line.partition("#")[0].strip() in CLOSING_COMMANDS:
            return


def handle_interrupts(ending: Path) -> None:
    """Install a handler of SIGINT, which counts it. It reads the name of a signal from the file at `ending`, which the
    host writes to end the script, and sends this process that signal if the script handles it; else it calls the
    script's own handler of SIGINT, or without one raises KeyboardInterrupt as Ctrl-C does, or SystemExit in Mininet's
    prompt. Replace `signal.signal` and `signal.getsignal`, so that a script that sets a handler of SIGINT keeps this
    one below it, and `os.system`, so that an end by the host during its command is handled after it.
    """
    set_handler, get_handler = signal.signal, signal.getsignal
    handler: Any = signal.default_int_handler

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        """Count SIGINT (`number`, with the present frame) and handle it: send this process the signal that the host
        names if the script handles it; else raise SystemExit with 128 plus its number if Mininet's prompt is open and
        the host names one, or call the script's handler of SIGINT, which raises KeyboardInterrupt by default.
        """
        interrupted_hosts.count_interrupt()
        named = _named_signal(ending)
        if named is not None and callable(get_handler(named)):
            os.kill(os.getpid(), named)
            return
        if named is not None and Prompts.are_open:
            # Mininet's prompt would continue after Ctrl-C.
            raise SystemExit(128 + named)
        handler(number, frame)

    def set_script_handler(number: int, new: Any) -> Any:
        """Set what a signal does and return what it did before, as `signal.signal` does; a function for SIGINT is
        called by `on_interrupt`.
        """
        nonlocal handler
        if number != signal.SIGINT:
            return set_handler(number, new)
        old = get_script_handler(number)
        set_handler(number, on_interrupt if callable(new) else new)
        handler = new
        return old

    def get_script_handler(number: int) -> Any:
        """Return what a signal does, as `signal.getsignal` does, for SIGINT what the script has set."""
        return handler if number == signal.SIGINT else get_handler(number)

    set_handler(signal.SIGINT, on_interrupt)
    signal.signal, signal.getsignal = set_script_handler, get_script_handler  # type: ignore[assignment]
    plain = os.system

    def system(command: Any) -> int:
        """Run a shell command and return its status as `os.system` does; then, if the host has asked the script to end
        meanwhile, handle that interrupt, which Python ignores while the command runs.
        """
        # Python ignores Ctrl-C while a command of os.system runs.
        was_ending = ending.exists()
        status = plain(command)
        if not was_ending and ending.exists():
            on_interrupt(signal.SIGINT, None)
        return status

    os.system = system


def _named_signal(ending: Path) -> signal.Signals | None:
    """Return the signal whose name, such as "SIGTERM", is the text of the file `ending`; None if that is SIGINT, if
    there is no such file or if its text is not the name of a signal.
    """
    with contextlib.suppress(OSError, ValueError, KeyError):
        named = signal.Signals[ending.read_text()]
        return None if named is signal.SIGINT else named
    return None


def hide_own_frames() -> None:
    """Leave the frames of netlab's own code out of every traceback that this process prints from now on, by replacing
    `traceback.TracebackException.__init__`, `sys.excepthook` and `threading.excepthook`.
    """
    plain_init = traceback.TracebackException.__init__

    def init(self: Any, kind: Any, value: Any, trace: Any, **more: Any) -> None:
        """Prepare the traceback `trace` of the exception `value` of the class `kind` for printing as Python's
        `TracebackException` does, with its other arguments `more`, without the frames of netlab's own code.
        """
        plain_init(self, kind, value, without_own_frames(trace), **more)

    traceback.TracebackException.__init__ = init  # type: ignore[method-assign, assignment]
    plain_hook, plain_thread_hook = sys.excepthook, threading.excepthook

    def hook(kind: type[BaseException], value: BaseException, _trace: TracebackType | None) -> None:
        """Print the exception `value` of the class `kind`, which ends the process, with its traceback and those of its
        causes, without the frames of netlab's own code; Python calls this as `sys.excepthook`.
        """
        _strip(value, set())
        plain_hook(kind, value, value.__traceback__)

    def thread_hook(arguments: Any) -> None:
        """Print the exception that ended a thread, without the frames of netlab's own code; Python calls this as
        `threading.excepthook`, with an object that has the exception and the thread.
        """
        if arguments.exc_value is not None:
            _strip(arguments.exc_value, set())
            trace = arguments.exc_value.__traceback__
            arguments = threading.ExceptHookArgs((arguments.exc_type, arguments.exc_value, trace, arguments.thread))
        plain_thread_hook(arguments)

    sys.excepthook, threading.excepthook = hook, thread_hook


def _strip(error: BaseException, ids: set[int]) -> None:
    """Remove the frames of netlab's own code from the traceback of an exception and from those of its cause, its
    context and the exceptions of a group, recursively. `ids` has the `id` of each exception that is done, and grows.
    """
    if id(error) in ids:
        return
    ids.add(id(error))
    error.__traceback__ = without_own_frames(error.__traceback__)
    for other in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        if other is not None:
            _strip(other, ids)


def without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a copy of a traceback without the frames of netlab's own code; None if no other frame is left or `trace`
    is None.
    """
    entries: list[TracebackType] = []
    while trace is not None:
        if not is_own_file(trace.tb_frame.f_code.co_filename):
            entries.append(trace)
        trace = trace.tb_next
    found = None
    for entry in reversed(entries):
        found = TracebackType(found, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return found
