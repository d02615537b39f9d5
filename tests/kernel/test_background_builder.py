"""The pocket kernel's build behind a set-up: how far it is, why it ended, and who waits for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from netlab import engines
from netlab.base.errors import KernelError
from netlab_engines import selection
from netlab_engines.kernels import background_build, pocket_kernel
from netlab_engines.kernels.background_build import BuildProgress
from netlab_kernel import background_builder, building
from netlab_kernel.progress import Listener

HALF = BuildProgress("compile", 0.5, 100.0, "net/ipv4/tcp.o")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("os.nice", lambda _more: 0)
    return tmp_path / "cache"


def test_builder_reports_progress_and_leaves_nothing_when_done(
    monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    seen = []

    def build(*, progress: Listener, kinds: tuple[str, ...]) -> None:
        assert kinds == ("pocket",)
        seen.append(background_build.current_progress())
        progress(HALF)
        seen.append(background_build.current_progress())
        assert background_builder.main() == 0, "a second one leaves it to the first"

    monkeypatch.setattr(building, "build", build)
    assert background_build.current_progress() is None
    assert background_builder.main() == 0
    assert seen == [BuildProgress("fetch", 0, 0), HALF]
    assert (
        background_build.current_progress() is None
        and background_build.failure() == ""
        and list(own_cache.iterdir()) == []
    )


def test_processes_that_look_see_no_build_in_each_other_and_keep_none_from_beginning(
    monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    started = []
    monkeypatch.setattr(building, "build", lambda **_words: started.append(True))
    own_cache.mkdir()
    file = own_cache / "pocket-kernel.json"
    file.touch()
    look = (
        "from netlab_engines.kernels.background_build import current_progress\n"
        "print('ready', flush=True)\nwhile not current_progress(): pass\nprint('a build')"
    )
    lookers = [subprocess.Popen([sys.executable, "-c", look], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        for each in lookers:
            assert each.stdout is not None and each.stdout.readline() == "ready\n"
        found = [background_build.current_progress() for _ in range(3000)]
        assert found == [None] * len(found) and [each.poll() for each in lookers] == [None, None]
        for count in range(1, 21):
            file.touch()
            assert background_builder.main() == 0 and len(started) == count
    finally:
        for each in lookers:
            each.kill()
            each.communicate()


@pytest.mark.parametrize(
    ("raised", "status", "why"),
    [
        (KernelError("No source."), 1, "No source."),
        (KeyboardInterrupt(), 130, "The build was stopped."),
        (TypeError("a list"), 1, "TypeError: a list. This is a mistake in netlab; please report it."),
    ],
)
def test_why_it_ended_is_kept_until_the_next_begins(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException, status: int, why: str
) -> None:
    def build(*, progress: Listener, kinds: tuple[str, ...]) -> None:
        progress(HALF)
        raise raised

    monkeypatch.setattr(building, "build", build)
    assert background_builder.main() == status
    assert background_build.current_progress() is None and background_build.failure() == why


def test_the_build_continues_after_its_parent_ends(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler, so that it ends at once, with the reason."""
    monkeypatch.setenv("PATH", str(own_cache))
    background_builder.start().wait(timeout=60)
    assert "The compiler gcc is not installed." in background_build.failure()


def test_call_that_needs_the_pocket_kernel_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [HALF, HALF, None]
    monkeypatch.delenv("NETLAB_KERNEL", raising=False)
    monkeypatch.setattr(selection, "POLL_S", 0.0)
    monkeypatch.setattr(pocket_kernel, "builds", list)
    monkeypatch.setattr(background_build, "current_progress", lambda: moments.pop(0))
    with pytest.raises(KernelError, match="There is no pocket kernel"):
        engines.choose("pocket")
    assert moments == []


def test_call_waits_also_with_a_pocket_kernel_that_this_version_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [HALF, None]
    old = pocket_kernel.PocketKernel(Path("/old/linux"), "7.3.4", (7, 3, 4), frozenset({"inet"}))
    monkeypatch.delenv("NETLAB_KERNEL", raising=False)
    monkeypatch.setattr(selection, "POLL_S", 0.0)
    monkeypatch.setattr(pocket_kernel, "builds", lambda: [old])
    monkeypatch.setattr(pocket_kernel, "find", lambda: old)
    monkeypatch.setattr(background_build, "current_progress", lambda: moments.pop(0))
    engines.choose("pocket")
    assert moments == []
