"""Networks for properties: connected graphs of hosts, routers and switches."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import netlab as nl

SHAPES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "delay_ms": st.sampled_from([0, 0.5, 10, 250.25]),
        "loss_rate": st.floats(0, 1),
        "duplicate_rate": st.sampled_from([0, 0.01]),
        "framing": st.sampled_from(["tc", "ethernet"]),
        "segmentation_offload": st.sampled_from([None, True, False]),
    },
)
QUEUES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"rate_mbps": st.sampled_from([0.5, 4.798, 1000, 10_000])}),
    st.fixed_dictionaries({"rate_mbps": st.just(5), "queue_packets": st.integers(1, 10_000)}),
    st.fixed_dictionaries({"rate_mbps": st.just(5), "queue_bytes": st.integers(1514, 10**6)}),
    st.fixed_dictionaries(
        {
            "rate_mbps": st.just(5),
            "aqm": st.sampled_from(["red", "codel", "fq_codel", "pie", "fq_pie"]),
            "aqm_options": st.fixed_dictionaries({}, optional={"ecn": st.booleans()}),
        }
    ),
)

ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=12) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
"""Values that a file may have in place of a number or a name."""


@st.composite
def links(draw: st.DrawFn, a: str, b: str) -> nl.Link:
    """A link between two nodes, with any sound fields."""
    fields = draw(SHAPES) | draw(QUEUES)
    reverse = draw(st.none() | st.fixed_dictionaries({"delay_ms": st.sampled_from([0, 3])}))
    return nl.Link(a, b, reverse=reverse, **fields)


@st.composite
def networks(draw: st.DrawFn) -> nl.Topology:
    """Routers in any connected graph, switches as leaves or between routers, hosts with one link each, in any order."""
    routers = [f"r{i}" for i in range(1, draw(st.integers(1, 5)) + 1)]
    switches = [f"s{i}" for i in range(1, draw(st.integers(0, 3)) + 1)]
    hosts = [f"h{i}" for i in range(1, draw(st.integers(2, 5)) + 1)]
    core: list[str] = routers[:1]
    pairs: list[tuple[str, str]] = []
    for name in draw(st.permutations([*routers[1:], *switches])):
        pairs.append((draw(st.sampled_from(core)), name))
        core.append(name)
    # Links in addition to the tree make several ways; between routers and switches they may be parallel.
    for _ in range(draw(st.integers(0, 4))):
        a, b = draw(st.sampled_from(routers)), draw(st.sampled_from(core))
        if a != b:
            pairs.append((a, b))
    pairs += [(host, draw(st.sampled_from(core))) for host in hosts]
    ends = [pair if draw(st.booleans()) else pair[::-1] for pair in draw(st.permutations(pairs))]
    return nl.Topology(hosts, routers, switches, [draw(links(a, b)) for a, b in ends])
