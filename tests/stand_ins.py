"""Stand-ins that several tests use."""

from __future__ import annotations

import functools
import json
import subprocess
import threading
from typing import Any

import pytest

from netlab.engines import OnProgress, Requirement, cancelled_error, require
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.network.queues import DISCIPLINES
from netlab_engines import host_kernel


class FakeEngine:
    """An engine that delivers every datagram, and half-way tells what it is doing."""

    name = "fake"
    clock = "virtual"

    def __init__(self, missing: tuple[Requirement, ...] = ()) -> None:
        self.missing = missing
        self.plan: dict[str, Any] = {}

    def requirements(self) -> list[Requirement]:
        return [Requirement("tc", True, "/sbin/tc"), *self.missing]

    def differences(self) -> list[str]:
        return []

    def fingerprint(self) -> str:
        return self.name

    def execute(
        self, plan: dict[str, Any], *, on_progress: OnProgress, cancel: threading.Event | None = None
    ) -> dict[str, Any]:
        require(self.requirements())
        self.plan = plan
        on_progress(plan["duration_s"] / 2)
        if cancel is not None and cancel.is_set():
            raise cancelled_error()
        on_progress(plan["duration_s"])
        echoes = [{"seq": 1, "t_s": 0.0, "rtt_ms": 20.0}]
        return {
            "flows": [{"flow": item["label"], "echoes": echoes, "error": None} for item in plan["traffic"]],
            "streams": [],
            "datagrams": [],
            "queues": [],
            "kernel": "7.0",
            "python": "3.11",
            "tc": {"h1": ["qdisc ..."]},
            "hosts_without_offload": [],
            "engine": {"engine": self.name, "clock": self.clock},
        }


HOST_PARTS = sorted({*host_kernel.NEEDED_PARTS, *DISCIPLINES, *CONGESTION_CONTROLS})
"""The features that a machine's own kernel is asked for."""


def answer_as_kernel(
    monkeypatch: pytest.MonkeyPatch, answer: dict[str, str] | str, returncode: int = 0, stderr: str = ""
) -> list[list[str]]:
    """Let this machine's own kernel have refused what `answer` says and nothing else; a text is what the question prints.

    Returns
    -------
    list
        The commands by which it was asked.
    """
    commands: list[list[str]] = []
    text = answer if isinstance(answer, str) else json.dumps(dict.fromkeys(HOST_PARTS, "") | answer)

    def run(command: list[str], **_more: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, returncode, text, stderr)

    # The function caches its answer; use a new cache, which ends with the test.
    monkeypatch.setattr(host_kernel, "kernel_errors", functools.cache(host_kernel.kernel_errors.__wrapped__))
    monkeypatch.setattr(subprocess, "run", run)
    return commands
