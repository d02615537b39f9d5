"""Run a Mininet script in the guest, as it is.

It runs in a process of its own with Mininet's own classes; what a plain machine lacks (ifconfig, brctl, control groups) is
replaced by stubs. Files that it writes where it was started are copied to the run's artifacts.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from netlab.agent import stand_ins
from netlab.agent.files import ARTIFACTS
from netlab.agent.gate import Gate
from netlab.agent.settings import FIRST_S
from netlab.agent.terminals import Terminals, run_shown
from netlab.protocol.requests import Ended, Kept, Moment, Process, Turn

PACE, PACE_NO_MORE = "\x1b]netlab;pace\x07", "\x1b]netlab;go\x07"
"""Written to the terminal around Mininet's prompt: there the network's time keeps to the wall's."""

PROGRAM = "import sys; sys.path.extend({packages!r}); from netlab.agent.script import main; main(sys.argv[1:])"
MOST_FILES = 20_000
COMMANDS = f"{stand_ins.HOME}/commands"


class Script:
    """A Mininet script, its process and its files."""

    def __init__(self, gate: Gate, folder: Path, packages: list[str]) -> None:
        self._gate = gate
        self._folder = folder
        self._packages = packages
        self._terminals = Terminals(gate.foreground)

    def _command(self, words: list[str], directory: str, seed: int) -> tuple[list[str], dict[str, str]]:
        self._gate.new_seed(seed)
        time.sleep(max(0.0, FIRST_S - time.monotonic()))
        self._began_s = time.monotonic()
        path = stand_ins.install(stand_ins.BINARIES, self._packages)
        self._directory = directory
        self._before = _listing(directory)
        environment = stand_ins.environment(stand_ins.HOME, path) | {"TERM": "xterm", "PYTHONHASHSEED": "0"}
        code = PROGRAM.format(packages=self._packages)
        return [sys.executable, "-c", code, *words], environment

    def script(self, words: list[str], directory: str, seed: int, keys: str) -> Ended:
        command, environment = self._command(words, directory, seed)
        with open(COMMANDS, "w") as file:
            file.write(keys)
        return {"code": run_shown(self._gate, command, directory, environment, endless_input=True), **self._now()}

    def open_script(self, words: list[str], directory: str, seed: int, rows: int, columns: int) -> Process:
        command, environment = self._command(words, directory, seed)
        pid = self._terminals.open(["setsid", "-c", *command], directory, environment, rows, columns)
        return {"pid": pid, **self._now()}

    def turn(self, **words: Any) -> Turn:
        return {**self._terminals.turn(**words), **self._now()}

    def _now(self) -> Moment:
        return {"now_s": time.monotonic() - self._began_s}

    def keep_files(self) -> Kept:
        kept = []
        for name, state in _listing(self._directory).items():
            if self._before.get(name) != state:
                target = f"{self._folder}/{ARTIFACTS}/{name}"
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(f"{self._directory}/{name}", target)
                kept.append(name)
        return {"files": sorted(kept), **self._now()}


def _listing(directory: str) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for place, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        for name in names:
            path = os.path.join(place, name)
            try:
                state = os.lstat(path)
            except OSError:
                continue
            if os.path.isfile(path):
                found[os.path.relpath(path, directory)] = (state.st_size, state.st_mtime_ns)
        if len(found) > MOST_FILES:
            break
    return found


# In the script's own process -------------------------------------------------------------------------------------


def adapt_the_prompt() -> None:
    """On a terminal, let the network's time keep to the wall's while Mininet's prompt is open; else read its commands from a file."""
    import mininet.cli

    class Prompt(mininet.cli.CLI):  # type: ignore[misc]
        def __init__(self, network: Any, stdin: Any = sys.stdin, script: str | None = None, **more: Any) -> None:
            if script is None and not sys.stdin.isatty():
                script = COMMANDS
            super().__init__(network, stdin=stdin, script=script, **more)

        def run(self) -> None:
            sys.stdout.write(PACE)
            sys.stdout.flush()
            try:
                super().run()
            finally:
                sys.stdout.write(PACE_NO_MORE)
                sys.stdout.flush()

    mininet.cli.CLI = Prompt


def main(words: list[str]) -> None:
    """Become the script: `words` are its path and its arguments."""
    if sys.version_info >= (3, 12):
        stand_ins.stand_in_for_distutils()
    from netlab.agent import mininet_classes

    mininet_classes.stand_in()
    adapt_the_prompt()
    path = words[0]
    sys.argv[:] = words
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    runpy.run_path(path, run_name="__main__")
