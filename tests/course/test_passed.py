"""What a student has passed so far."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab.course import passed


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(passed.VARIABLE, str(tmp_path / "data"))


def test_what_is_passed_is_kept_once() -> None:
    for key in ("limit", "share", "limit"):
        passed.record("udp_loss", key)
    passed.record("bdp", "window")
    assert passed.read() == {"udp_loss": ["limit", "share"], "bdp": ["window"]}


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"udp_loss": 3}'])
def test_a_damaged_record_is_an_empty_one(text: str) -> None:
    passed.directory().mkdir()
    (passed.directory() / "passed.json").write_text(text)
    assert passed.read() == {}


def test_a_place_that_cannot_be_written_costs_the_record_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(passed.VARIABLE, "/dev/null")
    passed.record("udp_loss", "limit")
    assert passed.read() == {}


def test_no_half_written_file_is_left(tmp_path: Path) -> None:
    passed.record("udp_loss", "limit")
    assert [path.name for path in passed.directory().iterdir()] == ["passed.json"]
