"""Run an unmodified Mininet script in the guest.

The script runs in a process of its own with Mininet's own classes (`startup`). Replacements exist for programs that a
machine may lack, such as ifconfig, brctl and the control groups' programs. The script writes directly to the
directories that the host shares. Files that it writes elsewhere are copied to the run's artifacts at its end.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netlab.base.units import NS_PER_S
from netlab_engines.agent import replacements
from netlab_engines.agent.guest import WRITTEN_FILES
from netlab_engines.agent.host_channel import HostChannel
from netlab_engines.agent.terminals import Terminals, run_with_output
from netlab_engines.files import ARTIFACTS
from netlab_engines.planning.settings import MIN_PROGRAM_START_S, script_start_ns
from netlab_engines.protocol.requests import ExitReply, FilesReply, ProcessReply, TerminalReply, TimeReply

STARTUP = f"{replacements.HOME}/startup"
CUSTOMIZE = """import sys
sys.path.extend({packages!r})
from netlab_engines.agent import startup
startup.begin({folder!r}, {commands!r})
"""
INPUT = f"{replacements.HOME}/input"
PROMPT_LINES = f"{replacements.HOME}/commands"
END_S = 0.05
"""The virtual time in s in which programs that outlive their script can write their last output."""
SHARED_MEMORY = "/dev/shm"
HOST_NAME = "localhost"
"""The name of the machine outside its hosts, the same everywhere and known to /etc/hosts."""
SYSTEM_FILES = ("/etc/hosts", "/etc/network/interfaces", "/etc/mtab", "/etc/.pwd.lock", "/etc/ld.so.cache")
"""Files that netlab, Mininet and programs write on their own account, not for the script."""
SYSTEM_MEMORY_PREFIXES = ("sem.", "psm_", "pymp-", "pulse-shm-")
"""Prefixes of names in the shared memory that programs use internally."""


class Script:
    """A Mininet script in this guest, with its process, its terminals and its files, and a method for each request
    about them.
    """

    def __init__(self, channel: HostChannel, folder: Path, packages: list[str]) -> None:
        """Prepare the object that runs one Mininet script in this guest; nothing is started. `channel` leads to the
        host; copies of files that the script writes go to `folder`, which the host reads; `packages` are the
        directories of netlab and Mininet.
        """
        self._channel = channel
        self._early_exits = channel.report_early_exits()
        self._folder = folder
        self._packages = packages
        self._terminals = Terminals(self._foreground)

    def _foreground(self, group: int) -> None:
        """Set the id of the process group that receives the host's interrupts; 0 changes nothing, so that the last
        group keeps them between two turns of the terminal.
        """
        # Keep the group between two turns: an interrupt that comes then must reach it too.
        if group:
            self._channel.foreground(group)

    def _command(self, words: list[str], seed: int, home: str) -> tuple[list[str], dict[str, str]]:
        """Prepare the guest for a script: seed its random draws with `seed`, wait for MIN_PROGRAM_START_S s of its
        clock, install replacements of programs and netlab's start-up of Python, set the hostname, note the files that
        exist, and block SIGINT. Return a tuple of the program and arguments that run the script, and its environment variables. `words`
        are the script's path and arguments, and `home` is its home directory.
        """
        self._channel.new_seed(seed)
        time.sleep(max(0.0, MIN_PROGRAM_START_S - time.monotonic()))
        self._start_s = script_start_ns(time.monotonic_ns()) / NS_PER_S
        path = replacements.install(replacements.BINARIES)
        socket.sethostname(HOST_NAME)
        os.makedirs(STARTUP, exist_ok=True)
        with open(f"{STARTUP}/sitecustomize.py", "w") as file:
            file.write(CUSTOMIZE.format(packages=self._packages, folder=str(self._folder), commands=PROMPT_LINES))
        self._initial_files = dict(_written_files())
        # The script's Python inherits the blocked signal, and unblocks it when it is ready for interrupts (`startup`).
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        environment = replacements.environment(home, path)
        environment |= {"TERM": "xterm", "PYTHONHASHSEED": "0", "PYTHONPATH": STARTUP}
        return [sys.executable, *words], environment

    def script(self, words: list[str], directory: str, seed: int, home: str, input_text: str) -> ExitReply:
        """Run a script in the working directory `directory` to its end, send its output to the host meanwhile, and
        return a dict of its exit code ("code", negative: a signal) and the time ("now_s"). `words` are its path and
        arguments, `seed` seeds the random draws, `home` is its home directory, and `input_text` the text of its standard
        input, whose lines Mininet's prompt reads, too.
        """
        command, environment = self._command(words, seed, home)
        with open(INPUT, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(input_text)
        with open(INPUT, "rb") as file:
            code = run_with_output(self._channel, command, directory, environment, file, separate_errors=True)
        return {"code": code, **self._time()}

    def open_script(
        self, words: list[str], directory: str, seed: int, home: str, rows: int, columns: int
    ) -> ProcessReply:
        """Start a script on a new terminal of `rows` by `columns` characters, in the working directory `directory`, and
        let the host's interrupts go to it; return a dict of its pid ("pid"), by which later requests name the terminal,
        and the time ("now_s"). `words` are its path and arguments, `seed` seeds the random draws, and `home` is its
        home directory.
        """
        command, environment = self._command(words, seed, home)
        pid = self._terminals.open(["setsid", "-c", *command], directory, environment, rows, columns)
        self._foreground(pid)
        return {"pid": pid, **self._time()}

    def turn(self, **words: Any) -> TerminalReply:
        """Send keys to the script's terminal, let network time pass, and return a dict of its output ("text"), whether
        its program has ended ("ended"), the exit code ("code", None if not known) and the time ("now_s"); `words` are
        the arguments of `netlab_engines.agent.terminals.Terminals.turn` by name.
        """
        return {**self._terminals.turn(**words), **self._time()}

    def _time(self) -> TimeReply:
        """Return the network time in s since the script's start, 0 before it."""
        return {"now_s": max(0.0, time.monotonic() - self._start_s)}

    def end_programs(self) -> TimeReply:
        """Report background programs that failed early, then end all other programs of the guest, which outlive the
        script: send them SIGINT and, END_S s of network time later, SIGTERM, so that they can write their last output.
        Return the time as {"now_s": s from the script's start}.
        """
        self._early_exits.report(at_end=True)
        # Programs such as ping and tcpdump write their statistics on SIGINT.
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                os.kill(-1, number)
            except ProcessLookupError:
                break
            time.sleep(END_S)
        os.sync()
        return self._time()

    def keep_files(self) -> FilesReply:
        """Copy the files that the script wrote or changed in the guest's own directories to the host's folder. Return a
        dict of the sorted paths of the copied files ("files"), the reason for each file that could not be copied by its
        path ("lost"), and the time ("now_s").
        """
        paths, lost = [], {}
        for path, state in _written_files():
            if self._initial_files.get(path) == state:
                continue
            target = f"{self._folder}/{ARTIFACTS}{path}"
            try:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(path, target)
                paths.append(path)
            except OSError as error:
                lost[path] = str(error.strerror)
        return {"files": sorted(paths), "lost": lost, **self._time()}


def _written_files() -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the path in the guest of each regular file that was written outside the host's directories or in the shared
    memory, together with a pair of its size in bytes and its modification time in ns; files that netlab and the system
    write themselves, and Python's bytecode, are left out.
    """
    for top, prefix in ((WRITTEN_FILES, ""), (SHARED_MEMORY, SHARED_MEMORY)):
        for place, folders, names in os.walk(top):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in names:
                found = os.path.join(place, name)
                path = prefix + found[len(top) :]
                if path in SYSTEM_FILES or (prefix and name.startswith(SYSTEM_MEMORY_PREFIXES)):
                    continue
                if os.path.isfile(found) and not os.path.islink(found):
                    state = os.stat(found)
                    yield path, (state.st_size, state.st_mtime_ns)
