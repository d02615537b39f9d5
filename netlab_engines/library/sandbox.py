"""Run the library kernel's program as WebAssembly in wasmtime, in a thread and a memory of its own."""

import functools
import hashlib
import os
import queue
import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import wasmtime

from netlab.base import cache
from netlab.base.errors import RunError
from netlab_engines.library.kernel_program import OnAnswers
from netlab_engines.protocol.session import OnWait

POLL_S = 0.05
END_S = 5.0
"""The time in s within which a module notices that it shall stop."""
MAX_REASON_BYTES = 250


BOUNDARY = """
(module
  (import "host" "read" (func $read (param i32 i32) (result i32)))
  (import "host" "write" (func $write (param i32 i32) (result i32)))
  (import "host" "exit" (func $exit (param i32)))
  (func (export "read") (param i32 i32) (result i32)
    (local $count i32)
    (local.set $count (call $read (local.get 0) (local.get 1)))
    (if (i32.lt_s (local.get $count) (i32.const 0)) (then unreachable))
    (local.get $count))
  (func (export "write") (param i32 i32)
    (if (call $write (local.get 0) (local.get 1)) (then unreachable)))
  (func (export "exit") (param i32)
    (call $exit (local.get 0))
    unreachable))
"""
"""The imports of the kernel's module, which end the program by a trap if a function of this process returns END.

An exception instead would have to pass through the module, and wasmtime keeps the last exception of all threads in one variable
(LAST_EXCEPTION in wasmtime/_func.py), so programs that end at the same time would overwrite each other's exceptions.
"""
CONTINUE, END = 0, -1
"""Results of the functions of this process; a number of bytes is also at least CONTINUE."""


class SandboxProgram:
    """The library kernel's program as WebAssembly in wasmtime, in a thread of its own, so that `listen` can be
    interrupted while it computes; see `kernel_program.KernelProgram`.
    """

    confined = True

    def __init__(self, path: Path) -> None:
        """Compile the WebAssembly module in the file `path`, or read its compiled form from the cache, and run it in a
        thread; it waits for requests.
        """
        self._engine, self._boundary, self._module = _compile_modules(path, path.stat().st_mtime_ns)
        self._requests = bytearray()
        self._requests_changed = threading.Condition()
        self._stopping = threading.Event()
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._ending = "it was stopped"
        self._ended = False
        """True if a function of this process ended the program, so that the trap is not a crash."""
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="netlab-library", daemon=True)
        self._thread.start()

    def send(self, requests: bytes) -> None:
        """Give the program requests, as bytes of whole frames; it reads them in its own thread."""
        with self._requests_changed:
            self._requests += requests
            self._requests_changed.notify()

    def listen(self, on_answers: OnAnswers, on_wait: OnWait | None) -> None:
        """Pass the program's answers, as bytes, to `on_answers` until that returns True or the program has ended.
        `on_wait` is called before each answer and at least every POLL_S s (None: nothing is); exceptions of either end
        the call, not the program. Raises RunError if wasmtime failed.
        """
        while True:
            if on_wait is not None:
                on_wait()
            try:
                # With a timeout, because on Windows Ctrl-C would wait for the end of this call.
                data = self._answers.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if data is None:
                self._answers.put(None)
                if self._error is not None:
                    what = f"{type(self._error).__name__}: {self._error}"
                    raise RunError(f"The library kernel failed in wasmtime. {what}") from self._error
                return
            if on_answers(data):
                return

    def close(self) -> str:
        """Stop the program, wait at most END_S s for its end, and return how it ended, as a part of a sentence such as
        "it was stopped".
        """
        self._stopping.set()
        with self._requests_changed:
            self._requests_changed.notify()
        self._thread.join(END_S)
        return self._ending

    def _work(self) -> None:
        """Run the program to its end, keep an exception of wasmtime for `listen`, and let `listen` return; runs in the
        program's thread.
        """
        try:
            with wasmtime.Store(self._engine) as store:
                self._run(store)
        except BaseException as error:  # noqa: BLE001 (`listen` raises it in the caller's thread)
            self._error = error
        finally:
            self._answers.put(None)

    def _run(self, store: wasmtime.Store) -> None:
        """Run the module in `store`, a store of wasmtime, until it ends, is stopped or crashes, and keep in `_ending`
        how it ended; after a crash the module itself writes an answer with the reason.
        """

        def read(at: int, count: int) -> int:
            """Wait for requests, copy at most `count` bytes of them to the address `at` of the module's memory, and
            return their number, or END if the program must stop; called by the module.
            """
            try:
                with self._requests_changed:
                    self._requests_changed.wait_for(lambda: self._requests or self._stopping.is_set())
                    if self._stopping.is_set():
                        return self._end()
                    part = bytes(self._requests[:count])
                    del self._requests[:count]
                memory.write(store, part, at & 0xFFFFFFFF)
                return len(part)
            except BaseException as error:  # noqa: BLE001 (no exception may pass through the module)
                return self._end(error)

        def write(at: int, count: int) -> int:
            """Pass on `count` bytes of answers at the address `at` of the module's memory, and return CONTINUE, or END if
            the program must stop; called by the module.
            """
            try:
                if self._stopping.is_set():
                    return self._end()
                start = at & 0xFFFFFFFF
                if count:
                    self._answers.put(bytes(memory.read(store, start, start + count)))
            except BaseException as error:  # noqa: BLE001 (the same)
                return self._end(error)
            return CONTINUE

        def leave(status: int) -> None:
            """Note the exit status of the program, and that the trap which follows is not a crash; called by the
            module.
            """
            self._ending = f"its status is {status}"
            self._end()

        i32 = wasmtime.ValType.i32()
        functions = {
            "read": wasmtime.Func(store, wasmtime.FuncType([i32, i32], [i32]), read),
            "write": wasmtime.Func(store, wasmtime.FuncType([i32, i32], [i32]), write),
            "exit": wasmtime.Func(store, wasmtime.FuncType([i32], []), leave),
        }
        boundary: Any = _instance(store, self._boundary, functions).exports(store)
        exports: Any = _instance(store, self._module, boundary).exports(store)
        memory = exports["memory"]
        try:
            exports["run"](store)
        except wasmtime.Trap as trap:
            if self._ended:
                return
            self._ending = "it crashed"
            reason = f"The library kernel crashed: {_reason(trap)}.\n".encode()[:MAX_REASON_BYTES]
            memory.write(store, reason + b"\0", exports["reason"](store))
            with suppress(wasmtime.Trap):
                exports["crashed"](store)

    def _end(self, error: BaseException | None = None) -> int:
        """Note that this process ends the program, keep `error` (None: none) for `listen` to raise, and return END."""
        self._ended, self._error = True, error or self._error
        return END


def _instance(store: wasmtime.Store, module: wasmtime.Module, imports: Mapping[str, Any]) -> wasmtime.Instance:
    """Return an instance of a WebAssembly module in a store of wasmtime; `imports` has the value of each of the
    module's imports by the import's own name, whichever module it names.
    """
    return wasmtime.Instance(store, module, [imports[str(each.name)] for each in module.imports])


def _reason(trap: wasmtime.Trap) -> str:
    """Return wasmtime's reason for a trap, as a part of a sentence such as "out of bounds memory access"; "the sandbox
    stopped it" if wasmtime names none.
    """
    lines = [line.strip() for line in str(trap).splitlines() if "wasm trap" in line]
    return (lines or ["the sandbox stopped it"])[0].partition("wasm trap: ")[2] or "the sandbox stopped it"


@functools.cache
def _compile_modules(path: Path, _mtime_ns: int) -> tuple[wasmtime.Engine, wasmtime.Module, wasmtime.Module]:
    """Return wasmtime's engine, the compiled module of BOUNDARY, and the module in the file `path` compiled for this
    machine, as a tuple. The result is kept for the file's modification time `_mtime_ns` in ns. The compiled form is
    also read from a file in the user's cache, or written there if it can be.
    """
    engine = wasmtime.Engine(wasmtime.Config())
    boundary = wasmtime.Module(engine, BOUNDARY)
    code = path.read_bytes()
    key = hashlib.sha256(code + metadata.version("wasmtime").encode()).hexdigest()[:16]
    cached = cache.root() / "compiled" / f"{key}.cwasm"
    if cached.is_file():
        try:
            return engine, boundary, wasmtime.Module.deserialize_file(engine, str(cached))
        except wasmtime.WasmtimeError:
            # The file may come from another processor, if the home directory is shared.
            pass
    module = wasmtime.Module(engine, code)
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        partial = cached.with_suffix(f".{os.getpid()}")
        partial.write_bytes(module.serialize())
        partial.replace(cached)
    except OSError:
        # Without a writable cache the next process has to compile again.
        pass
    return engine, boundary, module
