"""What a guest with a gate does: import everything, then wait for its work.

The work is one run, a live network or a Mininet script. Whether the guest was booted just now or long ago, it has done the
same before and its clock shows the same, so that results are the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from netlab.agent import main
from netlab.agent.gate import Gate, serve
from netlab.agent.network import batch

LARGEST_SEED = 2**64 - 1

Words = dict[str, Any]


def wait_for_work(gate: Gate, folder: str, packages: list[str]) -> None:
    """Serve the gate until whoever started this guest goes away."""
    # A controller and its switches talk over this machine's own address.
    batch("ip", ["link set dev lo up"], None)
    requests: dict[str, Any] = {}

    def run(seed: int) -> None:
        gate.new_seed(seed)
        # Whoever asked ends this guest when the answer has come.
        main.run(Path(folder), lambda: gate.new_seed(~seed & LARGEST_SEED))

    def live() -> None:
        from netlab.agent.live import Live

        requests.update(Live(gate, folder, packages).requests)

    def mininet() -> None:
        from netlab.agent.script import Script

        requests.update(Script(gate, folder, packages).requests)

    requests.update(run=run, live=live, mininet=mininet)
    serve(gate, requests)
