"""A live network for tests of features of Linux, and commands in its hosts."""

from __future__ import annotations

import re
import sys

import netlab as nl
from netlab_engines.lab.live import Lab

PINGS = 10
H1, R1, H2 = "10.0.1.1", "10.0.1.2", "10.0.3.2"
PYTHON = f"{sys.executable} -I -S"


def bare_lab() -> Lab:
    """Host h1, router r1 and host h2 behind it, on links without queues; h1 and r1 have two links."""
    links = [nl.Link("h1", "r1"), nl.Link("h1", "r1"), nl.Link("r1", "h2")]
    return nl.live(nl.Topology(hosts=["h1", "h2"], routers=["r1"], links=links), seed=1)


def done(lab: Lab, node: str, *lines: str) -> str:
    """The output of commands that must succeed."""
    outputs = []
    for line in lines:
        said = lab[node].run(line)
        assert said.exit_code == 0, f"{node}: {line}: {said}"
        outputs.append(str(said))
    return "".join(outputs)


def received(lab: Lab, options: str = "", to: str = H2, count: int = PINGS) -> int:
    """The number of answers to pings from h1."""
    said = lab["h1"].run(f"ping -q -i 0.01 -W 1 -c {count} {options} {to}")
    found = re.search(r"(\d+) received", said)
    assert found, said
    return int(found[1])


def python(lab: Lab, node: str, program: str, *words: str) -> str:
    """The output of a Python program that runs in a node."""
    return done(lab, node, f"{PYTHON} - {' '.join(words)} <<'END'\n{program}\nEND")


def counts(listed: str) -> list[int]:
    """The packets of each rule that `iptables -vnxL` lists."""
    return [int(found) for found in re.findall(r"^ *(\d+) +\d+ ", listed, re.MULTILINE)]
