"""Programs in wasmtime end as they should, however many end at the same moment; no kernel is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import wasmtime

from netlab.base.errors import RunError
from netlab_engines.library import sandbox
from netlab_engines.library.sandbox import SandboxProgram

KERNEL = """
(module
  (import "netlab" "read" (func $read (param i32 i32) (result i32)))
  (import "netlab" "write" (func $write (param i32 i32)))
  (import "netlab" "exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "run")
    (loop $next
      (drop (call $read (i32.const 0) (i32.const 1)))
      (call $write (i32.const 0) (i32.const 1))
      (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 120)) (then (call $exit (i32.const 3))))  ;; x
      (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 99)) (then unreachable))                  ;; c
      (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 98))                                      ;; b
        (then (drop (call $read (i32.const -1) (i32.const 1)))))
      (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 115))                                     ;; s
        (then (loop $spin (call $write (i32.const 0) (i32.const 0)) (br $spin))))
      (br $next)))
  (func (export "reason") (result i32) (i32.const 100))
  (func (export "crashed")
    (call $write (i32.const 100) (i32.const 27))
    (call $exit (i32.const 1))))
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernel") / "kernel.wasm"
    path.write_bytes(wasmtime.wat2wasm(KERNEL))
    return path


@pytest.fixture
def busy_threads() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def answers_to(kernel: Path, request: bytes) -> tuple[bytes, str]:
    """Return a program's answers to a request, until it ends or is stopped, and how it ended."""
    program, answers = SandboxProgram(kernel), bytearray()
    program.send(request)
    program.listen(lambda data: bool(answers.extend(data)) or (request == b"s" and bool(answers)), None)
    return bytes(answers), program.close()


ENDINGS = {
    b"aax": (b"aax", "its status is 3"),
    b"ac": (b"acThe library kernel crashed:", "its status is 1"),
    b"s": (b"s", "it was stopped"),
}


@pytest.mark.slow
def test_programs_that_end_at_the_same_time_end_each_in_its_own_way(kernel: Path, busy_threads: None) -> None:
    requests = list(ENDINGS) * 100
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda request: answers_to(kernel, request), requests))
    assert found == [ENDINGS[request] for request in requests]


def test_a_program_that_waits_for_a_request_is_stopped(kernel: Path) -> None:
    program = SandboxProgram(kernel)
    program.send(b"a")
    program.listen(lambda _data: True, None)
    assert program.close() == "it was stopped" and not program._thread.is_alive()


def test_an_error_on_this_side_is_raised_where_the_answers_are_read(kernel: Path) -> None:
    program = SandboxProgram(kernel)
    # The second byte is to go outside the module's memory.
    program.send(b"bb")
    with pytest.raises(RunError, match="failed in wasmtime. IndexError") as caught:
        program.listen(lambda _data: False, None)
    assert isinstance(caught.value.__cause__, IndexError)
    program.close()


def test_module_that_cannot_start_is_reported(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_given: object) -> wasmtime.Instance:
        raise wasmtime.WasmtimeError("no memory")

    monkeypatch.setattr(sandbox, "_instance", refuse)
    program = SandboxProgram(kernel)
    with pytest.raises(RunError, match="WasmtimeError: no memory"):
        program.listen(lambda _data: False, None)
    program.close()
