"""A user's own code: the examples of its page run as they stand, and a method's parameters are told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from netlab.base.errors import RunError
from netlab_engines.library.control import Ack, Loss
from netlab_user_code import method_calls

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own_control.md"


@pytest.mark.library
@pytest.mark.parametrize(("number", "lowest_mbps"), [(0, [1, 1]), (1, [0.1])])
def test_an_example_of_the_page_runs(number: int, lowest_mbps: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_PROGRESS", "0")
    example = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[number]
    found: dict[str, Any] = {"__name__": "example"}
    exec(compile(example, str(PAGE), "exec"), found)  # noqa: S102 (the page is ours)
    assert (found["run"].flows.goodput_mbps > lowest_mbps).all()
    if number:
        assert (found["run"].flows[["duplicates", "missing_bytes", "wrong_bytes"]] == 0).all(axis=None)


class Fewer:
    """Each method takes less than it gets."""

    def on_start(self) -> None: ...
    def on_datagram(self) -> None: ...
    def on_timer(self) -> None: ...
    def on_loss(self) -> None: ...


@pytest.mark.parametrize(
    ("method", "given", "written"),
    [
        ("on_loss", (Loss(1.0, 1, 2, True),), "on_loss(self, loss)"),
        ("on_datagram", (1.5, b"data"), "on_datagram(self, now_s, data)"),
        ("on_timer", (1.5,), "on_timer(self, now_s)"),
        ("on_start", (Ack(*[0.0] * 9),), "on_start(self, ack)"),
    ],
)
def test_method_with_too_few_parameters_is_reported_with_the_required_ones(
    method: str, given: Any, written: str
) -> None:
    with pytest.raises(RunError, match=re.escape(f"write def {written}.")):
        method_calls.caller("h1-h2", Fewer, "control").call(method, 0, *given)
