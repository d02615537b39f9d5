"""Files that a run leaves: bounded, brought back, kept next to its result and in the cache, gone when nobody uses them."""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab.base import scratch
from netlab.base.errors import RunError, ScenarioError
from netlab.measure.artifacts import Artifacts, NoArtifactError
from netlab.runs.cache import RunCache
from netlab_engines.agent.artifacts import ArtifactStore
from netlab_engines.base import run_folder, take_artifacts
from tests.stand_ins import FakeEngine

PAIR = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5)])


class Leaves(FakeEngine):
    """An engine whose runs leave two files, and not a third."""

    ran = 0

    def __init__(self, tmp_path: Path) -> None:
        super().__init__()
        self.tmp_path = tmp_path

    def execute(self, plan: Any, **more: Any) -> dict[str, Any]:
        self.ran += 1
        folder = run_folder(self.tmp_path / f"{self.ran}")
        for name in ("a.txt", "b.pcap"):
            (folder / "artifacts" / name).write_text(f"{name} of {plan['seed']}")
        return {
            **super().execute(plan, **more),
            "artifacts": take_artifacts(folder),
            "unsaved": {"c.txt": "it was not written"},
        }


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leaves:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    for number in range(1, 9):
        (tmp_path / f"{number}").mkdir()
    return Leaves(tmp_path)


def scenario(seed: int = 1) -> nl.Scenario:
    return nl.Scenario(PAIR, [nl.Ping("h1", "h2", count=1)], duration_s=1, seed=seed)


# In the guest -----------------------------------------------------------------------------------------------


def test_artifacts_are_copied_within_the_limit_and_the_rest_reported(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    for name, size_bytes in (("small", 40), ("large", 61), ("second", 60)):
        (tmp_path / name).write_bytes(b"x" * size_bytes)
    (tmp_path / "link").symlink_to(tmp_path / "small")
    artifacts = ArtifactStore(tmp_path / "kept", max_bytes=100)
    for name in ("small", "large", "second", "missing", "link", "kept"):
        artifacts.save(tmp_path / name, name)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["second", "small"]
    assert artifacts.unsaved["large"].startswith(
        "it has 61 bytes, and the files of one run may have at most 100 bytes in total; save less"
    )
    assert artifacts.unsaved["missing"] == "the command did not write it into its working directory"
    assert artifacts.unsaved["link"].startswith("it could not be copied")
    assert artifacts.unsaved["kept"] == "it is not a regular file"


def test_only_regular_files_within_the_size_limit_are_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest may make links, folders and large files in the folder."""
    folder = run_folder(tmp_path)
    assert take_artifacts(folder) is None
    (folder / "artifacts" / "hosts").symlink_to("/etc/hosts")
    (folder / "artifacts" / "directory").mkdir()
    assert take_artifacts(folder) is None
    (folder / "artifacts" / "data").write_bytes(b"x" * 101)
    monkeypatch.setattr("netlab_engines.base.MAX_BYTES", 100)
    with pytest.raises(RunError, match=r"The run's files have 101 bytes, more than the limit of 100\. Save less\."):
        take_artifacts(folder)
    (folder / "artifacts" / "data").unlink()
    (folder / "captures" / "a-b.a-eth0.out").write_bytes(b"x" * 101)
    kept = take_artifacts(folder)
    assert kept is not None
    assert [path.name for path in Path(kept).iterdir()] == ["a-b.a-eth0.out"], "a capture is not a file of a program's"
    shutil.rmtree(kept)
    (folder / "captures" / "a-b.a-eth0.out").write_bytes(b"x" * 101)
    monkeypatch.setattr("netlab_engines.base.MAX_CAPTURED_BYTES", 100)
    with pytest.raises(
        RunError, match=r"The run's captures have 101 bytes, more than the limit of 100\. Capture fewer links"
    ):
        take_artifacts(folder)


# Files of a run


def test_a_run_has_its_files_by_name(engine: Leaves, tmp_path: Path) -> None:
    run = nl.run(scenario(), engine=engine, progress=False)
    assert list(run.artifacts) == ["a.txt", "b.pcap"]
    assert run.artifacts["a.txt"].is_file()
    assert run.artifacts.read_text("a.txt") == "a.txt of 1"
    assert run.artifacts.read_bytes("b.pcap") == b"b.pcap of 1"
    assert [path.read_text() for path in run.artifacts.copy_to(tmp_path / "copy")] == ["a.txt of 1", "b.pcap of 1"]
    assert "c.txt" not in run.artifacts
    with pytest.raises(NoArtifactError) as caught:
        run.artifacts["c.txt"]
    assert str(caught.value) == "This run has no artifact 'c.txt': it was not written; it has a.txt, b.pcap."


def test_files_go_with_the_run(engine: Leaves) -> None:
    run = nl.run(scenario(), engine=engine, progress=False)
    path = run.artifacts["a.txt"]
    copy = pickle.loads(pickle.dumps(run))  # noqa: S301 (made in this line)
    assert copy.artifacts["a.txt"] != path
    assert copy.artifacts.read_text("a.txt") == "a.txt of 1"
    del run
    gc.collect()
    assert not path.parent.exists()
    assert copy.artifacts["a.txt"].exists()


def test_files_are_next_to_the_result(engine: Leaves, tmp_path: Path) -> None:
    run = nl.run(scenario(), engine=engine, progress=False)
    run.to_json(tmp_path / "result.json")
    assert sorted(path.name for path in (tmp_path / "result.artifacts").iterdir()) == ["a.txt", "b.pcap"]
    again = nl.Run.from_json(tmp_path / "result.json")
    assert again.artifacts["a.txt"] == tmp_path / "result.artifacts" / "a.txt"
    assert again.artifacts.unsaved == {"c.txt": "it was not written"}
    again.to_json(tmp_path / "result.json")
    assert nl.Run.from_json(tmp_path / "result.json").artifacts.read_text("a.txt") == "a.txt of 1"


def test_removed_file_is_reported_on_access(engine: Leaves, tmp_path: Path) -> None:
    nl.run(scenario(), engine=engine, progress=False).to_json(tmp_path / "result.json")
    (tmp_path / "result.artifacts" / "a.txt").unlink()
    run = nl.Run.from_json(tmp_path / "result.json")
    assert list(run.artifacts) == ["b.pcap"]
    with pytest.raises(NoArtifactError, match="it is not in .*/result.artifacts, the run's directory of artifacts"):
        run.artifacts["a.txt"]
    assert (
        nl.Run.from_dict(run.to_dict()).artifacts.unsaved["b.pcap"]
        == "its file was not read along with the run's tables"
    )


def test_run_keeps_names_of_present_and_missing_files() -> None:
    """Also where it has only the one kind or the other, and nothing where it has neither."""
    run = nl.run(scenario(), engine=FakeEngine(), progress=False)
    assert "artifacts" not in run.to_dict()
    missing = replace(run, artifacts=Artifacts(unsaved={"c.txt": "it was not written"}))
    assert nl.Run.from_dict(missing.to_dict()).artifacts.unsaved == {"c.txt": "it was not written"}


def test_a_run_whose_files_are_all_there_names_them(tmp_path: Path) -> None:
    run = nl.run(scenario(), engine=FakeEngine(), progress=False)
    (tmp_path / "a.txt").write_text("a")
    there = replace(run, artifacts=Artifacts(tmp_path))
    assert list(nl.Run.from_dict(there.to_dict()).artifacts.unsaved) == ["a.txt"]


def test_a_run_without_files_leaves_no_directory(tmp_path: Path) -> None:
    run = nl.run(scenario(), engine=FakeEngine(), progress=False)
    run.to_json(tmp_path / "result.json")
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    assert len(nl.Run.from_json(tmp_path / "result.json").artifacts) == 0
    with pytest.raises(NoArtifactError, match="This run has no artifact 'a'; it has none"):
        run.artifacts["a"]


# In the cache -----------------------------------------------------------------------------------------------


def test_the_cache_keeps_the_files_of_its_runs(engine: Leaves) -> None:
    """They are the run's own: the cache may be pruned while the run is in use."""
    nl.sweep([scenario()], engine=engine, progress=False)
    (run,) = nl.sweep([scenario()], engine=engine, progress=False)
    assert engine.ran == 1
    RunCache(limit_bytes=0).prune()
    assert list(RunCache().directory.iterdir()) == []
    assert run.artifacts.read_text("a.txt") == "a.txt of 1"


def test_a_cached_run_whose_files_are_gone_runs_again(engine: Leaves) -> None:
    nl.sweep([scenario()], engine=engine, progress=False)
    (directory,) = RunCache().directory.glob("*.artifacts")
    (directory / "a.txt").unlink()
    nl.sweep([scenario()], engine=engine, progress=False)
    assert engine.ran == 2


def test_pruning_counts_a_runs_files_and_takes_them_with_it(engine: Leaves) -> None:
    """The run used longest ago goes, with its directory; the newer stays whole."""
    for seed in (1, 2):
        nl.sweep([scenario(seed)], engine=engine, progress=False)
    cache = RunCache()
    old, new = sorted(cache.directory.glob("*.json"), key=lambda path: "of 1" not in _text_next_to(path))
    for path in (old, *_directory(old).iterdir(), _directory(old)):
        os.utime(path, (1, 1))
    size_bytes = sum(size for _, size, _ in cache._runs())
    RunCache(limit_bytes=size_bytes - 1).prune()
    assert sorted(cache.directory.iterdir()) == sorted([new, _directory(new)])


def _directory(path: Path) -> Path:
    return path.with_suffix(".artifacts")


def _text_next_to(path: Path) -> str:
    return (_directory(path) / "a.txt").read_text()


# Files of a command


def test_command_declares_saved_files() -> None:
    one, several = nl.Command("h1", "true", saves="a.txt"), nl.Command("h1", "true", saves=["b", "c"])
    assert (one.to_dict()["saves"], several.to_dict()["saves"]) == (["a.txt"], ["b", "c"])
    assert nl.Scenario(PAIR, [one, several], duration_s=1).problems() == []
    read = nl.Scenario.from_dict(nl.Scenario(PAIR, [one, several], duration_s=1).to_dict())
    assert list(read.traffic) == [one, several]


@pytest.mark.parametrize("name", ["", "a/b", "../a", ".a", "-a", "a b", 5, "x" * 101])
def test_a_name_that_could_lie_elsewhere_is_refused(name: Any) -> None:
    (problem,) = nl.Command("h1", "true", saves=[name]).problems("traffic 1")
    assert problem.startswith("traffic 1: saves: a name is 1 to 100 letters, digits and ._-")


def test_two_commands_do_not_save_the_same_name() -> None:
    commands = [nl.Command("h1", "true", saves=["a", "b"]), nl.Command("h2", "true", saves="b")]
    with pytest.raises(
        ScenarioError, match=r"traffic 2 \(command\): saves: b is left by traffic 1 too; choose another name"
    ):
        nl.Scenario(PAIR, commands, duration_s=1).validate()
    assert nl.Command("h1", "true", saves=5).problems("traffic 1") == [
        "traffic 1: saves must be a file name or a list of them, got 5"
    ]


@pytest.mark.pocket
def test_files_of_a_command_come_back_from_the_guest() -> None:
    """Each command has a directory of its own; what it did not write is told."""
    commands = [
        nl.Command("h1", "ls -A > before.txt; printf '\\0\\377' > bytes", saves=["before.txt", "bytes", "other.txt"]),
        nl.Command("h2", "ip -brief address show dev h2-eth0 > h2.txt", saves="h2.txt"),
    ]
    run = nl.run(PAIR, commands, duration_s=0.5, progress=False)
    assert list(run.artifacts) == ["before.txt", "bytes", "h2.txt"]
    assert run.artifacts.read_text("before.txt") == "before.txt\n"
    assert run.artifacts.read_bytes("bytes") == b"\0\xff"
    assert "10.0.1.2/24" in run.artifacts.read_text("h2.txt")
    assert run.artifacts.unsaved == {"other.txt": "the command did not write it into its working directory"}


KILLED = """
import os, pickle, sys
from pathlib import Path
from netlab.measure.artifacts import Artifacts
from netlab_engines.base import run_folder, take_artifacts

folder = run_folder(Path(sys.argv[1]))
(folder / "artifacts" / "a.txt").write_text("x")
taken = Artifacts(Path(take_artifacts(folder)), owned=True)
all_of_them = [taken, taken.own_copy(), pickle.loads(pickle.dumps(taken))]
print(*(found["a.txt"] for found in all_of_them), sep="\\n", flush=True)
if sys.argv[2] == "killed":
    os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["killed", "ended"])
def test_files_of_a_process_that_has_gone_are_cleared(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "run").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "run"), how],
        capture_output=True,
        text=True,
        cwd=Path(nl.__file__).parent.parent,
    )
    left = [Path(line) for line in done.stdout.split()]
    assert len(left) == 3, done.stderr
    assert [path.exists() for path in left] == [how == "killed"] * 3
    with scratch.run_directory():
        assert not any(path.exists() for path in left)
    shutil.rmtree(tmp_path / "run")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [
        tmp_path / f"netlab-{os.getuid()}" / scratch.LOCK
    ]


def test_a_forked_process_does_not_take_its_parents_files_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program = """
import os, sys
from netlab.base import scratch
own = scratch.kept_directory()
if os.fork() == 0:
    sys.exit()
os.wait()
print(own.is_dir())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr
