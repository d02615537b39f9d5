"""The hashes by which engines recognize builds of this version's recipes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from netlab_engines.kernels import recipes as written
from netlab_kernel import edits, library_build, recipes, wire_format


def test_the_engines_have_the_hashes_of_the_present_recipes() -> None:
    assert {name: getattr(written, name) for name in ("POCKET", "LIBRARY", "WASM")} == recipes.current_hashes(), (
        "run: python -m netlab_kernel.recipes"
    )


def test_a_changed_recipe_is_written_and_used_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "recipes.py"
    monkeypatch.setattr(written, "__file__", str(file))
    assert not recipes.refresh() and not file.exists()
    monkeypatch.setattr(written, "POCKET", written.POCKET)  # restored at the end
    monkeypatch.setattr(edits, "recipe_hash", lambda: "0" * 64)
    assert recipes.refresh()
    assert written.POCKET == "0" * 64
    assert f'POCKET = "{"0" * 64}"' in file.read_text()


def test_a_changed_header_is_converted_before_its_recipe_is_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generated = tmp_path / "wire_format.h"
    generated.write_text("old")
    monkeypatch.setattr(wire_format, "outputs", lambda: {generated: "new"})
    monkeypatch.setattr(written, "__file__", str(tmp_path / "recipes.py"))
    for name in ("LIBRARY", "WASM"):
        monkeypatch.setattr(written, name, getattr(written, name))  # restored at the end
    monkeypatch.setattr(library_build, "recipe_hash", lambda *_machine: generated.read_text())
    assert recipes.refresh() and written.LIBRARY == "new"
    assert wire_format.refresh() == []


def test_the_command_leaves_hashes_that_are_right_as_they_are() -> None:
    # The command would write into this clone.
    test_the_engines_have_the_hashes_of_the_present_recipes()
    before = Path(written.__file__).stat().st_mtime_ns
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "netlab_kernel.recipes"], capture_output=True, text=True, check=True
    )
    assert done.stderr == "" and Path(written.__file__).stat().st_mtime_ns == before
