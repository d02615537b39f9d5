"""A build ends in a whole kernel or in nothing. The sources are small stand-ins that real make and gcc build."""

import functools
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest

from netlab.base.errors import KernelError
from netlab.engines import MACHINES
from netlab_engines.kernels import cache, library_kernel, pocket_kernel
from netlab_engines.kernels.background_build import BuildProgress
from netlab_engines.kernels.versions import Version
from netlab_kernel import apt, archive, building, fragment, library_build, prerequisites, tree
from netlab_kernel.edit import RECIPE
from tests.waiting import wait_for

MAKEFILE = """\
VERSION = 7
PATCHLEVEL = 3
SUBLEVEL = 4
EXTRAVERSION =
NAME = Stand-in

tinyconfig:
\techo CONFIG_64BIT=y > .config
olddefconfig:
\t@test -z "$(CFLAGS)$(V)"
\t@true
linux:
\t@echo "  CC      init/main.o"
\t@echo "  AR      built-in.a"
\t@echo "  CC      kernel/fork.o"
\tgcc -o linux main.c
"""
MAIN = '#include <stdio.h>\nint main(void) { puts("7.3.4"); return 0; }\n'
TOOLS = [name for name in prerequisites.NEEDED_PROGRAMS if not shutil.which(name)]

pytestmark = pytest.mark.skipif(
    bool(TOOLS) and os.environ.get("CI") is None, reason=f"building needs {', '.join(TOOLS)}"
)


@functools.cache
def mnexec(static: bool, cross: str) -> bytes:
    """The program, compiled once for all builds of this file."""
    with tempfile.TemporaryDirectory() as place:
        compile_mnexec(Path(place, "mnexec"), static, Path(place, "log"), cross)
        return Path(place, "mnexec").read_bytes()


def copy_mnexec(target: Path, static: bool, _log: Path, cross: str = "") -> None:
    target.write_bytes(mnexec(static, cross))
    target.chmod(0o755)


@functools.cache
def can_link_static() -> bool:
    with tempfile.TemporaryDirectory() as place:
        return links_static(Path(place))


compile_mnexec, links_static = building._compile_mnexec, prerequisites.links_static


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NETLAB_KERNEL", raising=False)
    monkeypatch.setattr(library_build, "compile_into", compile_into)
    monkeypatch.setattr(building, "_compile_mnexec", copy_mnexec)
    monkeypatch.setattr(prerequisites, "links_static", lambda _work: can_link_static())
    return tmp_path / "cache"


def compile_into(tree: Path, target: Path, version: Version, **_words: object) -> None:
    """Leave what compiling the library kernel would; the real program is tested where it runs."""
    assert (tree / "arch/netlab/Kconfig").exists() and (tree / "net/ipv4/tcp_tahoe.c").exists() and version == (7, 3, 4)
    (target / "config").write_text("CONFIG_INET=y\n")
    (target / library_kernel.PROGRAM).write_text("library\n")
    (target / library_kernel.PROGRAM).chmod(0o755)


@pytest.fixture
def source(tmp_path: Path, places: dict[str, str]) -> Path:
    """A folder that looks like a kernel source, as far as a build looks at it."""
    home = tmp_path / "linux-7.3"
    files = {
        **places,
        "Makefile": MAKEFILE,
        "main.c": MAIN,
        "COPYING": "The licence is the GPL version 2.\n",
        "LICENSES/preferred/GPL-2.0": "GNU GENERAL PUBLIC LICENSE\n",
        "drivers/gpu/Kconfig": "menu\n",
        "drivers/gpu/drm/big.c": "int big;\n",
        "arch/arm/boot/dts/board.dtsi": "x\n",
        "Documentation/guide/page.rst": "x\n",
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


def left_behind(root: Path) -> list[str]:
    """Return the files in the cache other than complete kernels and the lock."""
    return sorted(
        str(path.relative_to(root))
        for path in root.rglob("*")
        if not re.search(
            r"kernel-build\.lock$|^(kernels|libraries)(/[\d.]+-[0-9a-f]{12}(/|$)|$)", str(path.relative_to(root))
        )
    )


def with_makefile(source: Path, old: str, new: str) -> None:
    text = (source / "Makefile").read_text()
    assert old in text
    (source / "Makefile").write_text(text.replace(old, new))


@pytest.fixture
def takes_all(source: Path) -> Path:
    """A source whose configuration takes every line of the fragment."""
    expected = fragment.parse((RECIPE / "pocket.config").read_text())
    (source / "wanted").write_text(fragment.render(expected, (7, 3, 4)))
    with_makefile(source, "\t@true\n", "\t@cat wanted >> .config\n")
    return source


def test_a_build_gives_a_whole_kernel_and_leaves_the_source_as_it_was(takes_all: Path, own_cache: Path) -> None:
    before = {path: path.read_bytes() for path in takes_all.rglob("*") if path.is_file()}
    moments: list[BuildProgress] = []
    built = building.build(takes_all, moments.append)
    kernel, own = built.pocket, built.library

    assert kernel is not None and own is not None and built.why_no_library == ""
    assert (kernel.release, kernel.path.parent.parent) == ("7.3.4", own_cache / "kernels")
    assert all((kernel.path.parent / name).is_file() for name in archive.POCKET.contents)
    assert all((own.path.parent / name).is_file() for name in archive.LIBRARY.contents)
    assert own.build["source"] == kernel.build["source"] and library_kernel.find() == own
    assert {"tahoe", "seeded_random", "virtual_time", "dualpi2"} <= kernel.capabilities
    assert subprocess.run([kernel.path], capture_output=True, text=True, check=True).stdout == "7.3.4\n"
    assert kernel.build["objects"] == 2 and kernel.build["size_bytes"] == kernel.path.stat().st_size
    assert "+++ b/arch/um/Kconfig" in (kernel.path.parent / "netlab.patch").read_text()
    assert "GNU GENERAL PUBLIC LICENSE" in (kernel.path.parent / "COPYING").read_text()
    assert left_behind(own_cache) == []
    assert {path: path.read_bytes() for path in takes_all.rglob("*") if path.is_file()} == before
    fractions = [moment.fraction for moment in moments]
    assert fractions == sorted(fractions) and fractions[0] == 0 and fractions[-1] == pytest.approx(1)
    assert pocket_kernel.find() == kernel


def test_an_archive_is_built_once_and_found_again(takes_all: Path, tmp_path: Path) -> None:
    file = tmp_path / "linux-7.3.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        tar.add(takes_all, "linux-7.3")
    first = building.build(file)
    changed_ns = [kernel.path.stat().st_mtime_ns for kernel in (first.pocket, first.library)]
    again = building.build(file)
    assert [kernel.path.stat().st_mtime_ns for kernel in (again.pocket, again.library)] == changed_ns
    assert building.build() == first, "without a source, the kernels that are there are taken"


@pytest.mark.slow
def test_the_kernel_that_is_missing_is_built_alone(takes_all: Path, tmp_path: Path) -> None:
    file = tmp_path / "linux-7.3.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        tar.add(takes_all, "linux-7.3")
    first = building.build(file)
    there: Any
    missing: Any
    for there, missing in ((first.pocket, first.library), (first.library, first.pocket)):
        kept_ns = there.path.stat().st_mtime_ns
        shutil.rmtree(missing.path.parent)
        assert missing.path.parent in {kernel.path.parent for kernel in both_kernels(building.build(file))}
        assert missing.path.is_file() and there.path.stat().st_mtime_ns == kept_ns


def test_the_library_kernel_can_be_had_first_and_the_pocket_kernel_later(takes_all: Path, tmp_path: Path) -> None:
    file = tmp_path / "linux-7.3.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        tar.add(takes_all, "linux-7.3")
    first = building.build(file, kinds=["library"])
    assert first.library is not None and first.pocket is None
    later = building.build(file, kinds=["pocket"])
    assert later.pocket is not None and later.library == first.library
    assert building.build() == later


def both_kernels(built: building.Kernels) -> list[Any]:
    return [built.pocket, built.library]


@pytest.mark.slow
def test_without_a_library_kernel_the_pocket_kernel_is_built_and_the_reason_kept(
    takes_all: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KernelError("Could not link the library kernel.")

    monkeypatch.setattr(library_build, "compile_into", fail)
    built = building.build(takes_all)
    assert built.pocket is not None and built.library is None
    assert built.why_no_library == library_kernel.failure() == "Could not link the library kernel."
    with pytest.raises(KernelError, match="could not be built on this machine. Could not link"):
        library_kernel.find()
    monkeypatch.setattr(library_build, "compile_into", compile_into)
    assert building.build(takes_all).library is not None and library_kernel.failure() == ""


def test_foreign_program_is_built_by_its_compiler_and_kept_apart(
    takes_all: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result: dict[str, object] = {}

    def record(tree: Path, target: Path, version: Version, **words: object) -> None:
        result.update(words)
        compile_into(tree, target, version)

    other = next(machine for machine in MACHINES if machine != platform.machine())
    monkeypatch.setattr(library_build, "compile_into", record)
    # Few machines have the cross compiler: this machine's own stands in for it.
    compiler = tmp_path / "bin" / f"{other}-linux-gnu-gcc"
    compiler.parent.mkdir()
    compiler.write_text('#!/bin/sh\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{compiler.parent}:{os.environ['PATH']}")
    created = building.build_for(other, takes_all)
    assert (created.machine, result["machine"], result["cross"]) == (other, other, f"{other}-linux-gnu-")
    assert library_kernel.builds() == []
    have = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == f"{other}-linux-gnu-gcc" else have(name))
    with pytest.raises(KernelError, match=f"install gcc-{other.replace('_', '-')}-linux-gnu"):
        building.build_for(other, takes_all)


def package_of(source: Path, tmp_path: Path) -> Path:
    if not shutil.which("dpkg-deb"):
        pytest.skip("dpkg-deb makes the package")
    root = tmp_path / "deb"
    (root / "usr/src").mkdir(parents=True)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(
        "Package: linux-source-7.3\nVersion: 7.3.4-1~bpo13+1\nArchitecture: all\n"
        "Maintainer: nobody <nobody@example.org>\nDescription: x\n"
    )
    with tarfile.open(root / "usr/src/linux-source-7.3.tar.xz", "w:xz") as tar:
        tar.add(source, "linux-source-7.3")
    target = tmp_path / "linux-source-7.3_7.3.4-1_all.deb"
    subprocess.run(["dpkg-deb", "--build", root, target], check=True, capture_output=True)
    return target


def test_a_source_package_is_opened(takes_all: Path, tmp_path: Path) -> None:
    kernel = building.build(package_of(takes_all, tmp_path)).pocket
    assert kernel is not None and kernel.build["source"]["version"] == "7.3.4-1~bpo13+1"


def test_without_a_network_an_earlier_download_serves(
    takes_all: Path, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*_: object) -> None:
        raise KernelError("apt offers no linux-source package.")

    monkeypatch.setattr(apt, "find_package", offline)
    with pytest.raises(KernelError, match="apt offers no"):
        building.build()
    (own_cache / "sources").mkdir(exist_ok=True)
    package_of(takes_all, tmp_path).rename(own_cache / "sources/linux-source-7.3_7.3.4-1_all.deb")
    assert building.build().library.build["source"]["version"] == "7.3.4-1~bpo13+1"


def test_unused_sources_are_not_unpacked_but_kconfig_is(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "work/linux"
    target.parent.mkdir()
    tree.copy_tree(source, target, tmp_path / "log")
    assert (target / "drivers/gpu/Kconfig").exists() and (target / "net/ipv4/Makefile").exists()
    for name in ("drivers/gpu/drm/big.c", "arch/arm/boot/dts/board.dtsi", "Documentation/guide/page.rst"):
        assert not (target / name).exists(), name


def test_a_failed_build_names_a_log_with_the_compilers_words_and_leaves_no_kernel(
    takes_all: Path, own_cache: Path
) -> None:
    (takes_all / "main.c").write_text("int main(void) { return oops; }\n")
    with pytest.raises(KernelError, match="compile the kernel") as caught:
        building.build(takes_all)
    log = own_cache / "kernel-build.log"
    assert str(log) in str(caught.value) and "oops" in str(caught.value)
    assert "oops" in log.read_text()
    assert left_behind(own_cache) == ["kernel-build.log"] and not list(own_cache.glob("kernels/*"))


def test_options_that_do_not_take_are_named(source: Path, own_cache: Path) -> None:
    with_makefile(source, "\t@true\n", "\t@sed -i /VETH/d .config\n")
    with pytest.raises(KernelError, match="does not take 1 of the options") as caught:
        building.build(source)
    assert "CONFIG_VETH=y" in str(caught.value)
    assert left_behind(own_cache) == ["kernel-build.log"]


def test_flags_of_a_calling_make_do_not_reach_the_build(takes_all: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "CFLAGS", "V"):
        monkeypatch.setenv(name, "n" if name == "MAKEFLAGS" else "1")
    assert building.build(takes_all).pocket.release == "7.3.4"


@pytest.mark.parametrize(
    ("make_it", "says"),
    [
        (lambda _: None, "There is no kernel source"),
        (lambda home: home.mkdir(), "has no Makefile"),
        (
            lambda home: (home.mkdir(), (home / "Makefile").write_text("all:\n")),
            "not a kernel source with User-Mode Linux",
        ),
        (lambda home: home.write_text("x"), "name must end with"),
    ],
)
def test_archive_that_is_no_source_is_reported(tmp_path: Path, make_it: object, says: str) -> None:
    home = tmp_path / "source"
    make_it(home)
    with pytest.raises(KernelError, match=says):
        building.build(home)


def test_damaged_archive_is_reported(tmp_path: Path, own_cache: Path) -> None:
    file = tmp_path / "linux-7.3.tar.xz"
    file.write_bytes(b"\xfd7zXZ\x00 and nothing more")
    with pytest.raises(KernelError, match="damaged"):
        building.build(file)
    assert left_behind(own_cache) == ["kernel-build.log"]


def test_an_old_kernel_is_refused(source: Path) -> None:
    with_makefile(source, "VERSION = 7", "VERSION = 4")
    with pytest.raises(KernelError, match=r"Linux 4\.3\.4; 6\.1 or later"):
        building.build(source)


def test_missing_programs_are_named_with_the_line_that_installs_them(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    have = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name in {"flex", "xz"} else have(name))
    with pytest.raises(KernelError, match="sudo apt-get install flex xz-utils"):
        building.build(source)


def test_too_little_disk_is_reported_with_both_numbers(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=5_000_000))
    with pytest.raises(KernelError, match=r"900 MB.* has 5 MB left"):
        building.build(source)


# A build in a process of its own, whose compilation has a child that would outlive it.
BUILD = """
import sys
from netlab_engines.kernels import library_kernel
from netlab_kernel import command, library_build

def compile_into(tree, target, *_words, **_more):
    for name in ("config", library_kernel.PROGRAM):
        (target / name).write_text(name)
        (target / name).chmod(0o755)

library_build.compile_into = compile_into
sys.exit(command._run(["build", "--source", sys.argv[1]]))
"""


def started(source: Path, tmp_path: Path, seconds: str) -> tuple[subprocess.Popen[str], int]:
    with_makefile(source, "linux:\n", f"linux:\n\t@sh -c 'echo $$$$ > {tmp_path}/pid; sleep {seconds}'\n")
    builder = subprocess.Popen(
        [sys.executable, "-c", BUILD, source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    pid_file = tmp_path / "pid"
    assert wait_for(lambda: builder.poll() is not None or (pid_file.exists() and pid_file.read_text()))
    assert builder.poll() is None, "the build did not come to compiling"
    return builder, int(pid_file.read_text())


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_build_leaves_nothing_behind(
    takes_all: Path, tmp_path: Path, own_cache: Path, number: signal.Signals
) -> None:
    builder, compiling = started(takes_all, tmp_path, "300")
    builder.send_signal(number)
    builder.communicate(timeout=60)
    assert builder.returncode == 128 + number
    assert wait_for(lambda: not is_running(compiling))
    assert left_behind(own_cache) == [] and not list(own_cache.glob("kernels/*"))


def test_files_of_a_killed_build_are_removed_by_the_next(takes_all: Path, own_cache: Path) -> None:
    stale = own_cache / "build-dead/linux"
    stale.mkdir(parents=True)
    building.build(takes_all)
    assert left_behind(own_cache) == []


@pytest.mark.slow
def test_two_builds_at_once_take_turns(takes_all: Path, tmp_path: Path, own_cache: Path) -> None:
    file = tmp_path / "linux-7.3.tar.gz"
    with_makefile(takes_all, "linux:\n", f"linux:\n\t@echo compiled >> {tmp_path}/count; sleep 1\n")
    with tarfile.open(file, "w:gz") as tar:
        tar.add(takes_all, "linux-7.3")
    builders = [
        subprocess.Popen([sys.executable, "-c", BUILD, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    words = [builder.communicate(timeout=120) for builder in builders]
    assert [builder.returncode for builder in builders] == [0, 0], words
    assert (tmp_path / "count").read_text() == "compiled\n"
    assert sum("waiting for another build" in err for _, err in words) == 1
    assert left_behind(own_cache) == [] and len(list(own_cache.glob("kernels/*"))) == 1


def test_an_exception_of_the_listener_ends_the_build_cleanly(takes_all: Path, own_cache: Path) -> None:
    def listener(moment: BuildProgress) -> None:
        if moment.phase == "compile":
            raise RuntimeError("the caller's own")

    with pytest.raises(RuntimeError, match="the caller's own"):
        building.build(takes_all, listener)
    assert left_behind(own_cache) == []


@pytest.mark.slow
def test_the_cache_directory_of_a_key_is_replaced_as_a_whole(takes_all: Path) -> None:
    kernel = building.build(takes_all).pocket
    (kernel.path.parent / "old").touch()
    again = building.build(takes_all).pocket
    assert again.path == kernel.path and not (again.path.parent / "old").exists()
    assert [path.name for path in cache.kernels().iterdir()] == [kernel.path.parent.name]


@pytest.mark.parametrize(
    ("makefile", "target"),
    [("PHONY += vmlinux_a\nvmlinux_a: $(OBJS)\n\t@:\n", "vmlinux_a"), ("vmlinux.a: $(OBJS)\n\t@:\n", "vmlinux_o")],
    ids=["7", "6.12"],
)
def test_the_archive_of_the_library_kernel_is_made_by_a_target_that_the_version_has(
    tmp_path: Path, makefile: str, target: str
) -> None:
    (tmp_path / "Makefile").write_text("all:\n" + makefile)
    assert library_build._target(tmp_path) == target
