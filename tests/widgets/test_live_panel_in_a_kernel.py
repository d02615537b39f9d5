"""A live panel in a notebook's kernel, told by messages as a page sends them, in the main thread and in a subshell as JupyterLab does."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

pytestmark = pytest.mark.library

PATIENCE_S = 60.0

PANEL = """
import netlab as nl
network = nl.topologies.dumbbell(pairs=1, rate_mbps=10, delay_ms=10, queue_packets=50)
before = globals().get("panel")
panel = nl.widgets.live(network, [nl.Tcp("h1", "h2")], first_s=1)
"""


class Page:
    """A fake of the browser's page."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient, in_subshell: bool) -> None:
        self.manager, self.client = manager, client
        self.models: dict[str, str] = {}
        self.subshell = self.asked_for_subshell() if in_subshell else None

    def asked_for_subshell(self) -> str:
        message = self.client.session.msg("create_subshell_request")
        self.client.control_channel.send(message)
        return str(self.client.get_control_msg(timeout=PATIENCE_S)["content"]["subshell_id"])

    def run(self, code: str) -> str:
        """Run a cell, always the same one; what it printed."""
        message = self.client.session.msg(
            "execute_request",
            {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False},
            metadata={"cellId": "one" if "live(" in code else "another"},
        )
        self.client.shell_channel.send(message)
        printed = ""
        while True:
            heard = self.heard(lambda found: found["parent_header"].get("msg_id") == message["header"]["msg_id"])
            content = heard["content"]
            if heard["msg_type"] == "stream":
                printed += content["text"]
            assert heard["msg_type"] != "error", content
            if content.get("execution_state") == "idle":
                return printed

    def heard(self, is_match: Any) -> dict[str, Any]:
        """The next message that is wanted."""
        while True:
            try:
                message: dict[str, Any] = self.client.get_iopub_msg(timeout=PATIENCE_S)
            except queue.Empty:
                raise AssertionError("the kernel fell silent") from None
            if message["msg_type"] == "comm_open":
                state = message["content"]["data"]["state"]
                name = state.get("description") or state.get("_model_name")
                self.models[name] = message["content"]["comm_id"]
            if is_match(message):
                return message

    def updated(self, name: str | None, holds: Any) -> None:
        """Wait until a widget's state is so; None is any widget."""

        def is_match(message: dict[str, Any]) -> bool:
            content = message["content"]
            return (
                message["msg_type"] == "comm_msg"
                and (name is None or content["comm_id"] == self.models[name])
                and content["data"]["method"] == "update"
                and holds(content["data"]["state"])
            )

        self.heard(is_match)

    def send(self, name: str, **data: Any) -> None:
        """Send a message of a widget's view."""
        message = self.client.session.msg("comm_msg", {"comm_id": self.models[name], "data": data})
        if self.subshell is not None:
            message["header"]["subshell_id"] = self.subshell
        self.client.shell_channel.send(message)

    def click(self, name: str) -> None:
        self.send(name, method="custom", content={"event": "click"})

    def beat(self, value: int) -> None:
        self.send("PlayModel", method="update", state={"value": value}, buffer_paths=[])


@pytest.fixture(params=[False, True], ids=["main", "subshell"])
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    manager = KernelManager()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE_S)
    try:
        yield Page(manager, client, request.param)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_panel_plays_in_a_notebook_and_an_interrupt_or_its_cell_end_that(page: Page) -> None:
    page.run(PANEL)
    page.click("Play")
    page.updated("PlayModel", lambda state: state.get("playing") is True)
    for value in range(1, 6):
        page.beat(value)
    assert page.run("print(panel.playing)") == "True\n", "other cells run meanwhile"
    page.beat(6)
    page.updated(None, lambda state: "<svg" in str(state.get("value")))
    assert float(page.run("print(panel.lab.now_s)")) > 1
    page.manager.interrupt_kernel()
    page.updated("PlayModel", lambda state: state.get("playing") is False)
    assert page.run("print(panel.playing, panel.lab.closed, repr(panel.message))") == "False False ''\n"
    page.click("Step")
    assert page.run(PANEL + "\nprint(before.lab.closed, panel.lab.closed)") == "True False\n"
