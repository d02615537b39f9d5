"""The table of contents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netlab.base.errors import NetlabError
from netlab_course import catalogue, progress_store

HEAD = """# UDP loss

**Which rate would you choose?**

Text.

*Time*: 75 minutes. *Builds on*: Start here,
and BDP. *Runs on*: any machine."""


def write(folder: Path, name: str, head: str = HEAD, keys: tuple[str, ...] = ("limit", "share")) -> Path:
    cells = [{"id": "title", "cell_type": "markdown", "metadata": {}, "source": head.splitlines(keepends=True)}]
    for key in keys:
        code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        cells += [{**code, "id": key, "source": "x = ..."}, {**code, "id": f"{key}-check", "source": f"check.{key}(x)"}]
    path = folder / name
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


@pytest.fixture
def notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(catalogue.VARIABLE, str(tmp_path))
    monkeypatch.setenv(progress_store.VARIABLE, str(tmp_path / "data"))
    write(tmp_path, "01_udp_loss.ipynb")
    write(tmp_path, "00_start_here.ipynb", "# Start here\n", ())
    write(tmp_path, "01_udp_loss (2026-01-01 10.00.00).ipynb")
    write(tmp_path, "how_to_live.ipynb")
    return tmp_path


def test_chapters_are_ordered_by_learning_and_have_descriptions(notebooks: Path) -> None:
    first, second = catalogue.chapters()
    assert (first.number, first.title, first.question, first.minutes) == (0, "Start here", "", "")
    assert (second.topic, second.question, second.minutes) == ("udp_loss", "Which rate would you choose?", "75")
    assert second.exercises == ["limit", "share"]


@pytest.mark.parametrize(
    "word", ["1", "01", "udp_loss", "01_udp_loss", "01_udp_loss.ipynb", "some/where/01_udp_loss.ipynb"]
)
def test_a_chapter_is_found_by_number_topic_or_name(notebooks: Path, word: str) -> None:
    assert catalogue.find(word).stem == "01_udp_loss"


def test_unknown_chapter_is_reported_with_the_known_chapters(notebooks: Path) -> None:
    with pytest.raises(NetlabError, match="got 'udp_los'; allowed: 00_start_here, 01_udp_loss"):
        catalogue.find("udp_los")


def test_progress_counts_passed_exercises(notebooks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    progress_store.record("udp_loss", "share")
    progress_store.record("udp_loss", "gone_since")
    catalogue.progress()
    assert capsys.readouterr().out.splitlines()[-1].split() == ["·", "1", "UDP", "loss", "75", "1", "of", "2"]
    progress_store.record("udp_loss", "limit")
    catalogue.progress()
    assert capsys.readouterr().out.splitlines()[-1].startswith("✓")


def test_missing_notebooks_are_reported_with_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalogue.VARIABLE, str(tmp_path / "none"))
    with pytest.raises(NetlabError, match=catalogue.VARIABLE):
        catalogue.chapters()


def test_a_damaged_notebook_is_named(notebooks: Path) -> None:
    (notebooks / "02_bad.ipynb").write_text("{")
    with pytest.raises(NetlabError, match=r"02_bad\.ipynb is not a notebook"):
        _ = catalogue.find("2").title


def test_the_chapters_of_this_clone_are_found() -> None:
    assert "udp_loss" in [entry.topic for entry in catalogue.chapters()]
