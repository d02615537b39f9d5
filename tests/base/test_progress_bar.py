"""Progress bars in a notebook's page, and with processes that are killed."""

from __future__ import annotations

import subprocess
import sys

import IPython.display
import pytest

from netlab.base import progress_bar

KILLED_WITH_THE_LOCK = """
import os, signal
from tqdm import tqdm
from netlab.base.progress_bar import show_progress
with show_progress(False, 1.0, "s"):
    pass
if os.fork() == 0:
    tqdm.get_lock().acquire()
    os.kill(os.getpid(), signal.SIGKILL)
os.wait()
with show_progress(False, 1.0, "s"):
    print("goes on")
"""


class Handle:
    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def update(self, bundle, raw):
        self.shown.append(bundle)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Handle:
    handle = Handle()

    def display(bundle, raw, display_id):
        handle.shown.append(bundle)
        return handle

    monkeypatch.setattr(IPython.display, "display", display)
    monkeypatch.setattr(progress_bar, "DELAY_S", 0.0)
    monkeypatch.setattr(progress_bar, "PAUSE_S", 0.0)
    monkeypatch.setattr(IPython, "get_ipython", object)
    monkeypatch.delenv("NETLAB_PROGRESS", raising=False)
    return handle


def test_progress_bar_in_a_page_shows_progress_and_disappears(page: Handle) -> None:
    with progress_bar.show_progress(True, 10.0, "runs", what="<sweep>") as tell:
        tell(4.0, 10.0)
    assert "running… <sweep>: 4 of 10 runs" in page.shown[0]["text/plain"]
    assert "&lt;sweep&gt;" in page.shown[0]["text/html"], "text must not become markup"
    assert page.shown[-1] == {"text/plain": "", "text/html": ""}


def test_a_bar_in_a_page_goes_when_the_work_fails(page: Handle) -> None:
    def fails() -> None:
        with progress_bar.show_progress(True, 10.0, "s") as tell:
            tell(1.0, 10.0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert page.shown[-1] == {"text/plain": "", "text/html": ""}


def test_short_work_shows_no_bar(page: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bar, "DELAY_S", 1000.0)
    with progress_bar.show_progress(True, 10.0, "s") as tell:
        tell(1.0, 10.0)
    assert page.shown == []


def test_zero_turns_it_off(page: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_PROGRESS", "0")
    with progress_bar.show_progress(True, 10.0, "s") as tell:
        tell(1.0, 10.0)
    assert page.shown == []


def test_a_killed_forked_process_does_not_block_the_progress_bar() -> None:
    result = subprocess.run(
        [sys.executable, "-c", KILLED_WITH_THE_LOCK], capture_output=True, text=True, timeout=20, check=True
    )
    assert result.stdout == "goes on\n"
