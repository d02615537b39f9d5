"""A packed kernel comes out as it went in, or not at all."""

import errno
import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import KernelError
from netlab.commands import cli
from netlab_engines import paths
from netlab_engines.kernels import cache, library_kernel, pocket_kernel
from netlab_engines.kernels.pocket_kernel import PocketKernel
from netlab_kernel import archive, library_build
from netlab_kernel.edits import recipe_hash
from tests.examples import examples

ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00" + archive.ELF_MACHINES["x86_64"].to_bytes(2, "little")
KEY = "0123456789ab"

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the pocket kernel is for x86-64")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NETLAB_KERNEL", raising=False)


@pytest.fixture
def kernel() -> PocketKernel:
    return make_kernel()


@pytest.fixture
def own() -> library_kernel.LibraryKernel:
    return library_kernel.from_directory(make(archive.LIBRARY, cache.libraries()))


def make_kernel() -> PocketKernel:
    return pocket_kernel.from_directory(make(archive.POCKET, cache.kernels()))


def make(kind: archive.Kind, kind_folder: Path) -> Path:
    home = kind_folder / f"7.3.4-{KEY}"
    home.mkdir(parents=True)
    for name in kind.contents:
        (home / name).write_text(f"text of {name}\n")
    for name in sorted(set(kind.programs) & set(kind.contents)):
        (home / name).write_bytes(ELF + name.encode())
        (home / name).chmod(0o755)
    (home / "config").write_text("CONFIG_INET=y\nCONFIG_NET_SCH_NETEM=y\n")
    facts = {"release": "7.3.4", "key": KEY, "machine": "x86_64", "recipe": library_build.recipe_hash()}
    (home / "build.json").write_text(json.dumps(facts))
    return home


def use_other_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "other"))
    return tmp_path / "other"


def contents(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.iterdir()}


def test_every_file_arrives_and_programs_can_be_run(
    kernel: PocketKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = archive.pack([kernel], tmp_path / "out")
    before = contents(kernel.path.parent)
    other = use_other_cache(tmp_path, monkeypatch)
    (arrived,) = archive.unpack(file)

    assert contents(arrived.path.parent) == before
    assert other in arrived.path.parents and pocket_kernel.find() == arrived
    assert arrived.path.stat().st_mode & 0o111 and arrived.mnexec_path is not None
    assert "netem" in arrived.capabilities
    assert file.name == f"netlab-kernel-7.3.4-{KEY}-x86_64.tar.xz"
    assert archive.unpack(file) == [arrived], "a second time is not an error"


def test_full_disk_while_unpacking_is_reported_and_the_earlier_build_stays(
    kernel: PocketKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, before = archive.pack([kernel], tmp_path / "out"), contents(kernel.path.parent)
    write = Path.write_bytes

    def write_until_full(path: Path, data: bytes) -> int:
        if path.name == "config":
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", write_until_full)
    with pytest.raises(KernelError, match=r"No space left on device.*set NETLAB_CACHE to another"):
        archive.unpack(file)
    assert contents(kernel.path.parent) == before and pocket_kernel.find() == kernel
    assert {path.name for path in (tmp_path / "cache").rglob("*") if path.is_dir()} == {
        "kernels",
        kernel.path.parent.name,
    }


def test_both_kernels_travel_in_one_file(
    kernel: PocketKernel, own: library_kernel.LibraryKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = archive.pack([kernel, own], tmp_path / "out")
    before = [contents(each.path.parent) for each in (kernel, own)]
    use_other_cache(tmp_path, monkeypatch)
    arrived = archive.unpack(file)
    assert [contents(each.path.parent) for each in arrived] == before
    assert arrived == [pocket_kernel.find(), library_kernel.find()]
    assert all(each.path.stat().st_mode & 0o111 for each in arrived)
    assert file.name == f"netlab-kernel-7.3.4-{KEY}-{KEY}-x86_64.tar.xz"


@pytest.mark.parametrize("other", ["pocket", "library"])
def test_kernel_packed_by_another_version_is_installed_and_reported(
    kernel: PocketKernel,
    own: library_kernel.LibraryKernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    other: str,
) -> None:
    """Else a room of PCs would be told to unpack a file, do so, and be told again."""
    for name, each, recipe in (("pocket", kernel, recipe_hash()), ("library", own, library_build.recipe_hash())):
        facts = {**each.build, "recipe": "older" if name == other else recipe}
        (each.path.parent / "build.json").write_text(json.dumps(facts))
    file = archive.pack([kernel, own], tmp_path / "out")
    to = use_other_cache(tmp_path, monkeypatch)
    assert cli.main(["kernel", "unpack", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    place = to / ("kernels" if other == "pocket" else "libraries") / f"7.3.4-{KEY}"
    at = lines.index(f"Linux 7.3.4 is installed in {place}.")
    assert [at for at, line in enumerate(lines) if "by another version of netlab" in line] == [at + 1]


def test_a_library_kernel_travels_alone_and_for_its_own_processor_only(
    own: library_kernel.LibraryKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = archive.pack([own], tmp_path / "out")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(KernelError, match="its netlab-library is for x86_64 and this machine is aarch64"):
        archive.unpack(file)


def test_the_checksum_next_to_the_file_is_the_files_and_packing_is_repeatable(
    kernel: PocketKernel, tmp_path: Path
) -> None:
    first, second = archive.pack([kernel], tmp_path / "a"), archive.pack([kernel], tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    digest, name = (first.parent / f"{first.name}.sha256").read_text().split()
    assert (digest, name) == (hashlib.sha256(first.read_bytes()).hexdigest(), first.name)


def test_licence_source_and_changes_are_in_the_file(kernel: PocketKernel, tmp_path: Path) -> None:
    with tarfile.open(archive.pack([kernel], tmp_path)) as tar:
        names = {Path(name).name for name in tar.getnames()}
    assert {"COPYING", "SOURCE", "config", "netlab.patch", "tcp_tahoe.c", "SHA256SUMS"} <= names


def test_extra_files_of_later_builds_are_packed_if_present(
    kernel: PocketKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (kernel.path.parent / "host_channel.c").write_text("the channel")
    file = archive.pack([kernel], tmp_path)
    use_other_cache(tmp_path, monkeypatch)
    (arrived,) = archive.unpack(file)
    assert (arrived.path.parent / "host_channel.c").read_text() == "the channel"


def test_the_library_kernel_carries_the_native_engine_s_helper(
    own: library_kernel.LibraryKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own.mnexec_path is None, "a build from before there was one"
    (own.path.parent / "mnexec").write_bytes(ELF + b"helper")
    file = archive.pack([own], tmp_path)
    use_other_cache(tmp_path, monkeypatch)
    (arrived,) = archive.unpack(file)
    assert isinstance(arrived, library_kernel.LibraryKernel) and arrived.mnexec_path is not None
    assert arrived.mnexec_path.read_bytes() == ELF + b"helper" and arrived.mnexec_path.stat().st_mode & 0o111
    assert paths.system_path()[0] == str(arrived.path.parent)


def test_a_wrong_checksum_is_refused(kernel: PocketKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = archive.pack([kernel], tmp_path)
    other = use_other_cache(tmp_path, monkeypatch)
    with pytest.raises(KernelError, match="instead of 0000"):
        archive.unpack(file, "0" * 64)
    (tmp_path / f"{file.name}.sha256").write_text("f" * 64 + f"  {file.name}\n")
    with pytest.raises(KernelError, match="rejected"):
        archive.unpack(file)
    assert not other.exists()


@examples(60)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_flipped_bit_never_installs_other_contents(
    place: float, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tmp_path = tmp_path_factory.mktemp("flip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
        kernel = make_kernel()
        before = contents(kernel.path.parent)
        file = archive.pack([kernel], tmp_path)
        (tmp_path / f"{file.name}.sha256").unlink()
        data = bytearray(file.read_bytes())
        data[int(place * len(data))] ^= 1 << bit
        file.write_bytes(data)
        other = use_other_cache(tmp_path, patch)
        try:
            (arrived,) = archive.unpack(file)
        except KernelError:
            assert not list(other.glob("kernels/*"))
        else:
            assert contents(arrived.path.parent) == before, "a bit that carries nothing"


Change = Callable[[dict[str, bytes]], None]


def repack(file: Path, change: Change, top: str = "netlab-kernel", renew_sums: bool = True) -> Path:
    """The same file with its contents changed by somebody who also renews the sums inside."""
    with tarfile.open(file) as tar:
        files = {m.name.partition("/")[2]: tar.extractfile(m).read() for m in tar if m.isreg()}
    change(files)
    if renew_sums:
        lines = (f"{hashlib.sha256(d).hexdigest()}  {n}\n" for n, d in files.items() if n != "SHA256SUMS")
        files["SHA256SUMS"] = "".join(lines).encode()
    target = file.with_name("changed.tar.xz")
    with tarfile.open(target, "w:xz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name if name.startswith("/") else f"{top}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return target


def build_json(**facts: str) -> bytes:
    return json.dumps({"release": "7.3.4", "key": KEY, "machine": "x86_64", **facts}).encode()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda f: f.update({"../evil": b"x"}), "which is not an expected plain file"),
        (lambda f: f.update({"/etc/evil": b"x"}), "which is not an expected plain file"),
        (lambda f: f.update({"extra": b"x"}), "which does not belong there"),
        (lambda f: f.pop("pocket/COPYING"), "lacks pocket/COPYING"),
        (
            lambda f: f.update({"pocket/linux": f["pocket/linux"][:18] + b"\xb7\x00" + f["pocket/linux"][20:]}),
            "this machine is x86_64",
        ),
        (lambda f: f.update({"pocket/linux": b"#!/bin/sh\n"}), "its linux is for"),
        (lambda f: f.update({"pocket/build.json": build_json(machine="aarch64")}), "for aarch64"),
        (
            lambda f: f.update({"pocket/build.json": build_json(key="../../../etc")}),
            "does not name a release and a key",
        ),
        (
            lambda f: f.update({"pocket/build.json": build_json(release="../7.3")}),
            "does not name a release and a key",
        ),
        (lambda f: f.update({"pocket/build.json": b"[1]"}), "pocket/build.json cannot be read"),
        (lambda f: f.update({"pocket/build.json": b"\xff"}), "pocket/build.json cannot be read"),
    ],
)
def test_foreign_files_are_refused_even_with_right_checksums(
    kernel: PocketKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change, says: str
) -> None:
    file = repack(archive.pack([kernel], tmp_path), change)
    other = use_other_cache(tmp_path, monkeypatch)
    with pytest.raises(KernelError, match=says):
        archive.unpack(file)
    assert not list(other.glob("**/*")) and not (tmp_path / "evil").exists()


def test_changed_contents_with_the_old_sums_are_refused_by_name(kernel: PocketKernel, tmp_path: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        files["pocket/mnexec"] += b"!"

    file = repack(archive.pack([kernel], tmp_path), change, renew_sums=False)
    with pytest.raises(KernelError, match="the checksum of pocket/mnexec is not the one in SHA256SUMS"):
        archive.unpack(file)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_links_and_special_files_are_refused(tmp_path: Path, kind: bytes) -> None:
    file = tmp_path / "links.tar.xz"
    with tarfile.open(file, "w:xz") as tar:
        member = tarfile.TarInfo("netlab-kernel/pocket/linux")
        member.type, member.linkname = kind, "/etc/passwd"
        tar.addfile(member)
    with pytest.raises(KernelError, match="not an expected plain file"):
        archive.unpack(file)


def test_an_oversized_member_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 10)
    file = tmp_path / "big.tar.xz"
    with tarfile.open(file, "w:xz") as tar:
        member = tarfile.TarInfo("netlab-kernel/pocket/linux")
        member.size = 11
        tar.addfile(member, io.BytesIO(bytes(11)))
    with pytest.raises(KernelError, match="11 bytes, more than the limit of 10"):
        archive.unpack(file)


@pytest.mark.parametrize("data", [b"", b"no archive", b"\xfd7zXZ\x00" + bytes(40)])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "x.tar.xz"
    file.write_bytes(data)
    with pytest.raises(KernelError, match="rejected"):
        archive.unpack(file)


def test_missing_file_and_foreign_kernel_are_reported(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="There is no file"):
        archive.unpack(tmp_path / "none.tar.xz")
    foreign = PocketKernel(tmp_path / "linux.uml", "6.12", (6, 12), frozenset())
    with pytest.raises(KernelError, match="was not built by netlab"):
        archive.pack([foreign], tmp_path)
