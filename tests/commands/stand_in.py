"""An engine for processes of their own, which start faster without pytest."""

from __future__ import annotations

import os
import time
from pathlib import Path

from netlab.base.errors import EngineError


class StandIn:
    """An engine that needs no kernel: it answers every ping after 20 ms, or hangs, or fails, as told."""

    name, clock = "stand-in", "virtual"

    def requirements(self):
        return []

    def execute(self, plan, *, on_progress, cancel=None):
        started = Path(os.environ["STARTED"])
        started.touch()
        behaviour = os.environ.get("BEHAVIOUR")
        if behaviour == "hang":
            try:
                time.sleep(60)
            finally:
                started.with_suffix(".cleaned").touch()
        if behaviour == "missing":
            raise EngineError("pocket kernel: none is built. Build one.")
        error = "nobody answers" if behaviour == "flow" else None
        echoes = [{"t_s": 0.0, "seq": 1, "rtt_ms": 20.0}, {"t_s": 0.2, "seq": 2, "rtt_ms": 20.0}]
        flows = [{"flow": item["label"], "echoes": echoes, "error": error} for item in plan["traffic"]]
        engine = {"engine": self.name, "clock": self.clock}
        tables: dict[str, list[object]] = {name: [] for name in ("streams", "datagrams", "queues", "tc")}
        return {"flows": flows, **tables, "kernel": "7.3", "python": "3", "engine": engine}
