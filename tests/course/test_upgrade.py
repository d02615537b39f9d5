"""From the version before to this one: a student's answers, kernels and results stay."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netlab.kernel import installed

ROOT = Path(__file__).resolve().parents[2]
BEFORE = "b794a179ab4e"
SCENARIO = {
    "topology": {
        "hosts": ["h1", "h2"],
        "links": [{"a": "h1", "b": "h2", "rate_mbps": 5, "delay_ms": 10, "queue_packets": 20}],
    },
    "traffic": [{"kind": "tcp", "src": "h1", "dst": "h2"}],
    "duration_s": 5,
    "seed": 1,
}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clone as it was."""
    clone = tmp_path_factory.mktemp("before")
    packed = subprocess.run(["git", "-C", ROOT, "archive", BEFORE], capture_output=True, check=False)
    if packed.returncode != 0:
        pytest.skip(f"this clone's history does not reach back to {BEFORE}")
    subprocess.run(["tar", "-x", "-C", clone], input=packed.stdout, check=True)
    return clone


def netlab(clone: Path, *words: str | Path, **variables: str | Path) -> str:
    """What `netlab` of that clone says."""
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}, "NETLAB_WARM": "0"}
    environment |= {"PYTHONPATH": str(clone), "NETLAB_PROGRESS": "0"}
    environment.pop("NETLAB_NOTEBOOKS", None)
    program = "import sys; from netlab.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)], env=environment, cwd=clone, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def answers(notebook: dict[str, Any]) -> list[str]:
    """The ids of the cells that a student fills in."""
    ids = [cell["id"] for cell in notebook["cells"]]
    return [name for name in ids if f"{name}-check" in ids]


def test_answers_of_every_chapter_are_kept(before: Path, tmp_path: Path) -> None:
    mine = tmp_path / "chapters"
    netlab(before, "lab", "--update-only", "--folder", mine)
    written: dict[str, dict[str, str]] = {}
    for path in sorted(mine.glob("*.ipynb")):
        notebook = load(path)
        names = answers(notebook)
        written[path.name] = {name: f"# mine: {path.name}, {name}" for name in names}
        for cell in notebook["cells"]:
            cell["source"] = written[path.name].get(cell["id"], cell["source"])
        notebook["cells"].insert(1, {"id": "my-own", "cell_type": "markdown", "metadata": {}, "source": "My notes."})
        path.write_text(json.dumps(notebook))
    assert sum(map(len, written.values())) >= 30

    said = netlab(ROOT, "lab", "--update-only", "--folder", mine)

    for name, own in written.items():
        after = load(mine / name)
        sources = {cell["id"]: "".join(cell["source"]) for cell in after["cells"]}
        lost = [cell for cell in answers(after) if cell in own and sources[cell] != own[cell]]
        assert not lost, name
        assert sources["my-own"] == "My notes."
        # An exercise that is no more is in the file as it was, which is beside.
        kept = [path for path in mine.glob(f"{Path(name).stem}*.ipynb") if path.name != name]
        texts = "".join(path.read_text() for path in kept) + (mine / name).read_text()
        assert all(json.dumps(text)[1:-1] in texts for text in own.values()), name
        assert name not in said or kept, said
    assert netlab(ROOT, "lab", "--update-only", "--folder", mine).count("\n") == 1, "the second time nothing is new"


@pytest.mark.pocket
def test_kernels_and_results_are_kept(before: Path, tmp_path: Path) -> None:
    """The kernel that is there runs on, what is in the cache stays, and results can still be read and compared."""
    room, scenario = tmp_path / "cache", tmp_path / "scenario.json"
    shutil.copytree(installed.find().path.parent, room / "kernels" / installed.find().path.parent.name)
    scenario.write_text(json.dumps(SCENARIO))
    netlab(before, "run", scenario, "--engine", "pocket", "--output", tmp_path / "a.json", NETLAB_CACHE=room)
    there = {path: path.read_bytes() for path in room.rglob("*") if path.is_file()}
    netlab(ROOT, "run", scenario, "--engine", "pocket", "--output", tmp_path / "b.json", NETLAB_CACHE=room)
    assert any(path.name == "linux" for path in there)
    assert all(path.read_bytes() == content for path, content in there.items())
    old, new = load(tmp_path / "a.json"), load(tmp_path / "b.json")
    assert old["settings"]["kernel"] == new["settings"]["kernel"]
    # Draws may move with a version, columns may come, and the figures mean the same.
    assert set(old["flows"][0]) <= set(new["flows"][0]) and set(old["queues"][0]) <= set(new["queues"][0])
    assert new["flows"][0]["goodput_mbps"] == pytest.approx(old["flows"][0]["goodput_mbps"], rel=0.005)
