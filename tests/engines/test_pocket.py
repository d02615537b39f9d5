"""The pocket engine before it boots."""

from __future__ import annotations

from pathlib import Path

import pytest

import netlab as nl
from netlab.base.errors import EngineError
from netlab_engines.kernels import pocket_kernel
from netlab_engines.kernels.parts import PARTS
from netlab_engines.kernels.pocket_kernel import PocketKernel
from netlab_engines.pocket import PocketEngine


@pytest.mark.parametrize(
    ("aqm", "congestion", "lacking", "refused"),
    [
        ("dualpi2", "cubic", {"dualpi2"}, "dualpi2"),
        ("fifo", "tahoe", {"dualpi2", "tahoe"}, "tahoe"),
        ("dualpi2", "tahoe", {"dualpi2", "tahoe"}, "dualpi2, tahoe"),
    ],
)
def test_what_the_kernel_lacks_is_said_before_it_boots(
    monkeypatch: pytest.MonkeyPatch, aqm: str, congestion: str, lacking: set[str], refused: str
) -> None:
    old = PocketKernel(Path("/old/linux"), "6.12.30", (6, 12, 30), frozenset(PARTS) - lacking)
    monkeypatch.setattr(pocket_kernel, "find", lambda: old)
    monkeypatch.setattr(PocketEngine, "requirements", lambda self: [])
    topology = nl.topologies.dumbbell(pairs=1, aqm=aqm)
    sentence = rf"needs {refused}, which the kernel /old/linux \(Linux 6.12.30\) does not have; .*`netlab kernel build`"
    with pytest.raises(EngineError, match=sentence):
        nl.run(topology, [nl.Tcp("h1", "h2", congestion=congestion)], duration_s=1, engine="pocket")
