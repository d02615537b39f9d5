"""The record of the exercises that a student has passed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from netlab_course import progress_store
from netlab_course.locks import locked


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress_store.VARIABLE, str(tmp_path / "data"))
    monkeypatch.setattr(progress_store, "_tries_here", {})


def test_different_wrong_answers_are_counted_across_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [progress_store.record_wrong_try("bdp", "window", answer) for answer in ("1", "2", "1")] == [1, 2, 2]
    monkeypatch.setattr(progress_store, "_tries_here", {})
    assert progress_store.wrong_tries("bdp", "window") == 2
    assert progress_store.record_wrong_try("bdp", "window", "3") == 3
    assert progress_store.wrong_tries("bdp", "room") == progress_store.wrong_tries("udp_loss", "window") == 0


def test_students_of_one_login_are_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in ("1", "2", "3"):
        progress_store.record_wrong_try("bdp", "window", answer, "anna")
    assert progress_store.record_wrong_try("bdp", "window", "1", "bert") == 1
    assert progress_store.record_wrong_try("bdp", "window", "1") == 1
    monkeypatch.setattr(progress_store, "_tries_here", {})
    assert [progress_store.wrong_tries("bdp", "window", token) for token in ("anna", "bert", "", "carla")] == [
        3,
        1,
        1,
        0,
    ]


def test_tries_of_an_earlier_version_are_kept() -> None:
    progress_store.directory().mkdir()
    path = progress_store.directory() / "tries.json"
    path.write_text('{"bdp": {"window": ["1", "2"]}}')
    assert progress_store.record_wrong_try("bdp", "window", "3", "anna") == 1
    assert progress_store.wrong_tries("bdp", "window") == 2
    assert json.loads(path.read_text())["bdp"] == {"window": ["1", "2"]}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1, 2]", '{"bdp": 3}', '{"bdp": {"window": 3}}', '{"bdp": {"window": [[]]}}', '{"of tokens": [1]}'],
)
def test_a_damaged_record_of_tries_is_ignored(text: str) -> None:
    progress_store.directory().mkdir()
    (progress_store.directory() / "tries.json").write_text(text)
    assert progress_store.record_wrong_try("bdp", "window", "1") >= 1
    assert progress_store.record_wrong_try("bdp", "window", "1", "anna") == 1


def test_tries_are_counted_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress_store.VARIABLE, "/dev/null")
    assert [progress_store.record_wrong_try("bdp", "window", answer) for answer in ("1", "2")] == [1, 2]
    assert progress_store.wrong_tries("bdp", "window") == 2


def test_a_search_does_not_fill_the_disk() -> None:
    for number in range(progress_store.MAX_TRIES + 5):
        progress_store.record_wrong_try("bdp", "window", str(number))
    assert len(json.loads((progress_store.directory() / "tries.json").read_text())["bdp"]["window"]) == (
        progress_store.MAX_TRIES
    )


def test_passed_exercise_is_stored_once() -> None:
    for key in ("limit", "share", "limit"):
        progress_store.record("udp_loss", key)
    progress_store.record("bdp", "window")
    assert progress_store.passed_exercises() == {"udp_loss": ["limit", "share"], "bdp": ["window"]}


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"udp_loss": 3}'])
def test_a_damaged_record_is_an_empty_one(text: str) -> None:
    progress_store.directory().mkdir()
    (progress_store.directory() / "passed.json").write_text(text)
    assert progress_store.passed_exercises() == {}


def test_a_place_that_cannot_be_written_costs_the_record_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress_store.VARIABLE, "/dev/null")
    progress_store.record("udp_loss", "limit")
    assert progress_store.passed_exercises() == {}


def test_no_half_written_file_is_left(tmp_path: Path) -> None:
    progress_store.record("udp_loss", "limit")
    assert {path.name for path in progress_store.directory().iterdir()} == {"passed.json", ".passed.lock"}


def test_a_full_disk_costs_the_record_only_and_leaves_no_file() -> None:
    progress_store.record("udp_loss", "limit")
    before = sorted(path.name for path in progress_store.directory().iterdir())
    # No file may grow beyond 50 bytes, which the record of another pass would need.
    program = (
        "import resource, signal; from netlab_course import progress_store\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50)); progress_store.record('udp_loss', 'q' * 50)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert sorted(path.name for path in progress_store.directory().iterdir()) == before
    assert progress_store.passed_exercises() == {"udp_loss": ["limit"]}


def test_chapters_that_are_open_at_once_lose_no_pass() -> None:
    program = (
        "import sys; from netlab_course import progress_store\nsys.stdin.readline()\n"
        "for number in range(15): progress_store.record(sys.argv[1], str(number))"
    )
    topics = ["bdp", "queues", "fairness"]
    chapters = [
        subprocess.Popen([sys.executable, "-c", program, topic], stdin=subprocess.PIPE, text=True) for topic in topics
    ]
    for each in chapters:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    assert [each.wait(timeout=60) for each in chapters] == [0, 0, 0]
    for each in chapters:
        assert each.stdin is not None
        each.stdin.close()
    assert progress_store.passed_exercises() == {topic: [str(number) for number in range(15)] for topic in topics}


def test_a_lock_that_is_never_released_delays_a_record_only_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_store, "MAX_WAIT_S", 0.05)
    progress_store.record("bdp", "window")
    with locked(progress_store.directory() / ".passed.lock", 0):
        progress_store.record("bdp", "limit")
    assert progress_store.passed_exercises() == {"bdp": ["window", "limit"]}
