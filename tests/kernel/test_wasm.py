"""The library kernel as WebAssembly: kept, found and carried like the native ones."""

import json
import platform
import re
import shutil
from pathlib import Path

import pytest

from netlab.base.errors import KernelError
from netlab_engines.kernels import cache, library_kernel
from netlab_engines.library import engine
from netlab_kernel import archive, edits, library_build, programs, wasm

KEYS = {library_kernel.WASM: "00000000aaaa", platform.machine(): "00000000bbbb"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NETLAB_SHARED", str(tmp_path / "shared"))
    monkeypatch.setattr(cache, "CARRIED_FOLDER", tmp_path / "carried")
    monkeypatch.delenv("NETLAB_LIBRARY", raising=False)


def build(machine: str, kind_folder: Path | None = None, program: bytes = b"\0asm") -> library_kernel.LibraryKernel:
    home = (kind_folder or cache.libraries()) / f"7.3.4-{KEYS[machine]}"
    home.mkdir(parents=True)
    for name in archive.WASM.contents:
        (home / name).write_text("CONFIG_INET=y\n")
    (home / library_kernel.WASM_PROGRAM).rename(home / library_kernel.program_of(machine))
    (home / library_kernel.program_of(machine)).write_bytes(program)
    (home / library_kernel.program_of(machine)).chmod(0o755)
    facts = {"release": "7.3.4", "key": KEYS[machine], "machine": machine, "recipe": library_build.recipe_hash(machine)}
    (home / "build.json").write_text(json.dumps(facts))
    return library_kernel.from_directory(home)


def test_the_native_kernel_is_used_if_installed_and_else_webassembly() -> None:
    portable = build(library_kernel.WASM)
    assert library_kernel.find() == portable
    native = build(platform.machine())
    assert library_kernel.find() == native
    assert library_kernel.ready(library_kernel.WASM) == portable


def test_module_in_a_wheel_is_found(tmp_path: Path) -> None:
    carried = build(library_kernel.WASM, tmp_path / "carried" / "libraries")
    assert library_kernel.find() == carried


def test_a_module_named_in_the_environment_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.wasm").write_bytes(b"\0asm")
    monkeypatch.setenv("NETLAB_LIBRARY", str(tmp_path / "mine.wasm"))
    assert library_kernel.find().machine == library_kernel.WASM


def test_module_is_packed_with_the_native_one_and_unpacked_on_any_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    portable = build(library_kernel.WASM)
    file = archive.pack([portable], tmp_path)
    assert file.name == f"netlab-kernel-7.3.4-{KEYS[library_kernel.WASM]}-wasm.tar.xz"
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "other"))
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    (arrived,) = archive.unpack(file)
    assert arrived == library_kernel.ready(library_kernel.WASM)
    assert {path.name for path in arrived.path.parent.iterdir()} == set(archive.WASM.contents)


def test_file_that_is_no_webassembly_is_refused(tmp_path: Path) -> None:
    file = archive.pack([build(library_kernel.WASM, program=b"\x7fELF")], tmp_path)
    with pytest.raises(KernelError, match="is not WebAssembly"):
        archive.unpack(file)


def test_without_wasmtime_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "netlab_engines.library.sandbox", None)
    with pytest.raises(KernelError, match="pip install wasmtime"):
        engine.start_program(build(library_kernel.WASM))


def test_without_node_the_package_is_named_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(programs, "run", lambda *words, **named: pytest.fail("something was fetched"))
    with pytest.raises(KernelError, match="apt-get install nodejs npm"):
        wasm.Tools(tmp_path / "log").fetch()


def test_the_two_kernels_have_recipes_of_their_own() -> None:
    assert library_build.recipe_hash(library_kernel.WASM) != library_build.recipe_hash(platform.machine())
    assert all(edit not in edits.edits() for edit in edits.wasm_edits())


def test_each_tool_is_pinned_with_its_hash() -> None:
    lines = [line for line in (wasm.HOME / "tools.lock").read_text().splitlines() if not line.startswith("#")]
    assert lines and all(re.fullmatch(r"\S+==\S+( --hash=sha256:[0-9a-f]{64})+", line) for line in lines)
    packages = json.loads((wasm.HOME / "package-lock.json").read_text())["packages"]
    assert all(found["integrity"].startswith("sha512-") for name, found in packages.items() if name)


def test_the_list_of_functions_that_never_sleep_has_none_that_swaps() -> None:
    listed = (wasm.HOME / "atomic.txt").read_text().split()
    assert not {"schedule", "__schedule", "library_swap", "__switch_to", "library_begin", "library_run"} & set(listed)


def test_another_flag_for_its_tools_makes_another_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machines = (library_kernel.WASM, platform.machine())
    before = [library_build.recipe_hash.__wrapped__(machine) for machine in machines]
    monkeypatch.setattr(library_build, "HOME", shutil.copytree(library_build.HOME, tmp_path / "library"))
    assert [library_build.recipe_hash.__wrapped__(machine) for machine in machines] == before
    flags = library_build.HOME / "wasm" / "flags.txt"
    flags.write_text(flags.read_text().replace("-ffp-contract=off", "-ffp-contract=fast"))
    portable, native = (library_build.recipe_hash.__wrapped__(machine) for machine in machines)
    assert (portable != before[0], native) == (True, before[1])
    monkeypatch.setattr(wasm, "HOME", library_build.HOME / "wasm")
    assert "-ffp-contract=fast" in wasm.flags("program")
