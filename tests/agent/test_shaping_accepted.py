"""The kernel accepts every link that passes the checks: no mistake is found only when the run has begun."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab.base.rules import Choice, Flag, Ranges, Rule
from netlab.network.link import LinkShape
from netlab.network.queues import DISCIPLINES

pytestmark = pytest.mark.pocket

PROGRAM = """
import json, os, socket, subprocess, sys
sys.path[:0] = PATHS
from netlab_engines.agent.netlink_socket import NetlinkSocket
from netlab_engines.planning.shaping import queue_qdiscs, wire_qdisc
from netlab.base.errors import RunError
from netlab_engines.netlink.qdiscs import removal

routing = NetlinkSocket(os.getpid())
subprocess.run("ip link add x0 type ifb; ip link add x1 type ifb", shell=True, check=True)
def request(each):
    routing.send([(each.line, each.message(socket.if_nametoindex))])
refused = []
for shape, clock in json.loads(sys.stdin.read()):
    for device, made in ("x0", queue_qdiscs("x0", shape, clock)), ("x1", [wire_qdisc("x1", shape, clock)]):
        try:
            for each in made:
                request(each)
        except RunError as error:
            refused.append(str(error))
        if made:
            request(removal(device))
print(json.dumps(refused))
"""

QUEUES: list[dict[str, Any]] = [
    {},
    {"queue_packets": 1},
    {"queue_packets": 20_000},
    {"queue_packets": 10**6},
    {"queue_bytes": 1514},
    {"queue_bytes": 10**9},
]
# Options that only together stand at an end.
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("red", {"min_packets": 3000, "max_packets": 3000.1}),
    ("red", {"min_packets": 1, "max_packets": 10_000, "probability": 0.01, "ecn": True}),
    ("codel", {"target_ms": 0.001, "interval_ms": 60_000, "ecn": True}),
    ("fq_codel", {"flows": 1, "target_ms": 60_000, "ecn": True}),
    ("fq_codel", {"flows": 65_536, "interval_ms": 0.001}),
    ("fq_pie", {"flows": 65_536, "target_ms": 60_000, "ecn": True}),
    ("dualpi2", {"target_ms": 4000, "tupdate_ms": 1, "step_ms": 0.001, "coupling": 255, "any_ecn": True}),
]
WIRE = {"delay_ms": 250_000, "jitter_ms": 0.001, "loss_rate": 1e-9, "duplicate_rate": 1}


def extremes(option: Rule) -> Sequence[Any]:
    """Return the smallest and the largest value of an option of a queue discipline, or all of its choices."""
    if isinstance(option, Flag):
        return False, True
    if isinstance(option, Choice):
        return option.words
    if isinstance(option, Ranges):
        return [option.each.low], [option.each.high] * option.most
    return option.low, option.high


def corners() -> list[dict[str, Any]]:
    """Sound links at the ends of their ranges."""
    rates = (0.001, 100_000)
    found = [
        {"rate_mbps": rate, "aqm": aqm, "framing": framing, **queue, **WIRE}
        for rate, aqm, framing, queue in itertools.product(rates, DISCIPLINES, ("tc", "ethernet", "ip"), QUEUES)
    ]
    options = [*OPTIONS]
    for row in DISCIPLINES.values():
        for name, option in row.options.items():
            options += [(row.name, {name: end}) for end in extremes(option)]
    found += [{"rate_mbps": 5, "queue_packets": 100, "aqm": aqm, "aqm_options": given} for aqm, given in options]
    found.append({"burst_loss": {"enter_rate": 1e-9, "leave_rate": 1, "bad_loss_rate": 0.5, "good_loss_rate": 1e-9}})
    found.append({"delay_ms": 250_000, "jitter_ms": 250_000, "reorder": True})
    return [link for link in found if not LinkShape(**link).problems("")]


def test_the_kernel_accepts_the_corners_of_every_range() -> None:
    shapes = [(asdict(LinkShape(**link)), clock) for link, clock in itertools.product(corners(), ("virtual", "real"))]
    assert len(shapes) > 150
    program_text = PROGRAM.replace("PATHS", repr([str(Path(nl.__file__).parent.parent)]))
    # Packed, because one argument of a program has 128 kB at most.
    packed = (gzip.compress(text.encode()) for text in (program_text, json.dumps(shapes)))
    program, given = (base64.b64encode(data).decode() for data in packed)
    command = f"echo {program} | base64 -d | zcat > /tmp/try.py; echo {given} | base64 -d | zcat | python3 /tmp/try.py"
    topology = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=1)])
    run = nl.run(topology, [nl.Command("h1", command)], duration_s=1)
    (result,) = run.commands.to_dict(orient="records")
    assert result["exit_code"] == 0, result["stderr"]
    refused = json.loads(result["stdout"])
    assert not refused, "\n".join(refused)
