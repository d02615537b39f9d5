"""Builds that take the place of others in the cache, and processes that are killed meanwhile."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from netlab_engines.kernels import cache
from netlab_engines.kernels.installation import MAX_STAGING_AGE_S, install, staging_directory

NAMES = ("build.json", "config", "linux")
KILLED = 9


@pytest.fixture(autouse=True)
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the place of a build in a new cache."""
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    return cache.kernels() / "7.3.4-0123456789ab"


def make(directory: Path, text: str) -> Path:
    """Write the files of a build with the content `text` to a new directory and return its path."""
    directory.mkdir(parents=True)
    for name in NAMES:
        (directory / name).write_text(text)
    return directory


def complete_builds() -> list[str]:
    """Return the contents of the complete builds that a search finds, the best first."""
    contents = [[(build / name).read_text() for name in NAMES if (build / name).exists()] for build in builds()]
    assert all(len(set(texts)) <= 1 for texts in contents), "files of two builds are mixed"
    return [texts[0] for texts in contents if len(texts) == len(NAMES)]


def builds() -> list[Path]:
    """Return the directories that a search for pocket kernels looks at."""
    return [path for path in cache.builds(cache.kernels()) if cache.kernels() in path.parents]


def kill_before(step: int, action: Callable[[], object]) -> bool:
    """Do `action` in a process that is killed before it has moved or deleted its `step`th file or directory; return
    whether it was killed before its end.
    """
    pid = os.fork()
    if pid == 0:
        steps = iter(range(step))
        for owner, name in ((Path, "rename"), (os, "unlink"), (os, "rmdir")):
            setattr(owner, name, killing(getattr(owner, name), steps))
        shutil._use_fd_functions = False  # type: ignore[attr-defined]
        status = 1
        try:
            action()
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, KILLED)
    return status == KILLED


def killing(function: Callable[..., object], steps: Iterator[int]) -> Callable[..., object]:
    """Return `function`, which ends the process when `steps` has no more elements."""

    def call(*args: object, **options: object) -> object:
        if next(steps, None) is None:
            os._exit(KILLED)
        return function(*args, **options)

    return call


def test_new_build_takes_the_place_of_an_earlier_one(target: Path, tmp_path: Path) -> None:
    for text in ("first", "second", "third"):
        install(make(tmp_path / "new", text), target)
        assert complete_builds() == [text] and list(cache.kernels().iterdir()) == [target]


@pytest.mark.slow
def test_kill_at_any_step_leaves_a_complete_build_and_the_next_installation_repairs_it(
    target: Path, tmp_path: Path
) -> None:
    install(make(tmp_path / "new", "old"), target)
    texts = []
    for step in range(100):
        new = make(tmp_path / f"new-{step}", f"new-{step}")
        was_killed = kill_before(step, lambda new=new: install(new, target))  # type: ignore[misc]
        assert len(complete_builds()) == 1
        texts.append(complete_builds()[0])
        install(make(tmp_path / f"other-{step}", "other"), cache.kernels() / "7.3.5-0123456789ab")
        assert {path.name for path in cache.kernels().iterdir()} == {target.name, "7.3.5-0123456789ab"}
        assert texts[-1] in complete_builds(), "a repair changes the name alone"
        shutil.rmtree(cache.kernels() / "7.3.5-0123456789ab")
        if not was_killed:
            break
    # The old build is found until the second renaming has been done, then the new one.
    assert texts == ["old", "old", *(f"new-{step}" for step in range(2, len(texts)))]
    assert len(texts) == 3 + len(NAMES) + 1, "the kills hit both renamings and each deletion"


@pytest.mark.slow
def test_installations_by_several_processes_take_turns(target: Path, tmp_path: Path) -> None:
    install(make(tmp_path / "new", "old"), target)
    children = []
    for child in range(4):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                for number in range(50):
                    text = f"{child}-{number}"
                    install(make(tmp_path / text, text), target)
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert statuses == [0] * len(children)
    assert complete_builds()[0].endswith("-49") and list(cache.kernels().iterdir()) == [target]


def test_earlier_build_comes_back_when_the_new_one_cannot_be_moved(target: Path, tmp_path: Path) -> None:
    install(make(tmp_path / "new", "old"), target)
    with pytest.raises(FileNotFoundError):
        install(tmp_path / "none", target)
    assert complete_builds() == ["old"] and list(cache.kernels().iterdir()) == [target]


def test_staging_directories_of_killed_processes_are_removed_after_a_day(tmp_path: Path) -> None:
    def use() -> None:
        with staging_directory() as work:
            make(work / "7.3.4-0123456789ab", "half")
            os._exit(KILLED)

    kill_before(0, use)
    (left,) = tmp_path.iterdir()
    assert not builds(), "a search does not find it"
    with staging_directory() as work:
        assert left.exists() and work.exists()
    old_s = time.time() - MAX_STAGING_AGE_S - 60
    os.utime(left, (old_s, old_s))
    with staging_directory():
        assert not left.exists()
    assert not list(tmp_path.iterdir())
