"""The wheels alone, without a clone, a compiler and kernels in the cache."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

import netlab
from netlab.base.errors import KernelError
from netlab.base.version import VERSION
from netlab_engines.kernels import library_kernel
from netlab_engines.kernels.pocket_kernel import POCKET_MACHINE
from netlab_kernel import archive
from tests.engines import webassembly

ROOT = Path(netlab.__file__).parents[1]
HERE = platform.machine()
RUN = """
import netlab as nl
for engine in {engines!r}:
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10)
    run = nl.run(network, [nl.Udp("h1", "h2", rate_mbps=2)], duration_s=2, engine=engine)
    print(engine, round(run.flows.iloc[0]["goodput_mbps"], 2), nl.engines.choose(engine).kernel.path)
"""
CLASSROOM = """
import sys
from netlab.commands import cli
from netlab_classroom.grading import master, sandbox
status = cli.main(["assign", "udp_loss", "--output", "out", "--solved", "solved"])
print(status, len(master.find("1").exercises()))
with sandbox.student_package() as package:
    print(sorted(path.name for path in package.rglob("*") if "solutions" in path.parts or path.name == "carried"))
"""
pytestmark = [pytest.mark.library, pytest.mark.slow]


def wheel_tool() -> Any:
    """Return the module that makes the wheels."""
    spec = importlib.util.spec_from_file_location("wheel_tool", ROOT / "tools" / "wheel.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@pytest.fixture(scope="module")
def tool() -> Any:
    return wheel_tool()


@pytest.fixture(scope="module")
def files(tool: Any) -> dict[str, bytes]:
    found: dict[str, bytes] = tool.student_files()
    return found


@pytest.fixture(scope="module")
def portable(tool: Any, files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheel: Path = tool.student_wheel(tmp_path_factory.mktemp("dist"), files, [webassembly.built()])
    return wheel


@pytest.fixture(scope="module")
def native(tool: Any, files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for Linux on this machine's processor."""
    kernels = tool.ready_kernels(HERE)
    wheel: Path = tool.student_wheel(tmp_path_factory.mktemp("dist"), files, kernels, tool.PLATFORMS[HERE])
    return wheel


@pytest.fixture(scope="module")
def classroom(tool: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheel: Path = tool.make_classroom(tmp_path_factory.mktemp("dist"))
    return wheel


@pytest.fixture(scope="module")
def python(native: Path, classroom: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with both wheels, installed by pip, and with the packages that they ask for."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place / "env", with_pip=False)
    created = place / "env" / "bin" / "python"
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        created,
        "install",
        "-q",
        "--no-deps",
        "--no-compile",
        native,
        classroom,
    ]
    subprocess.run(command, check=True, timeout=300)
    (packages,) = (place / "env").glob("lib/python*/site-packages")
    # Put the directory behind the wheels on the path, without the files that name a clone.
    (packages / "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    return created


def run(python: Path, home: Path, *words: str, **environment: str) -> str:
    done = subprocess.run(
        [python, *words],
        env={"HOME": str(home), "PATH": "/nonexistent", "NETLAB_PROGRESS": "0", **environment},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def description_lines(wheel: Path, name: str) -> list[str]:
    """Return the lines of a file in the description of a wheel."""
    with zipfile.ZipFile(wheel) as opened:
        (path,) = (path for path in opened.namelist() if path.endswith(f".dist-info/{name}"))
        return opened.read(path).decode().splitlines()


def test_wheel_for_any_system_runs_in_a_home_with_spaces_and_accents(portable: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--target", target, portable]
    subprocess.run(command, check=True, timeout=300)
    home = tmp_path / "José’s home"
    home.mkdir()
    message = run(Path(sys.executable), home, "-m", "netlab.commands.cli", "demo", PYTHONPATH=str(target))
    assert "Theory and measurement agree" in message
    assert "(library engine" in message


@pytest.mark.pocket
def test_both_engines_run_from_the_wheel_for_linux_in_place_with_an_empty_cache(python: Path, tmp_path: Path) -> None:
    engines = ["pocket", "library"] if HERE == POCKET_MACHINE else ["library"]
    empty = tmp_path / "cache"
    empty.mkdir()
    records = run(python, tmp_path, "-c", RUN.format(engines=engines), NETLAB_CACHE=str(empty)).splitlines()
    assert [line.split()[:2] for line in records] == [[engine, "2.0"] for engine in engines]
    assert all(Path(line.split()[2]).is_relative_to(python.parents[1]) for line in records), records
    assert not {path.name for path in empty.iterdir()} & {"kernels", "libraries"}, "kernels were copied"


def test_instructors_assign_from_the_wheels_and_student_code_sees_no_solution(python: Path, tmp_path: Path) -> None:
    text = run(python, tmp_path, "-c", CLASSROOM)
    assert text.splitlines()[-2:] == ["0 6", "[]"]
    handed_out = json.loads((tmp_path / "out" / "01_udp_loss.ipynb").read_text())
    assert "BEGIN SOLUTION" not in json.dumps(handed_out)


def test_all_chapters_are_in_it_and_are_copied_to_the_home(python: Path, tmp_path: Path) -> None:
    program = "from netlab_course import copies; print(*copies.update(copies.folder()), sep='\\n')"
    run(python, tmp_path, "-c", program)
    copied = {path.name for path in (tmp_path / "netlab-chapters").glob("[!.]*")}
    assert copied == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")} | {"glossary.md"}


@pytest.mark.parametrize(("which", "kinds"), [("portable", ["wasm"]), ("native", ["pocket", "library"])])
def test_student_wheel_has_its_packages_and_kernels_and_nothing_else(
    which: str, kinds: list[str], request: pytest.FixtureRequest
) -> None:
    with zipfile.ZipFile(request.getfixturevalue(which)) as wheel:
        entries = {entry.filename: entry.external_attr >> 16 for entry in wheel.infolist()}
    tops = {name.partition("/")[0] for name in entries}
    project = f"netlab-{VERSION}"
    assert tops == {
        "netlab",
        "netlab_user_code",
        "netlab_engines",
        "netlab_course",
        f"{project}.dist-info",
        f"{project}.data",
    }
    assert not [name for name in entries if "solutions" in name or "examiners" in name]
    present = [kind for kind in kinds if kind != "pocket" or HERE == POCKET_MACHINE]
    expected = {
        (name, name in archive.KINDS[kind].programs) for kind in present for name in archive.KINDS[kind].contents
    }
    carried = {
        (Path(name).name, mode == 0o100755)
        for name, mode in entries.items()
        if re.search("/carried/(kernels|libraries)/", name)
    }
    assert expected <= carried
    executable = {name for name, mode in entries.items() if mode & 0o111}
    assert {Path(name).name for name in executable} == {name for name, program in expected if program}


def test_classroom_wheel_has_solutions_and_requires_the_same_version(classroom: Path) -> None:
    with zipfile.ZipFile(classroom) as wheel:
        names = set(wheel.namelist())
    there = {path.relative_to(ROOT) for path in (ROOT / "solutions").rglob("*") if path.suffix in (".py", ".ipynb")}
    there = {path for path in there if not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)}
    assert {f"netlab_classroom/carried/{path.as_posix()}" for path in there} <= names
    assert {name.partition("/")[0] for name in names} == {
        "netlab_classroom",
        f"netlab_classroom-{VERSION}.dist-info",
    }
    assert f"Requires-Dist: netlab=={VERSION}" in description_lines(classroom, "METADATA")


def test_tags_and_metadata_are_those_of_the_kernels_inside(
    tool: Any, files: dict[str, bytes], portable: Path, native: Path, tmp_path: Path
) -> None:
    other = "aarch64" if HERE == POCKET_MACHINE else "x86_64"
    kernel = library_kernel.ready()
    assert kernel is not None
    home = shutil.copytree(kernel.path.parent, tmp_path / kernel.path.parent.name)
    cross = dataclasses.replace(kernel, path=home / kernel.path.name, machine=other)
    wheels = {
        "any": portable,
        HERE: native,
        other: tool.student_wheel(tmp_path / "dist", files, [cross], tool.PLATFORMS[other]),
    }
    for machine, wheel in wheels.items():
        tags = ["any"] if machine == "any" else [f"manylinux_2_17_{machine}", f"musllinux_1_2_{machine}"]
        assert wheel.name == f"netlab-{VERSION}-py3-none-{'.'.join(tags)}.whl"
        assert description_lines(wheel, "WHEEL")[-len(tags) :] == [f"Tag: py3-none-{tag}" for tag in tags]
        # Only the WebAssembly kernel needs wasmtime, the largest package but two.
        needs = {line.removeprefix("Requires-Dist: ").split(">")[0] for line in description_lines(wheel, "METADATA")}
        assert ("wasmtime" in needs) is (machine == "any")
        assert {"numpy", "jupyterlab"} <= needs
        of_any = [
            line for line in description_lines(portable, "METADATA") if machine == "any" or "Dist: wasmtime" not in line
        ]
        assert description_lines(wheel, "METADATA") == of_any
    assert "License: BSD-3-Clause AND GPL-2.0-only" in description_lines(portable, "METADATA")


def test_the_same_commit_gives_the_same_bytes(
    tool: Any, native: Path, classroom: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    umask = os.umask(0o077)
    try:
        kernels = []
        for kernel in tool.ready_kernels(HERE):
            home = shutil.copytree(kernel.path.parent, tmp_path / "later" / kernel.path.parent.name)
            facts = {**kernel.build, "built_at": "2030-01-01", "build_s": 1.0}
            (home / "build.json").write_text(json.dumps(facts, indent=2) + "\n")
            kernels.append(dataclasses.replace(kernel, path=home / kernel.path.name))
        again = tool.student_wheel(tmp_path, tool.student_files(), kernels, tool.PLATFORMS[HERE])
        assert again.read_bytes() == native.read_bytes()
        assert tool.make_classroom(tmp_path).read_bytes() == classroom.read_bytes()
    finally:
        os.umask(umask)


def test_a_program_that_needs_the_machines_c_library_is_refused(
    tool: Any, files: dict[str, bytes], tmp_path: Path
) -> None:
    kernel = library_kernel.ready()
    assert kernel is not None and tool.is_static(kernel.path.read_bytes())
    home = shutil.copytree(kernel.path.parent, tmp_path / "build")
    shutil.copy("/bin/ls", home / kernel.path.name)
    with pytest.raises(KernelError, match="needs the C library of the machine that built it"):
        tool.student_wheel(tmp_path, files, [dataclasses.replace(kernel, path=home / kernel.path.name)])


def test_missing_compiler_of_a_processor_is_reported_with_its_package(
    tool: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tool.platform, "machine", lambda: "x86_64")
    assert tool.native_kernels("aarch64") == []
    assert "apt install gcc-aarch64-linux-gnu" in capsys.readouterr().out


def test_a_processor_without_kernels_gets_no_wheel_of_its_own(
    tool: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    monkeypatch.setattr("platform.system", lambda: "Linux")
    assert tool.main(["--native"]) == 1
    assert capsys.readouterr().out == "There is no wheel for Linux on riscv64.\n"


@pytest.mark.parametrize(
    ("is_made", "message"), [(True, ""), (False, "NOT MADE: the wheel for Linux on aarch64: there is no ")]
)
def test_the_last_line_names_a_wheel_that_was_not_made_and_the_missing_package(
    tool: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    is_made: bool,
    message: str,
) -> None:
    wheel = tmp_path / "netlab.whl"
    wheel.touch()
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    for name, answer in (
        ("portable_kernel", object()),
        ("student_files", {}),
        ("student_wheel", wheel),
        ("make_classroom", wheel),
    ):
        monkeypatch.setattr(tool, name, lambda *_words, answer=answer: answer)
    monkeypatch.setattr(tool, "make_native", lambda machine, *_words: wheel if is_made or machine == "x86_64" else None)
    assert tool.main([]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(message or "With Python 3.10")
    assert is_made or "apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross" in last
