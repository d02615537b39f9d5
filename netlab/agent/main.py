"""What a guest of an engine does: import everything, then answer the requests of one lab.

Whether the guest was booted just now or long ago, it has done the same before and its clock shows the same, so that results
are the same.
"""

from __future__ import annotations

from pathlib import Path

from netlab.agent.gate import Gate, serve
from netlab.agent.lab import Lab
from netlab.agent.network import batch


def work(gate: Gate, folder: str, packages: list[str]) -> None:
    """Serve the gate until the process that started this guest ends."""
    # A controller and its switches talk over this machine's own address.
    batch("ip", ["link set dev lo up"], None)
    serve(gate, Lab(gate, Path(folder), packages).request)
