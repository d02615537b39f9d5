"""Directories of runs: private, cleared away whatever happens, and never where a guest could not live."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import netlab as nl
from netlab.base import scratch
from netlab.base.errors import EngineError


@pytest.fixture
def tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """$TMPDIR is a directory of the test's own."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def abandoned_directory(tmp: Path) -> Path:
    """The directory of a run whose process was killed."""
    program = (
        "from netlab.base import scratch\n"
        "import os\n"
        "with scratch.run_directory() as directory:\n"
        "    (directory / 'memory').write_text('x')\n"
        "    print(directory, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    root = Path(nl.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root)
    assert done.returncode == -9, done.stderr
    return Path(done.stdout.strip())


def test_a_run_directory_is_private_and_goes_with_the_run(tmp: Path) -> None:
    with scratch.run_directory() as directory:
        assert directory.parent.parent == tmp
        assert directory.parent.stat().st_mode & 0o777 == 0o700
        (directory / "out").mkdir()
    assert not directory.exists()


def test_a_run_directory_goes_when_the_run_fails(tmp: Path) -> None:
    with pytest.raises(KeyboardInterrupt), scratch.run_directory() as directory:
        raise KeyboardInterrupt
    assert not directory.exists()


def test_directories_of_killed_runs_are_cleared_and_those_of_others_kept(abandoned_directory: Path) -> None:
    assert (abandoned_directory / "memory").exists()
    with scratch.run_directory() as one:
        assert not abandoned_directory.exists()
        with scratch.run_directory() as other:
            assert one.exists()
            assert other != one
        assert one.exists()


def test_a_directory_without_a_lock_is_a_killed_runs_too(tmp: Path) -> None:
    with scratch.run_directory() as directory:
        left = directory.parent / "run-left"
        left.mkdir()
    with scratch.run_directory():
        assert not left.exists()


def test_many_runs_may_begin_at_once(tmp: Path) -> None:
    """None clears another's directory away while it is being made."""
    started = threading.Barrier(8)
    missing: list[Path] = []

    def one() -> None:
        started.wait()
        for _ in range(10):
            with scratch.run_directory() as directory:
                if not (directory / scratch.LOCK).exists():
                    missing.append(directory)

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missing == []


def test_directory_of_another_user_is_refused(tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a link to a directory of ours that they put there: what lies behind it would be cleared away."""
    ours = tmp / "documents"
    (ours / "run-marathon").mkdir(parents=True)
    (tmp / f"netlab-{os.getuid()}").symlink_to(ours)
    with (
        pytest.raises(EngineError, match="belongs to another user; set TMPDIR to a directory of your own"),
        scratch.run_directory(),
    ):
        pass
    assert (ours / "run-marathon").exists()


def test_a_file_in_the_directorys_place_is_a_sentence(tmp: Path) -> None:
    (tmp / f"netlab-{os.getuid()}").write_text("")
    with pytest.raises(EngineError, match="cannot be made .* remove it or set TMPDIR"), scratch.run_directory():
        pass


def test_a_path_that_a_kernels_command_line_cannot_carry(tmp_path: Path) -> None:
    for name in ("two words", "a:b", 'a"b'):
        (tmp_path / name).mkdir()
        reason = scratch.usability_problem(tmp_path / name)
        assert reason is not None
        assert "a space, a colon or a quote" in reason


def test_each_unsuitable_directory_is_named_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "file"))
    assert scratch.usability_problem(tmp_path / "file") == "it is not writable or forbids programs (Not a directory)"
    assert (
        scratch.usability_problem(tmp_path / "none")
        == "it is not writable or forbids programs (No such file or directory)"
    )
    real = scratch.usability_problem
    monkeypatch.setattr(
        scratch, "usability_problem", lambda directory, *more, **words: real(tmp_path / "file", *more, **words)
    )
    with pytest.raises(EngineError) as caught:
        scratch.base()
    lines = str(caught.value).splitlines()
    assert len([line for line in lines if line.startswith("  ")]) == len(
        {str(tmp_path / "file"), "/tmp", "/var/tmp", "cache"}
    )
    assert lines[1] == f"  {tmp_path / 'file'}: it is not writable or forbids programs (Not a directory)"
    assert lines[-1].startswith("Set TMPDIR to a writable directory")


def test_full_disk_is_reported_with_the_space_needed(tmp: Path) -> None:
    reason = scratch.usability_problem(tmp, 1 << 60)
    assert reason is not None
    assert "are free there" in reason


def run_next_to(bad: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(bad))
    run = nl.run(nl.topologies.dumbbell(pairs=1), [nl.Ping("h1", "h2", count=1)], duration_s=1, engine="pocket")
    assert len(run.pings) == 1
    assert not list(bad.iterdir())


@pytest.mark.pocket
def test_a_scratch_directory_with_a_space_in_its_path_is_passed_over(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "with space"
    bad.mkdir()
    run_next_to(bad, monkeypatch)


@pytest.mark.pocket
@pytest.mark.root
@pytest.mark.parametrize("options", ["noexec,size=2g", "size=8m"])
def test_a_scratch_directory_that_forbids_programs_or_is_almost_full_is_passed_over(
    options: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(tmp_path)], check=True)
    try:
        run_next_to(tmp_path, monkeypatch)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
