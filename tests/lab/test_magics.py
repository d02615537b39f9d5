"""The output and the completions of a notebook's `%host`. No guest is needed."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from netlab.base.errors import NotHereError, RunError
from netlab_engines.lab import magics


class Lab(dict):
    """The part of a live network that the magics use."""

    closed = False


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(magics, "_labs", [])
    calls: list[str] = []

    def run(lines, on_text):
        calls.append(lines)
        on_text("pong\n")
        return SimpleNamespace(exit_code=3)

    found = Lab(h1=SimpleNamespace(run=run, asked=calls), r1=SimpleNamespace(run=run, asked=calls))
    magics.note(found)
    return found


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    found = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    magics.register()
    yield found
    magics._magics.remove(found)
    InteractiveShell.clear_instance()


def test_host_names_are_completed(lab: Lab, shell: InteractiveShell) -> None:
    _, matches = shell.complete("h", "%host h", 7)
    assert "h1" in matches
    assert "r1" not in matches


def test_without_a_lab_nothing_is_offered_and_the_next_step_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(magics, "_labs", [])
    assert magics.completions(None, None) == []
    with pytest.raises(RunError, match=r"open one with lab = netlab\.live"):
        magics.host("h1 ping")


def test_a_closed_lab_is_not_spoken_to(lab: Lab) -> None:
    lab.closed = True
    assert magics.completions(None, None) == []


def test_a_cell_is_run_as_it_stands_and_streams(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    magics.host("h1", "ping -c1 h2\n")
    assert lab["h1"].asked == ["\nping -c1 h2\n"]
    output = capsys.readouterr()
    assert output.out == "pong\n"
    assert "exit code 3" in output.err


def test_error_for_a_missing_program_passes_through_the_magic(lab: Lab) -> None:
    def run(lines: str, on_text: object) -> None:
        raise NotHereError(lines)

    lab["h1"].run = run
    with pytest.raises(NotHereError, match="ping"):
        magics.host("h1 ping h2")


def test_line_without_a_host_lists_the_hosts(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    magics.host("")
    assert "There are: h1, r1." in capsys.readouterr().err
