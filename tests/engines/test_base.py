"""What the agent tells, and what is said when it leaves no result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netlab.agent import files
from netlab.engines.base import EventTail, read_result
from netlab.errors import RunError


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
