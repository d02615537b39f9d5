"""`netlab mininet` as a process of its own, for tests that end it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from netlab.base import cache
from tests.programs import ROOT
from tests.waiting import wait_for

CODE = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from netlab_engines.lab import stopping
stopping.GRACE_S = float(sys.argv.pop(1))
from netlab.commands.cli import main
sys.exit(main())
"""
LONG_S = 300.0
"""Wall-clock time for a clean-up that no busy machine exceeds."""


def command(script: str, grace_s: float = LONG_S) -> list[str]:
    """The words that run a script with this time for its clean-up."""
    return [sys.executable, "-c", CODE, str(ROOT), str(grace_s), "mininet", script]


def environment(home: Path) -> dict[str, str]:
    """The variables with another home directory, in which there are no kernels."""
    return {**os.environ, "HOME": str(home), "NETLAB_CACHE": str(cache.root())}


MAX_WAITS = 5


class Running:
    """A script that runs in a directory, with what it has printed."""

    def __init__(self, directory: Path, text: str, grace_s: float = LONG_S, **more: object) -> None:
        self.directory = directory
        (directory / "case.py").write_text(textwrap.dedent(text))
        self._log = directory / "printed.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                command("case.py", grace_s),
                cwd=directory,
                env=environment(directory / "home"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                **more,  # type: ignore[call-overload]
            )

    @property
    def printed(self) -> str:
        """All that it has printed."""
        return self._log.read_text(errors="replace")

    def wait_for_text(self, text: str) -> None:
        """Wait until it has printed a text."""
        assert _patiently(lambda: text in self.printed or self.process.poll() is not None), self.printed
        assert text in self.printed, self.printed

    def send(self, number: int) -> None:
        """Send a signal to netlab."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Wait for its end; returns the exit status."""
        try:
            assert _patiently(lambda: self.process.poll() is not None), self.printed
        finally:
            self.process.kill()
            self.process.wait()
        return self.process.returncode

    def lines(self, name: str) -> list[str]:
        """The lines of a file that it wrote."""
        return (self.directory / name).read_text().splitlines()


def _patiently(condition: Callable[[], object]) -> bool:
    # A guest boots, starts programs and ends in it; each takes half a minute where many others do.
    return any(wait_for(condition) for _ in range(MAX_WAITS))
