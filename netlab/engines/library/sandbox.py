"""The library kernel's program as WebAssembly in wasmtime: it runs in a thread and a memory of its own."""

import functools
import hashlib
import os
import queue
import threading
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import wasmtime

from netlab.engines.library.program import OnAnswers
from netlab.kernel import cache
from netlab.protocol.session import OnWait

POLL_S = 0.05
END_S = 5.0
"""Longer than the module computes between two looks."""
LARGEST_REASON_BYTES = 250


class _Ended(Exception):  # noqa: N818  it is no error
    """Goes through the module to the program that runs it."""


class SandboxProgram:
    """A `program.Program`, in a thread of its own, so that who listens can be interrupted while it computes."""

    confined = True

    def __init__(self, path: Path) -> None:
        self._engine, self._module = _compiled(path, path.stat().st_mtime_ns)
        self._requests = bytearray()
        self._came = threading.Condition()
        self._stopping = threading.Event()
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._ending = "it was stopped"
        self._thread = threading.Thread(target=self._work, name="netlab-library", daemon=True)
        self._thread.start()

    def send(self, requests: bytes) -> None:
        with self._came:
            self._requests += requests
            self._came.notify()

    def listen(self, on_answers: OnAnswers, on_wait: OnWait | None) -> None:
        while True:
            if on_wait is not None:
                on_wait()
            try:
                # Not without end: on Windows Ctrl-C would wait for it.
                data = self._answers.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if data is None:
                self._answers.put(None)
                return
            if on_answers(data):
                return

    def close(self) -> str:
        self._stopping.set()
        with self._came:
            self._came.notify()
        self._thread.join(END_S)
        return self._ending

    def _work(self) -> None:
        try:
            with wasmtime.Store(self._engine) as store:
                self._run(store)
        finally:
            self._answers.put(None)

    def _run(self, store: wasmtime.Store) -> None:
        def read(at: int, count: int) -> int:
            with self._came:
                self._came.wait_for(lambda: self._requests or self._stopping.is_set())
                if self._stopping.is_set():
                    raise _Ended
                part = bytes(self._requests[:count])
                del self._requests[:count]
            memory.write(store, part, at & 0xFFFFFFFF)
            return len(part)

        def write(at: int, count: int) -> None:
            if self._stopping.is_set():
                raise _Ended
            start = at & 0xFFFFFFFF
            if count:
                self._answers.put(bytes(memory.read(store, start, start + count)))

        def leave(status: int) -> None:
            self._ending = f"its status is {status}"
            raise _Ended

        i32 = wasmtime.ValType.i32()
        functions = {
            "read": wasmtime.Func(store, wasmtime.FuncType([i32, i32], [i32]), read),
            "write": wasmtime.Func(store, wasmtime.FuncType([i32, i32], []), write),
            "exit": wasmtime.Func(store, wasmtime.FuncType([i32], []), leave),
        }
        instance = wasmtime.Instance(store, self._module, [functions[str(one.name)] for one in self._module.imports])
        exports: Any = instance.exports(store)
        memory = exports["memory"]
        try:
            exports["run"](store)
        except _Ended:
            pass
        except wasmtime.Trap as trap:
            self._ending = "it crashed"
            why = f"The library kernel crashed: {_reason(trap)}.\n".encode()[:LARGEST_REASON_BYTES]
            memory.write(store, why + b"\0", exports["reason"](store))
            with suppress(_Ended, wasmtime.Trap):
                exports["crashed"](store)


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
