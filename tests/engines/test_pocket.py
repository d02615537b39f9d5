"""The requirements of the pocket engine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import netlab as nl
from netlab.base.errors import EngineError
from netlab_engines import doctor_report, guests, paths
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
def test_missing_kernel_features_are_reported_before_boot(
    monkeypatch: pytest.MonkeyPatch, aqm: str, congestion: str, lacking: set[str], refused: str
) -> None:
    old = PocketKernel(Path("/old/linux"), "6.12.30", (6, 12, 30), frozenset(PARTS) - lacking)
    monkeypatch.setattr(pocket_kernel, "find", lambda: old)
    monkeypatch.setattr(PocketEngine, "requirements", lambda self: [])
    topology = nl.topologies.dumbbell(pairs=1, aqm=aqm)
    sentence = (
        rf"needs {refused}, which the kernel /old/linux \(Linux 6.12.30\) does not have\. .*`netlab kernel build`"
    )
    with pytest.raises(EngineError, match=sentence):
        nl.run(topology, [nl.Tcp("h1", "h2", congestion=congestion)], duration_s=1, engine="pocket")


def test_a_kernel_with_another_channel_to_its_guests_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = PocketKernel(Path("/old/linux"), "7.3.4", (7, 3, 4), frozenset(PARTS) - {"host_channel"})
    monkeypatch.setattr(pocket_kernel, "find", lambda: old)
    with pytest.raises(EngineError, match=r"early version of netlab.*built /old/linux.*'netlab kernel build'"):
        nl.run(nl.topologies.dumbbell(pairs=1), [nl.Tcp("h1", "h2")], duration_s=1, engine="pocket")


@pytest.fixture
def without_iproute2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts find the shell and three other programs, and none of iproute2."""
    for name in ("bash", "grep", "ping", "setsid", "sh"):
        (tmp_path / name).symlink_to(shutil.which(name, path=":".join(paths.SYSTEM_PATH)) or pytest.skip(f"no {name}"))
    monkeypatch.setattr(paths, "SYSTEM_PATH", (str(tmp_path),))
    found = [str(pocket_kernel.find().mnexec_path.parent), str(tmp_path)]
    monkeypatch.setattr(guests, "system_path", lambda: found)


@pytest.mark.pocket
def test_runs_and_live_networks_need_no_program_of_iproute2(without_iproute2: None) -> None:
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10)
    traffic = [nl.Udp("h1", "h2", rate_mbps=1), nl.Command("h1", "ip route")]
    with pytest.warns(UserWarning, match="ip route: .*ip: .*not found"):
        run = nl.run(network, traffic, duration_s=2, engine="pocket")
    assert run.flows.iloc[0]["goodput_mbps"] > 0.9
    with nl.live(network, engine="pocket") as lab:
        assert " 0% packet loss" in lab["h1"].run("ping -c 2 h2")
        assert ": tc: command not found" in lab["h1"].run("tc qdisc")


@pytest.mark.pocket
def test_a_mininet_script_without_iproute2_is_refused_with_the_package(without_iproute2: None) -> None:
    with pytest.raises(EngineError, match=r"ip: not found\. Mininet scripts need it; its package is iproute2 \(Debian"):
        PocketEngine().open(None)
    (found,) = [each for each in doctor_report.host_programs() if each.name == "tc"]
    assert not found.ok and not found.required and "iproute-tc (Fedora)" in found.remedy
