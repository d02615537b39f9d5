"""Tests of the parts of a release, of its refusals, and of the workflows that make it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import components  # noqa: E402
import publish  # noqa: E402
import release  # noqa: E402
import wheel  # noqa: E402
import wheel_file  # noqa: E402

from netlab.base.version import VERSION  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a changelog and a citation that agree on version 1.2.3."""
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n### Added\n")
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.2.3\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> None:
    own = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Add files")


def test_a_clone_in_which_all_agree_can_be_released(clone: Path) -> None:
    assert list(release.problems(clone, "1.2.3")) == []
    git(clone, "tag", "v1.2.3")
    assert list(release.problems(clone, "1.2.3")) == []


def test_a_file_that_is_not_committed_is_named(clone: Path) -> None:
    (clone / "new.py").write_text("")
    (problem,) = release.problems(clone, "1.2.3")
    assert "1 files differ from the last commit, such as new.py" in problem


@pytest.mark.parametrize(
    ("heading", "sentence"),
    [
        ("## [1.2.2] - 2026-01-31", "begins with 1.2.2, but netlab/base/version.py has 1.2.3"),
        ("## [1.2.3] - unreleased", "gives 1.2.3 no date, but 'unreleased'"),
        ("## Next", "has no heading such as"),
        ("## [Unreleased]\n\n### Added\n\n- New.\n\n## [1.2.3] - 2026-01-31", "has changes under '[Unreleased]'"),
    ],
)
def test_a_changelog_that_does_not_agree_is_refused(clone: Path, heading: str, sentence: str) -> None:
    (clone / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n")
    commit(clone)
    (problem,) = release.problems(clone, "1.2.3")
    assert sentence in problem


def test_a_citation_and_a_tag_of_another_version_are_refused(clone: Path) -> None:
    (clone / "CITATION.cff").write_text("version: 1.2.2\n")
    commit(clone)
    git(clone, "tag", "v1.2.2")
    assert list(release.problems(clone, "1.2.3")) == [
        "CITATION.cff must have the line 'version: 1.2.3'",
        "the commit has the tag v1.2.2, but the version is 1.2.3",
    ]


def test_a_problem_ends_the_command_with_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], clone: Path
) -> None:
    monkeypatch.setattr(release, "ROOT", clone)
    monkeypatch.setattr(release, "VERSION", "9.9.9")
    monkeypatch.setattr(sys, "argv", ["release.py", "--check"])
    assert release.main() == 1
    assert "netlab 9.9.9 cannot be released:\n  - CHANGELOG.md begins with 1.2.3" in capsys.readouterr().err


@pytest.fixture
def parts(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The release of a clone whose steps write empty files: the names of the wheels, and of the page as a folder."""
    project, classroom = wheel.PROJECT, wheel.CLASSROOM
    names = [
        f"dist/{project}-py3-none-any.whl",
        f"dist/{classroom}-py3-none-any.whl",
        *(f"dist/{project}-py3-none-{'.'.join(tags)}.whl" for tags in wheel.PLATFORMS.values()),
        "build/lite/index.html",
    ]
    run = subprocess.run

    def make(command: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        if command[0] != "make":
            return run(command, **more)
        for name in names:
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).touch()
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(release, "ROOT", clone)
    monkeypatch.setattr(release, "VERSION", "1.2.3")
    monkeypatch.setattr(release, "notebooks_agree", lambda _root: True)
    monkeypatch.setattr(sys, "argv", ["release.py"])
    with monkeypatch.context() as steps:
        steps.setattr(subprocess, "run", make)
        yield names


@pytest.mark.parametrize("number", range(5))
def test_a_part_that_was_not_made_ends_the_release_with_an_error_and_the_remedy(
    parts: list[str], capsys: pytest.CaptureFixture[str], clone: Path, number: int
) -> None:
    lost = parts.pop(number)
    assert release.main() == 1
    output = capsys.readouterr().err
    assert ("the page" if "lite" in lost else Path(lost).name) in output
    assert "sh tools/setup.sh --release" in output
    assert not (clone / "dist" / release.SUMS).exists()


@pytest.mark.parametrize("status", [0, 1])
def test_a_release_has_the_disk_images_if_they_are_asked_for(
    parts: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], clone: Path, status: int
) -> None:
    script = clone / "vm" / "build.sh"
    script.parent.mkdir()
    created = "netlab-1.2.3-$1"
    script.write_text(
        f'#!/bin/sh\nmkdir -p "$2" && touch "$2/{created}.ova" "$2/{created}.qcow2" "$2/{created}.vmdk"\nexit {status}\n'
    )
    script.chmod(0o755)
    (clone / "vm" / "machine.sh").touch()
    for name in ("write_folder", "write_source", "write_dependencies"):
        monkeypatch.setattr(release, name, lambda *_words: None)
    monkeypatch.setattr(wheel_file, "read", lambda _path: dict.fromkeys([f"{wheel.PROJECT}.dist-info/METADATA"]))
    commit(clone)
    monkeypatch.setattr(sys, "argv", ["release.py", "--image"])
    assert release.main() == status
    output = capsys.readouterr()
    images = {path.name for path in (clone / "dist").iterdir() if "amd64" in path.name}
    if status:
        assert images == set() and "The disk image could not be made" in output.err
        return
    assert images == {f"netlab-1.2.3-amd64.{suffix}" for suffix in ("ova", "qcow2")}
    assert images <= set((clone / "dist" / release.SUMS).read_text().split())
    assert "step 4 of 4" in output.out


@pytest.fixture
def release_folder(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a release with a file and its sums, and a program `gh` that writes down how it is called."""
    folder = clone / "dist"
    folder.mkdir()
    (folder / "netlab.whl").write_bytes(b"wheel")
    release.write_sums(folder)
    programs = clone / "bin"
    programs.mkdir()
    (programs / "gh").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {clone}/called\ncat >> {clone}/called\n')
    (programs / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(publish, "ROOT", clone)
    monkeypatch.setattr(publish, "VERSION", "1.2.3")
    git(clone, "tag", "v1.2.3")
    return folder


def test_a_release_is_published_with_all_files_and_the_section_of_the_changelog(
    release_folder: Path, clone: Path
) -> None:
    (clone / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [1.2.3] - 2026-01-31\n\n- New.\n\n## [1.2.2] - 2025-01-31\n\n- Old.\n"
    )
    assert publish.main() == 0
    assert (clone / "called").read_text().splitlines() == [
        "release", "create", "v1.2.3", "--verify-tag", "--title", "netlab 1.2.3", "--notes-file", "-",
        str(release_folder / "netlab.whl"), str(release_folder / release.SUMS), "- New.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda clone: git(clone, "tag", "-d", "v1.2.3"),
            "the commit has no tag v1.2.3; make it with `git tag v1.2.3`",
        ),
        (lambda clone: (clone / "bin" / "gh").unlink(), "the program gh is missing; install Debian's package gh"),
        (
            lambda clone: (clone / "dist" / "netlab.whl").write_bytes(b"other"),
            "does not describe netlab.whl; run make release",
        ),
        (lambda clone: (clone / "dist" / "new.whl").touch(), "does not describe new.whl; run make release again"),
        (
            lambda clone: (clone / "dist" / "netlab.whl").unlink(),
            "does not describe netlab.whl; run make release again",
        ),
        (lambda clone: (clone / "dist" / release.SUMS).unlink(), "there is no dist/SHA256SUMS; run make release"),
    ],
)
def test_an_incomplete_release_is_not_published(
    release_folder: Path, clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], object], sentence: str,
) -> None:  # fmt: skip
    find = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: find(name, path=str(clone / "bin")))
    change(clone)
    assert publish.main() == 1
    output = capsys.readouterr().err
    assert output.startswith("netlab 1.2.3 cannot be published:\n  - ") and sentence in output
    assert not (clone / "called").exists()


def test_a_folder_gives_the_same_archive_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    folder = tmp_path / "page"
    (folder / "files").mkdir(parents=True)
    (folder / "index.html").write_text("<p>")
    (folder / "files" / "a.js").write_text("1")
    archives = [release.write_folder(tmp_path, folder, name) for name in ("one", "two")]
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with zipfile.ZipFile(archives[0]) as archive:
        assert archive.namelist() == ["files/a.js", "index.html"]
    with pytest.raises(FileNotFoundError, match="nothing has no files"):
        release.write_folder(tmp_path, tmp_path / "nothing", "three")


def test_the_list_of_dependencies_names_the_source_and_the_licence_of_each_kernel(tmp_path: Path) -> None:
    places = {
        "kernels/7.3.4-a/linux": {"kind": "package", "name": "linux-source-7.3", "version": "7.3.4-1~bpo13+1"},
        "libraries/7.3.4-b/netlab-library.wasm": {"kind": "archive", "name": "linux-7.3.4.tar.xz", "version": "7.3.4"},
    }
    with zipfile.ZipFile(tmp_path / "netlab-1.whl", "w") as created:
        for place, source in places.items():
            folder = f"netlab/carried/{place.rpartition('/')[0]}"
            facts = {"release": "7.3.4", "machine": "x86_64", "source": {**source, "sha256": "5" * 64}}
            created.writestr(f"{folder}/build.json", json.dumps(facts))
            created.writestr(f"netlab/carried/{place}", b"program")
    pocket, portable = components.kernels([tmp_path / "netlab-1.whl"])
    assert [one["bom-ref"] for one in (pocket, portable)] == ["netlab-1.whl/linux", "netlab-1.whl/netlab-library.wasm"]
    assert pocket["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"program").hexdigest()}]
    for kernel, purl in (
        (pocket, "pkg:deb/debian/linux-source-7.3@7.3.4-1~bpo13%2B1"),
        (portable, "pkg:generic/linux@7.3.4"),
    ):
        (source,) = kernel["pedigree"]["ancestors"]
        assert kernel["version"] == "7.3.4" and source["purl"] == purl and source["hashes"][0]["content"] == "5" * 64
        assert kernel["licenses"] == source["licenses"] == [{"license": {"id": "GPL-2.0-only"}}]


def test_the_list_of_dependencies_names_the_packages_of_the_page(tmp_path: Path) -> None:
    packages = {"numpy": "2.0.2", "netlab": "0.1.0", "ssl": "0"}
    lock = {
        "info": {"version": "0.27.7"},
        "packages": {name: {"name": name, "version": version} for name, version in packages.items()},
    }
    scripts = [
        {"name": "@lumino/widgets", "versionInfo": "2.7.1", "licenseId": "BSD-3-Clause", "extractedText": "Copyright"},
        {"name": "process", "versionInfo": "0.11.10", "licenseId": "", "extractedText": ""},
    ]
    for place, content in (
        ("static/pyodide/pyodide-lock.json", lock),
        ("build/third-party-licenses.json", {"packages": scripts}),
        ("extensions/a/static/third-party-licenses.json", {"packages": scripts[1:]}),
    ):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text(json.dumps(content))
    found = {one["purl"]: one.get("licenses") for one in components.page(tmp_path)}
    assert found == {
        "pkg:npm/pyodide@0.27.7": [{"expression": "MPL-2.0"}],
        "pkg:pypi/numpy@2.0.2": None,
        "pkg:npm/%40lumino/widgets@2.7.1": [{"expression": "BSD-3-Clause"}],
        "pkg:npm/process@0.11.10": None,
        "pkg:npm/zstddec@0.3.4": [{"expression": "MIT AND BSD-3-Clause"}],
    }


def test_the_sums_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"2")
    (tmp_path / "a").write_bytes(b"1")
    expected = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in (("a", b"1"), ("b", b"2")))
    assert release.write_sums(tmp_path).read_text() == expected == release.write_sums(tmp_path).read_text()


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the source archive is made of a commit")
def test_the_source_archive_has_the_committed_files_and_their_metadata(tmp_path: Path) -> None:
    path = release.write_source(tmp_path, b"Metadata-Version: 2.1\nName: netlab\n")
    first = path.read_bytes()
    with tarfile.open(path) as archive:
        names = set(archive.getnames())
    top = f"netlab-{VERSION}"
    assert {f"{top}/PKG-INFO", f"{top}/pyproject.toml", f"{top}/netlab/__init__.py"} <= names
    assert not any("/.venv/" in name or "/build/" in name for name in names)
    assert release.write_source(tmp_path, b"Metadata-Version: 2.1\nName: netlab\n").read_bytes() == first


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_only_calls_make_and_pins_its_actions(path: Path) -> None:
    text = path.read_text()
    commands = re.findall(r"run: (.+)", text)
    assert commands and all(re.fullmatch(r"make [a-z]+", command) for command in commands)
    assert {command.split()[1] for command in commands} <= set(TARGETS)
    actions = re.findall(r"uses: (.+)", text)
    assert actions and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action) for action in actions)
    assert "permissions:\n  contents: read\n" in text


def test_the_pins_of_a_release_are_of_exact_versions() -> None:
    lines = [line for line in release.LOCK.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 20 and all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
