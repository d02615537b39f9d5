"""The guest's first steps that can be tried without booting."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from netlab.agent import guest

NEEDED = ["overlay", "veth", "bridge", "sch_red"]


class Libc:
    """Notes which module files the kernel is given, and refuses one with `refusal`."""

    def __init__(self, refused: str = "", refusal: int = 0) -> None:
        self.loaded: list[str] = []
        self.refused, self.refusal = refused, refusal

    def syscall(self, number: int, fd: int, options: bytes, flags: int) -> int:
        name = Path(f"/proc/self/fd/{fd}").resolve().name
        if name == self.refused:
            guest.ctypes.set_errno(self.refusal)
            return -1
        self.loaded.append(name)
        return 0


@pytest.fixture
def modules(tmp_path: Path) -> str:
    for name in ("llc.ko", "stp.ko", "bridge.ko", "veth.ko", "nfs.ko"):
        (tmp_path / name).touch()
    (tmp_path / "modules.dep").write_text("llc.ko:\nstp.ko: llc.ko\nbridge.ko: stp.ko llc.ko\nveth.ko:\nnfs.ko:\n")
    return str(tmp_path)


def test_a_module_is_loaded_after_those_it_needs_and_nothing_else_is(
    modules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    libc = Libc()
    monkeypatch.setattr(guest, "libc", libc)
    guest.load_modules(modules, NEEDED)
    assert libc.loaded == ["veth.ko", "llc.ko", "stp.ko", "bridge.ko"]


def test_a_module_that_is_there_already_is_no_error_and_one_that_does_not_fit_is(
    modules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest, "libc", Libc("veth.ko", errno.EEXIST))
    guest.load_modules(modules, NEEDED)
    monkeypatch.setattr(guest, "libc", Libc("veth.ko", errno.ENOEXEC))
    with pytest.raises(OSError, match="load the module veth.ko"):
        guest.load_modules(modules, NEEDED)
