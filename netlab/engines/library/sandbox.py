"""The library kernel's program as WebAssembly in wasmtime: it runs in the thread that listens, in a memory of its own."""

from __future__ import annotations

import functools
import hashlib
import os
import threading
from importlib import metadata
from pathlib import Path
from typing import Any

import wasmtime

from netlab.engines.base import cancelled
from netlab.engines.library.program import OnAnswers
from netlab.kernel import cache

POLL_S = 0.05
LARGEST_REASON_BYTES = 250


class _Ended(Exception):  # noqa: N818  it is no error
    """Goes through the module to whoever runs it."""


class SandboxProgram:
    """A `program.Program`."""

    def __init__(self, path: Path) -> None:
        self._engine, self._module = _compiled(path, path.stat().st_mtime_ns)
        self._waiting = bytearray()
        self._came = threading.Condition()
        self._ending = "it was stopped"

    def send(self, requests: bytes) -> None:
        """Give it requests."""
        with self._came:
            self._waiting += requests
            self._came.notify()

    def listen(self, on_answers: OnAnswers, cancel: threading.Event | None) -> None:
        """Run it, and hand on its answers."""
        store = wasmtime.Store(self._engine)

        def look() -> None:
            if cancel is not None and cancel.is_set():
                raise cancelled()

        def read(at: int, count: int) -> int:
            with self._came:
                while not self._waiting:
                    look()
                    self._came.wait(POLL_S)
                part = bytes(self._waiting[:count])
                del self._waiting[:count]
            memory.write(store, part, at & 0xFFFFFFFF)
            return len(part)

        def write(at: int, count: int) -> None:
            look()
            start = at & 0xFFFFFFFF
            if count and on_answers(bytes(memory.read(store, start, start + count))):
                raise _Ended

        def leave(status: int) -> None:
            self._ending = f"its status is {status}"
            raise _Ended

        i32 = wasmtime.ValType.i32()
        functions = {
            "read": wasmtime.Func(store, wasmtime.FuncType([i32, i32], [i32]), read),
            "write": wasmtime.Func(store, wasmtime.FuncType([i32, i32], []), write),
            "exit": wasmtime.Func(store, wasmtime.FuncType([i32], []), leave),
        }
        exports: Any = wasmtime.Instance(
            store, self._module, [functions[str(one.name)] for one in self._module.imports]
        ).exports(store)
        memory = exports["memory"]
        try:
            self._run(store, exports)
        except _Ended:
            pass
        finally:
            # The functions know the store and the store the functions: without this, memory would stay until the next collection.
            store.close()

    def _run(self, store: wasmtime.Store, exports: Any) -> None:
        try:
            exports["run"](store)
        except wasmtime.Trap as trap:
            self._ending = "it crashed"
            why = f"The library kernel crashed: {_reason(trap)}.\n".encode()[:LARGEST_REASON_BYTES]
            exports["memory"].write(store, why + b"\0", exports["reason"](store))
            exports["crashed"](store)

    def close(self) -> str:
        """Say how it ended; nothing of it is left."""
        return self._ending


def _reason(trap: wasmtime.Trap) -> str:
    lines = [line.strip() for line in str(trap).splitlines() if "wasm trap" in line]
    return (lines or ["the sandbox stopped it"])[0].partition("wasm trap: ")[2] or "the sandbox stopped it"


@functools.cache
def _compiled(path: Path, _mtime_ns: int) -> tuple[wasmtime.Engine, wasmtime.Module]:
    """The module as this machine's code: compiled once, for some seconds, and kept in the cache."""
    engine = wasmtime.Engine(wasmtime.Config())
    code = path.read_bytes()
    key = hashlib.sha256(code + metadata.version("wasmtime").encode()).hexdigest()[:16]
    kept = cache.root() / "compiled" / f"{key}.cwasm"
    if kept.is_file():
        try:
            return engine, wasmtime.Module.deserialize_file(engine, str(kept))
        except wasmtime.WasmtimeError:
            # Another processor, where the home directory is shared.
            pass
    module = wasmtime.Module(engine, code)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}")
        partial.write_bytes(module.serialize())
        partial.replace(kept)
    except OSError:
        # A cache that cannot be written costs the next process some seconds.
        pass
    return engine, module
