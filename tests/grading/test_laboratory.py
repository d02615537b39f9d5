"""What a student's code may have measured: what is described, never what could read or write beside it."""

from __future__ import annotations

import pytest

from netlab.grading.laboratory import Laboratory, RefusedError, is_plain
from netlab.network import topologies
from netlab.traffic import Command


@pytest.mark.parametrize(
    "line",
    [
        "tc qdisc add dev h1-eth0 root netem delay 300ms limit 2000",
        "tc  qdisc replace dev h1-eth0 root netem delay 20ms 10ms loss 1.5%",
        "tc -s qdisc show dev h1-eth0",
        "ip -4 route show",
        "ping -c 3 -i 0.2 10.0.0.2",
        "ss -tin",
    ],
)
def test_what_shapes_or_looks_at_the_network_runs(line: str) -> None:
    assert is_plain(Command("h1", line))


@pytest.mark.parametrize(
    "line",
    [
        "cat /etc/passwd",
        "tc -b key",
        "tc -batch /home/me/key",
        "tc qdisc show; cat key",
        "tc qdisc show && cat key",
        "tc qdisc show | sh",
        "tc qdisc show $(cat key)",
        "tc qdisc show\ncat key",
        "tc qdisc show `cat key`",
        "tc qdisc show > flows",
        "tc filter add dev h1-eth0 bpf object-file prog",
        "tc exec bpf import name",
        "ip netns exec x sh",
        "ip route add default via 10.0.0.1",
        "ip route restore",
        "ip -b key",
        "ping -f 10.0.0.2",
        "ss -F key",
        "ss --filter=key",
        "sysctl -p key",
        "python3 -c pass",
        "",
    ],
)
def test_what_could_do_more_does_not(line: str) -> None:
    assert not is_plain(Command("h1", line))


def test_a_refusal_says_what_is_allowed() -> None:
    network = topologies.dumbbell(pairs=1).to_dict()
    traffic = [Command("h1", "cat /etc/passwd").to_dict()]
    scenario = {"topology": network, "traffic": traffic, "duration_s": 1}
    with pytest.raises(RefusedError, match=r"'cat /etc/passwd': it takes tc qdisc"):
        Laboratory("seed").measure(scenario, graded=True)
    saving = [{**Command("h1", "tc qdisc show").to_dict(), "saves": ["flows"]}]
    with pytest.raises(RefusedError):
        Laboratory("seed").measure({**scenario, "traffic": saving}, graded=True)
