"""Commands: what they print, how they end, and the files that they leave."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from netlab_engines.agent.flows import command
from netlab_engines.agent.flows.command import CommandFlow
from tests.agent.flows.places import place, run


class Node:
    """A node whose shell is this machine's."""

    def pexec(self, words: list[str], **more: Any) -> tuple[str, str, int]:
        done = subprocess.run(words, capture_output=True, text=True, **more)
        return done.stdout, done.stderr, done.returncode


def item(line: str, **changes: Any) -> Any:
    return {
        "kind": "command",
        "label": "h1 command",
        "host": "h1",
        "command": line,
        "start_s": 0.0,
        "saves": [],
        **changes,
    }


def test_output_and_exit_code_of_a_command_are_reported(tmp_path: Path) -> None:
    flow = CommandFlow(item("echo out; echo err >&2; exit 3"), place(tmp_path, nodes={"h1": Node()}))
    run(flow)
    assert flow.totals() == {
        "flow": "h1 command",
        "error": None,
        "stdout": "out\n",
        "stderr": "err\n",
        "exit_code": 3,
        "t_s": 0.0,
    }


def test_files_are_kept_and_the_commands_directory_is_not(tmp_path: Path) -> None:
    where = place(tmp_path, nodes={"h1": Node()}, number=77)
    flow = CommandFlow(item("pwd; echo kept > a.txt; echo dropped > b.txt", saves=["a.txt", "c.txt"]), where)
    run(flow)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "kept\n"}
    assert where.artifacts.unsaved == {"c.txt": "the command did not write it into its working directory"}
    directory = Path(flow.totals()["stdout"].strip())
    assert directory.parent == where.artifacts.work and not directory.exists()


def test_a_command_that_has_not_ended_has_no_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PATIENCE_S", 0.0)
    release = threading.Event()

    class Endless:
        def pexec(self, words: list[str]) -> tuple[str, str, int]:
            release.wait()
            return "", "", 0

    flow = CommandFlow(item("sleep 1d"), place(tmp_path, nodes={"h1": Endless()}))
    flow.launch(0.0)
    flow.finish(0.0)
    assert flow.totals()["exit_code"] is None
    release.set()
