"""The library kernel's program as WebAssembly, shown with modules of a few lines that stand for the kernel's."""

import threading
from pathlib import Path

import pytest
import wasmtime

from netlab.base.errors import RunCancelled
from netlab_engines.kernels import library_kernel
from netlab_engines.library import engine
from netlab_engines.library.kernel_program import KernelProgram

HEAD = """
  (import "netlab" "read" (func $read (param i32 i32) (result i32)))
  (import "netlab" "write" (func $write (param i32 i32)))
  (import "netlab" "exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "reason") (result i32) (i32.const 1024))
"""
ECHO = """
  (func (export "run") (local $n i32)
    (loop $again
      (local.set $n (call $read (i32.const 2048) (i32.const 4)))
      (call $write (i32.const 2048) (local.get $n))
      (br $again)))
"""
ENDS = '(func (export "run") (call $exit (i32.const 3)))'
CRASHES = '(func (export "run") (drop (i32.load (i32.const 70000))))'
SPINS = '(func (export "run") (loop $again (call $write (i32.const 0) (i32.const 0)) (br $again)))'
TELLS = '(func (export "crashed") (call $write (i32.const 1024) (i32.const 64)))'
QUIET = '(func (export "crashed"))'


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def start(text: str, tells: str = QUIET) -> KernelProgram:
        monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
        path = tmp_path / "module.wasm"
        path.write_bytes(wasmtime.wat2wasm(f"(module {HEAD} {text} {tells})"))
        kernel = library_kernel.LibraryKernel(path, "7.3.4", (7, 3, 4), library_kernel.WASM, frozenset())
        return engine.start_program(kernel)

    return start


def test_requests_go_in_and_answers_come_out_while_it_runs(start) -> None:
    running, heard = start(ECHO), []
    running.send(b"abcd")

    def on_answers(data: bytes) -> bool:
        heard.append(data)
        if len(heard) == 1:
            running.send(b"ef")
        return len(heard) == 2

    running.listen(on_answers, None)
    assert heard == [b"abcd", b"ef"]


def test_program_resumes_when_its_output_is_read_again(start) -> None:
    running, heard = start(ECHO), []
    for word in (b"abcd", b"efgh"):
        running.send(word)
        running.listen(lambda data: heard.append(data) is None, None)
    assert heard == [b"abcd", b"efgh"]
    assert running.close() == "it was stopped"


def test_requests_may_come_from_another_thread_while_it_waits_for_them(start) -> None:
    running, heard = start(ECHO), bytearray()

    def on_answers(data: bytes) -> bool:
        heard.extend(data)
        return True

    listener = threading.Thread(target=running.listen, args=(on_answers, None))
    listener.start()
    running.send(b"late")
    listener.join(10)
    assert heard == b"late"


def test_end_of_the_program_is_reported(start) -> None:
    running = start(ENDS)
    running.listen(lambda data: False, None)
    assert running.close() == "its status is 3"


def test_a_crash_becomes_a_sentence(start) -> None:
    running, heard = start(CRASHES, TELLS), bytearray()
    running.listen(lambda data: bool(heard.extend(data)), None)
    assert heard.startswith(b"The library kernel crashed: out of bounds memory access")
    assert running.close() == "it crashed"


@pytest.mark.parametrize("text", [SPINS, ECHO], ids=["computing", "waiting"])
def test_a_run_is_stopped_where_it_computes_and_where_it_waits(start, text: str) -> None:
    running, asked = start(text), 0

    def on_wait() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise RunCancelled("enough")

    with pytest.raises(RunCancelled):
        running.listen(lambda data: False, on_wait)
    assert running.close() == "it was stopped"


def test_an_exception_in_the_callback_ends_the_run_and_is_raised(start) -> None:
    def on_answers(data: bytes) -> bool:
        raise KeyboardInterrupt

    running = start(ECHO)
    running.send(b"abcd")
    with pytest.raises(KeyboardInterrupt):
        running.listen(on_answers, None)


def test_a_module_is_compiled_once_and_a_damaged_copy_is_made_anew(start, tmp_path: Path) -> None:
    start(ENDS)
    kept = next((tmp_path / "cache/compiled").iterdir())
    kept.write_bytes(b"not code")
    start(ENDS + " ").listen(lambda data: False, None)
    assert kept.read_bytes()[:4] == b"\x7fELF"
