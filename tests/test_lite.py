"""The course as a page in a browser: what it is made of, and a run in it."""

import importlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import netlab

ROOT = Path(netlab.__file__).parents[1]
PROGRAM = """
import json
import netlab as nl
topology = nl.topologies.dumbbell(2, rate_mbps=5, delay_ms=10, queue_packets=50)
traffic = [nl.Tcp("h1", "h3"), nl.Udp("h2", "h4", rate_mbps=1, spacing="random")]
runs = nl.sweep([nl.Scenario(topology, traffic, duration_s=3, seed=seed) for seed in (1, 2)], engine="library")
print(json.dumps([[json.loads(run.flows.to_json()), json.loads(run.queues.to_json())] for run in runs]))
"""


@pytest.fixture(scope="module")
def lite() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module("lite")
    finally:
        sys.path.remove(str(ROOT / "tools"))


def test_a_wheel_is_entered_by_the_names_that_cells_import(lite: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "some_thing-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("some/__init__.py", "some/part.py", "other.py", "some_thing-1.2.dist-info/METADATA"):
            archive.writestr(name, "")
    entry = lite.described(path, ["numpy"])
    assert (entry["name"], entry["version"], entry["imports"]) == ("some-thing", "1.2", ["other", "some"])


def test_only_what_is_needed_is_taken(lite: ModuleType) -> None:
    packages = {"a": {"depends": ["b_c"]}, "b-c": {"depends": []}, "d": {"depends": ["a"]}}
    assert lite.with_needs(("a",), packages) == {"a", "b-c"}


def test_a_file_that_is_another_than_the_lock_file_says_is_refused(
    lite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lite, "CORE", ())
    monkeypatch.setattr(lite, "NEEDED", ("numpy",))
    (tmp_path / "numpy.whl").write_bytes(b"other")
    lock = {"packages": {"numpy": {"depends": [], "file_name": "numpy.whl", "sha256": "0" * 64}}}
    (tmp_path / "pyodide-lock.json").write_text(json.dumps(lock))
    with pytest.raises(ValueError, match=r"numpy\.whl is another file"):
        lite.put_pyodide(tmp_path, tmp_path / "target", [])


def test_the_page_has_its_own_python() -> None:
    settings = ROOT / "build" / "lite" / "jupyter-lite.json"
    if not settings.is_file():
        pytest.skip("make lite makes the page")
    assert '"pyodideUrl": "./static/pyodide/pyodide.js"' in settings.read_text()


@pytest.mark.library
def test_runs_in_pyodide_give_the_numbers_that_they_give_here(tmp_path: Path) -> None:
    folder, node = ROOT / "build" / "lite" / "static" / "pyodide", shutil.which("node")
    if not folder.is_dir() or node is None:
        pytest.skip("make lite makes the page")
    (tmp_path / "program.py").write_text(PROGRAM)
    inside = [node, str(ROOT / "tests" / "in_pyodide.mjs"), str(folder), str(tmp_path / "program.py")]
    said = [
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=600, cwd=ROOT).stdout
        for command in (inside, [sys.executable, str(tmp_path / "program.py")])
    ]
    assert json.loads(said[0]) == json.loads(said[1])
