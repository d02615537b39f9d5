"""The choice of a kernel source from apt's output. The texts are apt's own, except for the names of mirrors."""

from pathlib import Path

import pytest

from netlab.base.errors import KernelError
from netlab_kernel import apt, tree
from netlab_kernel.apt import Package

DEBIAN_12 = """\
|Google|sdk|main|https://third.test/apt/
Debian|Debian|bookworm-updates|main|http://mirror.test/debian/
Debian|Debian|bookworm|main|http://mirror.test/debian/
Debian|Debian-Security|bookworm-security|main|http://security.test/debian-security/
. nodistro|. nodistro|nodistro|main|https://third.test/node/
"""
BEFORE_FIRST_UPDATE = """\
$(ORIGIN)|$(LABEL)|stable|main|https://third.test/tool/
$(ORIGIN)|$(LABEL)|trixie|main|http://mirror.test/debian/
$(ORIGIN)|$(LABEL)|trixie-security|main|http://security.test/debian-security/
"""
SHOW = """\
Package: linux-source-7.3
Source: linux
Version: 7.3.4-1~bpo13+1
Installed-Size: 162872
Architecture: all
Depends: binutils, xz-utils
Description: Linux kernel source for version 7.3 with Debian patches
 This package provides source code for the Linux kernel version 7.3. This
 source closely tracks official Linux kernel releases.
Filename: pool/main/l/linux/linux-source-7.3_7.3.4-1~bpo13+1_all.deb
Size: 166780612
SHA256: 703e369ddd4cce971452f5a593ee55df3a5c10c83caf0fa0df039633ed181ee3

Package: linux-source-7.2
Version: 7.2.9-1~bpo13+1
Size: 166000000
SHA256: 0000000000000000000000000000000000000000000000000000000000000000

Package: linux-source
Version: 9.9.9-1
Size: 1000
SHA256: 1111111111111111111111111111111111111111111111111111111111111111
"""


def test_the_mirror_is_debians_own_not_security_nor_a_third_party() -> None:
    assert apt.debian_mirror(apt.parse_targets(DEBIAN_12), "bookworm") == "http://mirror.test/debian/"


def test_before_the_first_update_the_release_name_decides() -> None:
    targets = apt.parse_targets(BEFORE_FIRST_UPDATE)
    assert [target.origin for target in targets] == ["", "", ""]
    assert apt.debian_mirror([target for target in targets if target.release != "stable"], "trixie") == (
        "http://mirror.test/debian/"
    )


def test_no_mirror_is_found_where_none_is_configured() -> None:
    assert apt.debian_mirror(apt.parse_targets("x|y|noble|main|http://other.test/\n"), "bookworm") is None
    assert apt.parse_targets("") == []


@pytest.mark.parametrize(
    ("codename", "number", "expected"),
    [
        ("bookworm", 12, [["trixie-backports"], ["trixie"], ["bookworm-backports", "bookworm"]]),
        ("trixie", 13, [["trixie-backports"], ["trixie"]]),
        ("forky", 14, [["forky-backports", "forky"], ["trixie-backports"], ["trixie"]]),
        ("sid", None, [["sid"], ["trixie-backports"], ["trixie"]]),
    ],
)
def test_backports_come_before_the_release_and_newer_releases_before_both(
    codename: str, number: int | None, expected: list[list[str]]
) -> None:
    assert apt.suites(codename, number) == expected


def test_only_real_source_packages_are_read_and_the_newest_is_chosen() -> None:
    packages = apt.parse_packages(SHOW)
    assert [package.name for package in packages] == ["linux-source-7.3", "linux-source-7.2"]
    best = apt.newest(packages)
    assert best is not None
    assert (best.name, best.kernel_version, best.size_bytes) == ("linux-source-7.3", (7, 3, 4), 166780612)
    assert best.file_name == "linux-source-7.3_7.3.4-1~bpo13+1_all.deb"


def test_versions_are_compared_as_numbers() -> None:
    names = {
        "linux-source-6.9": "6.9.7-1",
        "linux-source-6.12": "6.12.3-1",
        "linux-source-6.8.0": "6.8.0-60.63",
    }
    best = apt.newest(Package(name, version, "", 1) for name, version in names.items())
    assert best is not None and best.name == "linux-source-6.12"
    assert apt.newest([]) is None


def programs_on_path(directory: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    directory.mkdir(exist_ok=True)
    for name, script in scripts.items():
        path = directory / name.replace("_", "-")
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")


def test_a_debian_machine_reads_backports_of_its_own_mirror_in_a_private_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "targets").write_text(DEBIAN_12)
    (tmp_path / "show").write_text(SHOW)
    calls = tmp_path / "calls"
    programs_on_path(
        tmp_path / "bin",
        monkeypatch,
        apt_get=f'echo "$@" >> {calls}\ncase "$*" in *indextargets*) cat {tmp_path}/targets;; esac\n',
        apt_cache=(
            f'case "$*" in *search*) echo "linux-source-7.3 - Linux"; echo "linux-source-7.2 - Linux";;'
            f" *show*) cat {tmp_path}/show;; esac\n"
        ),
    )
    monkeypatch.setattr(
        apt,
        "_os_release",
        lambda: {"ID": "debian", "VERSION_ID": "12", "VERSION_CODENAME": "bookworm"},
    )
    log = tmp_path / "log"
    _, package = apt.find_package(log, tmp_path / "private", lambda *_: None)

    assert package.version == "7.3.4-1~bpo13+1"
    sources = (tmp_path / "private/sources.list").read_text()
    assert sources.endswith("http://mirror.test/debian/ trixie-backports main\n") and sources.count("deb ") == 1
    update = next(line for line in calls.read_text().splitlines() if line.endswith(" update"))
    assert f"Dir::State={tmp_path / 'private'}" in update and "Dir::Etc::sourceparts=/dev/null" in update


def test_without_any_source_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs_on_path(tmp_path / "bin", monkeypatch, apt_get="exit 0\n", apt_cache="exit 0\n")
    monkeypatch.setattr(apt, "_os_release", lambda: {"ID": "ubuntu"})
    with pytest.raises(KernelError, match="sudo apt-get update"):
        apt.find_package(tmp_path / "log", tmp_path / "private", lambda *_: None)
    with pytest.raises(KernelError, match=r"(?s)sudo apt-get update.*build --source linux-.*unpack FILE"):
        apt.check()


def test_without_apt_the_other_ways_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for ask in (apt.check, lambda: apt.find_package(tmp_path / "log", tmp_path, lambda *_: None)):
        with pytest.raises(KernelError, match=r"(?s)This machine has no apt.*build --source linux-.*unpack FILE"):
            ask()


def ubuntu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, *, amx: bool) -> None:
    name = "linux-source-" + version.partition("-")[0]
    stanza = f"Package: {name}\nVersion: {version}\nSize: 9\nSHA256: {'0' * 64}\n"
    (tmp_path / "show").write_text(stanza)
    offer = f'case "$*" in *search*) echo "{name} - Linux";; *show*) cat {tmp_path}/show;; esac\n'
    programs_on_path(tmp_path / "bin", monkeypatch, apt_get="exit 0\n", apt_cache=offer)
    monkeypatch.setattr(apt, "_os_release", lambda: {"ID": "ubuntu"})
    monkeypatch.setattr(tree, "oldest_here", lambda: tree.OLDEST_WITH_AMX if amx else tree.MIN_VERSION)


@pytest.mark.parametrize(
    ("version", "amx", "words"),
    [
        ("5.15.0-180.190", False, "Linux 5.15.0; this machine needs 6.1 or"),
        ("6.8.0-60.63", True, "Linux 6.8.0; this machine needs 6.13 or"),
    ],
)
def test_outdated_source_is_reported_with_the_other_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, amx: bool, words: str
) -> None:
    ubuntu(tmp_path, monkeypatch, version, amx=amx)
    for ask in (apt.check, lambda: apt.find_package(tmp_path / "log", tmp_path, lambda *_: None)):
        with pytest.raises(KernelError, match=rf"(?s){words} later.*build --source linux-.*unpack FILE"):
            ask()


def test_ubuntus_own_source_is_taken_where_it_is_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ubuntu(tmp_path, monkeypatch, "6.8.0-60.63", amx=False)
    apt.check()
    _, package = apt.find_package(tmp_path / "log", tmp_path, lambda *_: None)
    assert package.version == "6.8.0-60.63"


def test_debian_reports_nothing_before_other_releases_were_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs_on_path(tmp_path / "bin", monkeypatch, apt_get="exit 0\n", apt_cache="exit 0\n")
    monkeypatch.setattr(apt, "_os_release", lambda: {"ID": "debian"})
    apt.check()


@pytest.mark.parametrize(("flags", "oldest"), [("fpu amx_bf16 amx_tile", (6, 13)), ("fpu avx512f", (6, 1))])
def test_a_processor_with_amx_needs_a_newer_kernel(
    monkeypatch: pytest.MonkeyPatch, flags: str, oldest: tuple[int, int]
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _path: f"processor\t: 0\nflags\t\t: {flags}\n")
    assert tree.oldest_here() == oldest


def test_a_download_with_another_checksum_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs_on_path(tmp_path / "bin", monkeypatch, apt_get="echo other > linux-source-7.3_all.deb\n")
    manager = apt.Apt(tmp_path / "log")
    package = Package("linux-source-7.3", "7.3.4-1", "0" * 64, 6)
    with pytest.raises(KernelError, match="checksum"):
        manager.download(package, tmp_path / "sources", lambda _: None)
    assert list((tmp_path / "sources").iterdir()) == []


def test_an_existing_download_is_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs_on_path(tmp_path / "bin", monkeypatch, apt_get=f"echo x >> {tmp_path}/calls; printf good > a.deb\n")
    digest = "770e607624d689265ca6c44884d0807d9b054d23c473c106c72be9de08b7376c"
    package = Package("linux-source-7.3", "7.3.4-1", digest, 4)
    manager = apt.Apt(tmp_path / "log")
    first = manager.download(package, tmp_path / "sources", lambda _: None)
    assert manager.download(package, tmp_path / "sources", lambda _: None) == first
    assert first.read_text() == "good" and (tmp_path / "calls").read_text() == "x\n"
