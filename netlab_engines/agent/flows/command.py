"""Commands in a node's shell, and the files that they save."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from netlab_engines.agent.flows.base import FlowContext, RunningFlow, sleep_until

if TYPE_CHECKING:
    from netlab.traffic.command import CommandItem, CommandTotals

PATIENCE_S = 5.0


class CommandFlow(RunningFlow["CommandItem"]):
    """A command in a node's shell, as an item of traffic: its output, its exit code and the files that it saves."""

    def __init__(self, item: CommandItem, place: FlowContext) -> None:
        """Prepare the item's shell command on its host, and make a working directory for it if it saves files; nothing
        runs before `launch`. `place` has the plan, the running network and the store of saved files. Raises OSError if
        the directory cannot be made.
        """
        super().__init__(item, place)
        self._node = place.network.nodes[item["host"]]
        self._artifacts = place.artifacts
        self._directory: Path | None = None
        if item["saves"]:
            # The name is the same in every guest, so that equal scenarios have equal output.
            self._directory = place.artifacts.work / f"netlab-{os.getpid()}-{place.number}"
            self._directory.mkdir(mode=0o700)
        self._stdout, self._stderr = "", ""
        self._exit_code: int | None = None

    def launch(self, origin_s: float) -> None:
        """Start the thread that runs the command and return at once. `origin_s` is the run's start in s on the
        monotonic clock; the command starts at `origin_s` + `start_s`.
        """
        self._origin_s = origin_s
        self._start(self._run)

    def _run(self) -> None:
        """Wait until the command's start, run it in the host's shell to its end, and keep its output and exit code for
        `totals`; runs in a thread.
        """
        sleep_until(self._origin_s + self.start_s)
        where = {} if self._directory is None else {"cwd": self._directory}
        self._stdout, self._stderr, self._exit_code = self._node.pexec(["sh", "-c", self.item["command"]], **where)

    def finish(self, until_s: float) -> None:
        """Wait for the command's end until `until_s` in s on the monotonic clock, but at least PATIENCE_S s; then copy
        the files that it saves to the store and remove its working directory, if it has one. A command that still runs
        is not ended.
        """
        for thread in self._threads:
            thread.join(max(PATIENCE_S, until_s - time.monotonic()))
        if self._directory is not None:
            for name in self.item["saves"]:
                self._artifacts.save(self._directory / name, name)
            shutil.rmtree(self._directory, ignore_errors=True)

    def totals(self) -> CommandTotals:
        """Return the flow's totals, a dict: the label ("flow"), "error", the command's "stdout" and "stderr" ("" until
        it has ended), its "exit_code" (None if it has not ended) and its planned start in s from the run's start
        ("t_s").
        """
        return {
            **super().totals(),
            "stdout": self._stdout,
            "stderr": self._stderr,
            "exit_code": self._exit_code,
            "t_s": self.start_s,
        }
