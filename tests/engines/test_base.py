"""What the agent tells, and what is said when it leaves no result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netlab.agent import files
from netlab.base.errors import RunError
from netlab.engines.base import EventTail, follow, processor_s, read_result


def test_lines_are_handed_on_whole_and_once(tmp_path: Path) -> None:
    """The agent may be in the middle of a line when it is read."""
    heard: list[dict[str, Any]] = []
    tail = EventTail(tmp_path, heard.append)
    tail.poll()
    with (tmp_path / files.EVENTS).open("wb", buffering=0) as file:
        file.write(b'{"event": "agent"}\n{"event": "prog')
        tail.poll()
        tail.poll()
        assert [event["event"] for event in heard] == ["agent"]
        file.write('ress", "t_s": 1, "word": "ü'.encode()[:-1])
        tail.poll()
        file.write("ü".encode()[-1:] + b'"}\n')
        tail.poll()
    tail.poll()
    assert heard == [{"event": "agent"}, {"event": "progress", "t_s": 1, "word": "ü"}]


def test_an_error_event_is_kept_for_the_end(tmp_path: Path) -> None:
    tail = EventTail(tmp_path, lambda event: None)
    (tmp_path / files.EVENTS).write_text(json.dumps({"event": "error", "message": "The setting was refused."}) + "\n")
    tail.poll()
    with pytest.raises(RunError, match=r"^The setting was refused\.$"):
        read_result(tmp_path, tail, tmp_path / "log")


def test_a_traceback_follows_the_agents_words(tmp_path: Path) -> None:
    tail = EventTail(tmp_path, lambda event: None)
    tail.failure = {"message": "KeyError: 'x'", "traceback": "Traceback ..."}
    with pytest.raises(RunError, match=r"KeyError: 'x'\nTraceback"):
        read_result(tmp_path, tail, tmp_path / "log")


def test_without_a_result_the_last_words_are_shown(tmp_path: Path) -> None:
    tail = EventTail(tmp_path, lambda event: None)
    log = tmp_path / "log"
    with pytest.raises(RunError, match=r"ended without a result\. The end of its log:\n\(nothing\)"):
        read_result(tmp_path, tail, log)
    log.write_bytes(b"old\n" * 50 + b"Kernel panic \xff\n")
    with pytest.raises(RunError, match="Kernel panic"):
        read_result(tmp_path, tail, log)
    (tmp_path / files.CRASH).write_text("The overlay could not be mounted.")
    with pytest.raises(RunError, match="result. The overlay could not be mounted"):
        read_result(tmp_path, tail, log)


def test_a_result_is_read(tmp_path: Path) -> None:
    (tmp_path / files.RESULT).write_text('{"flows": []}')
    assert read_result(tmp_path, EventTail(tmp_path, lambda event: None), tmp_path / "log") == {"flows": []}


def program(text: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", text])


def test_a_start_that_waits_for_the_processor_is_waited_for(tmp_path: Path) -> None:
    """A guest on a busy machine tells its first word late; that is no reason to end it."""
    telling = f"import time; time.sleep(0.5); open({str(tmp_path / files.EVENTS)!r}, 'w').write('{{\"event\": \"agent\"}}\\n')"
    tail = EventTail(tmp_path, lambda event: None)
    with program(telling) as process:
        follow(process, tail, None, start_patience_s=0.2)
        tail.poll()
    assert tail.started
    assert process.returncode == 0


@pytest.mark.parametrize("text", ["while True: pass", "import time; time.sleep(1000)"])
def test_a_start_that_spins_or_sleeps_for_ever_is_given_up(tmp_path: Path, text: str) -> None:
    with program(text) as process:
        follow(process, EventTail(tmp_path, lambda event: None), None, start_patience_s=0.2)
        assert process.poll() is None
        process.kill()


def test_a_process_that_has_gone_has_had_all_its_time() -> None:
    with program("pass") as process:
        process.wait()
    assert processor_s(process.pid) == float("inf")
