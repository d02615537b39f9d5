"""A node's commands, as far as they need no network."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from netlab_engines.lab import nodes


class Patient:
    """A session whose command is waited for three times."""

    def request(self, on_text: Callable[[str], None], on_wait: Callable[[], None]) -> Any:
        def run(node: str, command: str) -> dict[str, Any]:
            for _ in range(3):
                on_wait()
            on_text("64 bytes")
            return {"code": 0}

        return SimpleNamespace(run=run)


def test_an_endless_command_prints_once_how_to_end_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    host = nodes.Host(Patient(), "h1", "10.0.0.1")  # type: ignore[arg-type]
    assert host.run("ping h2") == "64 bytes"
    assert capsys.readouterr().err == "", "nothing before its time"
    monkeypatch.setattr(nodes, "PATIENCE_S", 0.0)
    host.run("ping h2")
    text = "'ping h2' on h1 is still running; to stop it press Ctrl-C, or in a notebook the stop button.\n"
    assert capsys.readouterr().err == text
