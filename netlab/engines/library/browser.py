"""The library kernel's program as WebAssembly beside Pyodide, which is WebAssembly in the same browser's worker.

There are no threads: the program runs while somebody listens, until it has read all requests.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from pyodide.code import run_js  # type: ignore[import-not-found]
from pyodide.ffi import create_proxy, to_js  # type: ignore[import-not-found]

from netlab.base.location import PACKAGE
from netlab.engines.library.program import OnAnswers
from netlab.protocol.session import OnWait


class BrowserProgram:
    """A `program.Program`."""

    confined = True

    def __init__(self, path: Path) -> None:
        self._take = create_proxy(self._book)
        self._module = _host().start(_compiled(path, path.stat().st_mtime_ns), self._take)
        self._unheard = bytearray()
        self._on_answers: OnAnswers | None = None
        self._on_wait: OnWait | None = None
        self._raised: BaseException | None = None
        self._ending = ""

    def send(self, requests: bytes) -> None:
        """Give it requests."""
        self._module.send(to_js(requests))

    def listen(self, on_answers: OnAnswers, on_wait: OnWait | None) -> None:
        """Let it run, and hand on its answers."""
        self._on_answers, self._on_wait, self._raised = on_answers, on_wait, None
        if self._unheard:
            self._hand_on(b"")
        if self._on_answers is None or self._ending:
            return
        try:
            self._ending = self._module.run() or ""
        except Exception:
            if self._raised is None:
                raise
            self._ending = "it was stopped"
            raise self._raised from None

    def close(self) -> str:
        """Free what it holds, and say how it ended."""
        if self._module is not None:
            self._module = None
            self._take.destroy()
        return self._ending or "it was stopped"

    def _book(self, data: Any) -> None:
        # What is raised here goes through the program, and through JavaScript, which keeps no exception of Python's.
        try:
            if self._on_wait is not None:
                self._on_wait()
            self._hand_on(data.to_bytes())
        except BaseException as error:
            self._raised = error
            raise

    def _hand_on(self, data: bytes) -> None:
        self._unheard += data
        if self._on_answers is None or not self._unheard:
            return
        heard = bytes(self._unheard)
        self._unheard.clear()
        if self._on_answers(heard):
            self._on_answers = None


@functools.cache
def _host() -> Any:
    return run_js((PACKAGE / "kernel" / "javascript" / "host.js").read_text())


@functools.cache
def _compiled(path: Path, _mtime_ns: int) -> Any:
    return run_js("(code) => new WebAssembly.Module(code)")(to_js(path.read_bytes()))
