"""A script's two outputs go where the shell sends them, with all their bytes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from netlab_engines.lab import player
from netlab_engines.lab.script import run_script
from tests.lab.running_scripts import command, environment
from tests.lab.test_terminal import Person

pytestmark = pytest.mark.pocket

SCRIPT = """
import os, subprocess, sys
from mininet.log import info, setLogLevel
from mininet.net import Mininet
setLogLevel("info")
net = Mininet()
h1 = net.addHost("h1")
net.start()
for number in range(3):
    print("result", number, flush=True)
    print("note", number, file=sys.stderr)
sys.stdout.buffer.write(bytes(range(256)))
sys.stdout.flush()
subprocess.run("echo from a program; echo its error >&2", shell=True)
net.stop()
raise SystemExit("the end")
"""
RESULTS = b"result 0\nresult 1\nresult 2\n" + bytes(range(256)) + b"from a program\n"
NOTES = ["note 0", "note 1", "note 2", "its error"]


def run(tmp_path: Path, redirections: str) -> subprocess.CompletedProcess[bytes]:
    (tmp_path / "case.py").write_text(SCRIPT)
    words = ["sh", "-c", f"{shlex.join(command('case.py'))} {redirections}"]
    return subprocess.run(words, capture_output=True, check=False, cwd=tmp_path, env=environment(tmp_path), timeout=120)


def test_results_and_errors_are_separate(tmp_path: Path) -> None:
    done = run(tmp_path, "")
    errors = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (1, RESULTS)
    assert [line for line in errors if line in NOTES] == NOTES
    assert "*** Starting controller" in errors and errors[-1] == "the end", "Mininet's own lines are no results"


def test_both_in_one_file_keep_their_order(tmp_path: Path) -> None:
    done = run(tmp_path, "2>&1")
    lines = [line for line in done.stdout.splitlines() if line.startswith((b"result", b"note"))]
    assert lines == [f"{kind} {number}".encode() for number in range(3) for kind in ("result", "note")]


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full"])
def test_an_error_output_that_takes_nothing_loses_no_results(closed: str, tmp_path: Path) -> None:
    done = run(tmp_path, closed)
    assert (done.returncode, done.stdout, done.stderr) == (1, RESULTS, b"")


def test_no_output_at_all_is_no_error(tmp_path: Path) -> None:
    done = run(tmp_path, ">&-")
    assert (done.returncode, done.stdout) == (1, b"")
    assert "Traceback" not in done.stderr.decode() and done.stderr.endswith(b"the end\n")


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    done = run(tmp_path, ">/dev/full 2>errors")
    last = (tmp_path / "errors").read_text().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("netlab: The script's output cannot be written: No space left on device.")


def test_each_line_is_written_at_once(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text("for number in range(2000):\n    print('line', number)\n")
    parts: list[str] = []
    run_script([str(tmp_path / "case.py")], write=parts.append, directory=tmp_path)
    assert "".join(parts) == "".join(f"line {number}\n" for number in range(2000))
    assert all(part.endswith("\n") for part in parts) and len(parts) > 100


def test_a_caller_gets_both_as_text(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(SCRIPT)
    parts: list[str] = []
    run_script([str(tmp_path / "case.py")], write=parts.append, directory=tmp_path)
    printed = "".join(parts)
    assert "result 0\nnote 0\n" in printed and "\N{REPLACEMENT CHARACTER}" in printed
    assert printed.encode(), "no surrogates, which nothing can show"


def test_errors_in_a_file_are_not_on_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(SCRIPT)
    person = Person(["/bin/sh", "-c", f"{shlex.join(command('case.py'))} 2>errors"], tmp_path)
    person.sees("result 2\r\n")
    assert "note" not in person.seen
    assert person.leave() == 1
    assert [line for line in (tmp_path / "errors").read_text().splitlines() if line in NOTES] == NOTES


def test_a_notebooks_output_takes_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(write=shown.append, flush=lambda: None))
    player.write("result \udcff\n")
    assert shown == ["result \N{REPLACEMENT CHARACTER}\n"]
