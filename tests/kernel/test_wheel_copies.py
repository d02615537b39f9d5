"""Kernels of the wheel where they cannot be executed in place, and commands of packages that are not installed."""

import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from netlab.base.errors import KernelError
from netlab.base.location import IMPORT_ROOT
from netlab.commands import cli, contributions
from netlab_engines.kernels import builds, cache, library_kernel, pocket_kernel, recipes, wheel_copies

HOST = platform.machine()


@pytest.fixture(autouse=True)
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the kernels of a wheel, whose programs nobody may execute; the user's cache is empty."""
    place = tmp_path / "carried"
    for module in (cache, wheel_copies):
        monkeypatch.setattr(module, "CARRIED_FOLDER", place)
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    for name in ("NETLAB_KERNEL", "NETLAB_LIBRARY"):
        monkeypatch.delenv(name, raising=False)
    for kind, programs, recipe in (
        ("kernels", ["linux", "mnexec"], recipes.POCKET),
        ("libraries", ["netlab-library", "mnexec"], recipes.LIBRARY),
    ):
        home = place / kind / "7.3.4-aaaaaaaaaaaa"
        home.mkdir(parents=True)
        facts = {"release": "7.3.4", "key": "a" * 12, "machine": HOST, "recipe": recipe}
        (home / "build.json").write_text(json.dumps(facts))
        (home / "config").write_text("CONFIG_INET=y\n")
        for name in programs:
            (home / name).write_text("#!/bin/sh\n")
    return place


@pytest.mark.parametrize(
    ("find", "kind", "programs"),
    [
        (pocket_kernel.find, "kernels", {"linux", "mnexec"}),
        (library_kernel.find, "libraries", {"netlab-library", "mnexec"}),
    ],
)
def test_programs_without_execute_permission_are_copied_once(
    carried: Path, tmp_path: Path, find: Callable[[], pocket_kernel.PocketKernel], kind: str, programs: set[str]
) -> None:
    copied = tmp_path / "cache" / kind / "7.3.4-aaaaaaaaaaaa"
    assert find().path.parent == copied
    assert {path.name for path in copied.iterdir() if os.access(path, os.X_OK)} == programs
    made_ns = copied.stat().st_ctime_ns
    assert find().path.parent == copied and copied.stat().st_ctime_ns == made_ns
    assert [path.name for path in copied.parent.parent.iterdir()] == [kind], "nothing temporary is left"
    for name in programs:
        (copied / name).unlink()
        (carried / kind / copied.name / name).chmod(0o755)
    assert find().path.parent == carried / kind / copied.name


def test_remedy_is_named_if_no_directory_allows_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_copies, "_can_execute", lambda *_words: False)
    for _again in range(2):
        with pytest.raises(
            KernelError, match=r"cannot be executed there, and copying .*either.*mounted without noexec"
        ):
            pocket_kernel.find()
        assert not any((tmp_path / "cache").iterdir()), "the copy is removed"
    (tmp_path / "file").touch()
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "file"))
    with pytest.raises(KernelError, match=r"(?s)file.*NETLAB_CACHE"):
        pocket_kernel.find()


@pytest.mark.parametrize(
    ("find", "kind", "programs"),
    [
        (pocket_kernel.find, "kernels", ["linux", "mnexec"]),
        (library_kernel.find, "libraries", ["netlab-library", "mnexec"]),
    ],
)
def test_a_build_in_the_cache_that_cannot_be_executed_is_passed_over_or_replaced(
    carried: Path,
    tmp_path: Path,
    find: Callable[[], pocket_kernel.PocketKernel],
    kind: str,
    programs: list[str],
) -> None:
    inside, copied = carried / kind / "7.3.4-aaaaaaaaaaaa", tmp_path / "cache" / kind / "7.3.4-aaaaaaaaaaaa"
    shutil.copytree(inside, copied)
    for name in programs:
        (inside / name).chmod(0o755)
    assert find().path.parent == inside, "the programs of the wheel can be executed"
    for name in programs:
        (inside / name).chmod(0o644)
    assert find().path.parent == copied and all(os.access(copied / name, os.X_OK) for name in programs)
    assert [path.name for path in copied.parent.parent.iterdir()] == [kind], "nothing temporary is left"
    shutil.rmtree(inside)
    (copied / programs[0]).chmod(0o644)
    with pytest.raises(KernelError, match=r"cache.*cannot be executed.*NETLAB_CACHE"):
        find()


def test_wheel_supplies_a_missing_kernel_without_the_builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "CARRIED_FOLDER", tmp_path / "nothing")
    for module in (pocket_kernel, library_kernel):
        monkeypatch.setattr(module, "HAS_BUILDER", False)
        with pytest.raises(KernelError, match=r"The wheel of this version for Linux .* has the kernels: install it"):
            module.find()
    assert builds.HAS_BUILDER and "netlab kernel build" in builds.REBUILD_HINT


@pytest.mark.slow
def test_advice_in_students_wheels_names_no_command_that_they_lack(tmp_path: Path) -> None:
    for package in ("netlab", "netlab_engines"):
        shutil.copytree(IMPORT_ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "from netlab_engines.kernels.builds import *; print(FEATURES_HINT, REBUILD_HINT, INSTALL_WHEEL, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    assert len({*done.stdout.splitlines()}) == 1 and "install it with pip" in done.stdout


def test_missing_commands_of_student_wheels_name_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = ("netlab_classroom", "netlab_kernel", "netlab_replication")
    tables = [importlib.import_module(f"{name}.command_table").COMMANDS for name in absent]
    assert {name for table in tables for name in table} == set(contributions.NOT_IN_THE_WHEEL)
    present = {name: row for name, row in cli.commands().items() if name not in contributions.NOT_IN_THE_WHEEL}
    monkeypatch.setattr(cli, "commands", lambda: present)
    for word, expected in (("grade", "pip install the file netlab_classroom-"), ("kernel", "clone of netlab")):
        with pytest.raises(SystemExit):
            cli.main([word, "1"])
        assert expected in capsys.readouterr().err
    assert (IMPORT_ROOT / "netlab_classroom").is_dir()
