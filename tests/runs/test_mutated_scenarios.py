"""Scenarios with mistakes that nobody thought of: each ends in sentences or in a plan, never in a traceback.

With NETLAB_LONG=1 a hundred thousand of them are tried.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import random
from collections.abc import Iterator
from typing import Any

import netlab as nl
from netlab.base.errors import NotHereError, ScenarioError
from netlab.runs.scenario import Scenario
from netlab_engines.base import agent_plan
from netlab_engines.library.requests import PreparedRequests, make_requests
from netlab_engines.library.session import START_S
from netlab_engines.planning.schedule import hosts_needing_gso_off
from netlab_engines.planning.shaping import shape_network
from netlab_engines.protocol.requests import AgentPlan
from tests.examples import share

NUMBER = 100_000 if os.environ.get("NETLAB_LONG") else share(2_000)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 0.5, 1e-9, 1e9, 1e308, float("nan"), float("inf"), -float("inf"), 2**63, 10**400,
    "", "h1", "r1", "s1", "nobody", "tcp", "5", "a\nb", "\ud800", "x" * 3000, b"h1", [], [1], [[0, 1]], {}, {"a": 1},
    {"trace": [[0, 5], [1, 0]]}, {"trace": [[0, 5], [0, 5]], "duration_s": 1}, [["h1", "r1"]], ["h1", "h1"], (1, 2), ...,
)  # fmt: skip
SOUND: tuple[dict[str, Any], ...] = (
    nl.Scenario(
        nl.Topology.from_dict({
            "hosts": ["h1", "h2", "h3"],
            "routers": ["r1", "r2"],
            "switches": ["s1", "s2"],
            "links": [
                {"a": "h1", "b": "r1", "rate_mbps": {"trace": [[0, 5], [2, 0], [3, 8]], "duration_s": 5}},
                {"a": "r1", "b": "r2", "rate_mbps": 5, "delay_ms": 10, "jitter_ms": 1, "queue_packets": 50, "aqm": "codel",
                 "aqm_options": {"target_ms": 5}, "reverse": {"delay_ms": 20, "loss_rate": 0.01}},
                {"a": "r2", "b": "s1", "rate_mbps": 20, "aqm": "red", "queue_packets": 100,
                 "burst_loss": {"enter_rate": 0.1, "leave_rate": 0.5}},
                {"a": "s1", "b": "s2"},
                {"a": "s2", "b": "h2", "segmentation_offload": True},
                {"a": "s2", "b": "h3", "duplicate_rate": 0.1},
            ],
        }),
        [nl.Tcp("h1", "h2", streams=2, window_bytes=100_000), nl.Udp("h2", "h3", rate_mbps=1, start_s=1, duration_s=2),
         nl.Ping("h1", "h3", count=3), nl.Tcp("h3", "h1", num_bytes=10_000, congestion="reno")],
        duration_s=5,
        sysctls={"net.ipv4.tcp_ecn": 1},
        captures=[nl.Capture("h1", "r1", filter="tcp")],
        changes=[nl.Change(at_s=1, link=["r1", "r2"], rate_mbps=2, reverse={"delay_ms": 5}),
                 nl.Change(at_s=2, link=["s1", "s2"], up=False),
                 nl.Change(at_s=3, link=["h1", "r1"], rate_mbps=nl.Trace([(0, 1), (1, 2)]))],
    ).to_dict(),
    nl.Scenario(
        nl.topologies.dumbbell(pairs=2, rate_mbps=5, delay_ms=10, queue_packets=100),
        [nl.Udp("h1", "h3", rate_mbps=1), nl.Command("h1", "ping -c 1 h3", start_s=1)],
        duration_s=2,
    ).to_dict(),
)  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each spot of a document that may be another: what holds it, and by which name."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, contest in inner:
        yield value, name
        yield from places(contest)


def mutate(document: Any, chance: random.Random) -> None:
    """Put a random mistake into a document."""
    everything = list(places(document))
    home, name = chance.choice(everything)
    other, there = chance.choice(everything)
    kind = chance.randrange(7)
    if kind == 0:
        del home[name]
    elif kind == 1 and isinstance(home, dict):
        home[chance.choice([str(name) + "x", "", there, 7])] = home.pop(name)
    elif kind == 2:
        home[name] = copy.deepcopy(other[there])
    elif kind == 3 and isinstance(home, list):
        home.insert(chance.randrange(len(home) + 1), copy.deepcopy(home[name]))
    elif kind == 4 and isinstance(home[name], (int, float)) and abs(home[name]) < 1e300:
        home[name] = home[name] * chance.choice([-1, 0, 1e-6, 1e6, 1.5])
    else:
        home[name] = copy.deepcopy(chance.choice(VALUES))


def requests_of(plan: AgentPlan) -> PreparedRequests:
    """Return the requests that the library kernel gets for a plan."""
    without = hosts_needing_gso_off(plan)
    ip_lines, queueing = shape_network(plan["directions"], plan["clock"], without, plan["seed"])
    return make_requests(plan, ip_lines, queueing, memory_bytes=1 << 28, start_s=START_S, machine_sysctls={})


def test_a_scenario_with_any_mistakes_ends_in_sentences_or_in_a_plan() -> None:
    planned = refused = 0
    for number in range(NUMBER):
        chance = random.Random(number)  # noqa: S311 (to be drawn again is what a seed is for)
        document = copy.deepcopy(chance.choice(SOUND))
        for _ in range(chance.choice([1, 1, 1, 2, 4])):
            mutate(document, chance)
        try:
            plan = Scenario.from_dict(document).plan()
        except ScenarioError as error:
            refused += 1
            assert error.problems and all(problem and len(problem) <= 1000 for problem in error.problems), number
            str(error).encode()
        except Exception as error:
            raise AssertionError(f"scenario {number}: {type(error).__name__}") from error
        else:
            planned += 1
            json.dumps(plan, allow_nan=False)
            # Make the library kernel's requests if it supports the plan.
            with contextlib.suppress(NotHereError):
                requests_of(agent_plan(plan, "virtual"))
    assert planned > NUMBER / 20 and refused > NUMBER / 2
