"""What a student has passed so far."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab.course import progress_store


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress_store.VARIABLE, str(tmp_path / "data"))


def test_what_is_passed_is_kept_once() -> None:
    for key in ("limit", "share", "limit"):
        progress_store.record("udp_loss", key)
    progress_store.record("bdp", "window")
    assert progress_store.read() == {"udp_loss": ["limit", "share"], "bdp": ["window"]}


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"udp_loss": 3}'])
def test_a_damaged_record_is_an_empty_one(text: str) -> None:
    progress_store.directory().mkdir()
    (progress_store.directory() / "passed.json").write_text(text)
    assert progress_store.read() == {}


def test_a_place_that_cannot_be_written_costs_the_record_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress_store.VARIABLE, "/dev/null")
    progress_store.record("udp_loss", "limit")
    assert progress_store.read() == {}


def test_no_half_written_file_is_left(tmp_path: Path) -> None:
    progress_store.record("udp_loss", "limit")
    assert [path.name for path in progress_store.directory().iterdir()] == ["passed.json"]
