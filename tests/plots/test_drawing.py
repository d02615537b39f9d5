"""A drawn network shows every node and what limits its links, the same each time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from netlab import plots
from netlab.base.errors import NetlabError
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.plots import drawing, theme


def test_a_topology_shows_rate_delay_and_queue_of_each_limited_link():
    figure = plots.topology(topologies.portfolio())
    labels = {annotation.text for annotation in figure.layout.annotations}
    assert labels == {
        "40 Mbit/s<br>10 ms<br>67 packets",
        "30 Mbit/s<br>20 ms<br>100 packets",
        "20 Mbit/s<br>10 ms<br>33 packets",
    }
    shapes = {trace.name: trace.marker.symbol for trace in figure.data if trace.mode == "markers+text"}
    assert shapes == {"host": "circle", "router": "square", "switch": "diamond"}


def test_directions_that_differ_are_both_named():
    figure = plots.topology(topologies.three_pcs())
    assert [a.text for a in figure.layout.annotations] == ["r1→h3: 5 Mbit/s,<br>100 packets<br>h3→r1: unlimited"]


def test_what_both_directions_have_is_said_once():
    link = Link("h1", "h2", rate_mbps=10, queue_packets=20, delay_ms=5, reverse={"delay_ms": 0, "aqm": "codel"})
    (label,) = plots.topology(Topology(["h1", "h2"], links=[link])).layout.annotations
    assert label.text == "10 Mbit/s, 20 packets<br>h1→h2: 5 ms<br>h2→h1: codel"


def test_a_drawing_is_high_enough_for_its_labels():
    """In a lower figure Plotly would move the nodes closer together, and the labels would cover them."""
    slow = {"rate_mbps": 5, "queue_packets": 300, "delay_ms": 20, "reverse": {"rate_mbps": 7, "delay_ms": 9}}
    around = [f"h{number}" for number in range(1, 6)]
    figure = plots.topology(Topology(around, ["r1"], links=[Link(each, "r1", **slow) for each in around]))
    ends_px = [
        drawing.PIXELS_PER_LINK * label.y + label.yshift + sign * 9 * len(label.text.split("<br>"))
        for label in figure.layout.annotations
        for sign in (-1, 1)
    ]
    nodes_px = [drawing.PIXELS_PER_LINK * y for _, y in places(figure).values()]
    assert max(ends_px) - min(ends_px) > max(nodes_px) - min(nodes_px)
    assert figure.layout.height >= 140 + max(ends_px) - min(ends_px)


def test_a_link_that_treats_packets_at_random_is_not_drawn_like_a_plain_one():
    bursts = {"enter_rate": 0.001, "leave_rate": 0.1}
    links = [
        Link("h1", "h2", delay_ms=20, jitter_ms=2.5),
        Link("h2", "h3", burst_loss=bursts),
        Link("h3", "h4", duplicate_rate=0.01),
        Link("h4", "h5"),
    ]
    figure = plots.topology(Topology([f"h{number}" for number in range(1, 6)], links=links))
    assert {label.text for label in figure.layout.annotations} == {
        "20 ms<br>jitter 2.5 ms",
        "burst loss",
        "duplicates 0.01",
    }
    assert sorted(trace.line.width for trace in figure.data if trace.mode == "lines") == [1.5, 3, 3, 3]


def test_lines_of_a_label_fit_next_to_a_link_in_a_narrow_window():
    """Two links of a row whose directions differ: their labels would cover each other in one line each."""
    slow = {"rate_mbps": 5, "queue_packets": 300, "delay_ms": 20, "reverse": {"rate_mbps": None, "queue_packets": None}}
    row = Topology(["h1", "h2"], ["r1"], links=[Link("h1", "r1", **slow), Link("r1", "h2", **slow)])
    first, second = plots.topology(row).layout.annotations
    assert first.text == "20 ms<br>h1→r1: 5 Mbit/s,<br>300 packets"
    characters = max(len(line) for label in (first, second) for line in label.text.split("<br>"))
    assert characters * drawing.CHARACTER_PX <= drawing.NARROW_WIDTH_PX / 2 - drawing.NODE_PX


def test_a_label_wider_than_its_line_clears_the_nodes_at_its_ends():
    for label in plots.topology(topologies.chain([5] * 6, [10] * 6, 100)).layout.annotations:
        half_height_px = 9 * label.text.count("<br>") + 9
        assert abs(label.yshift) >= half_height_px + drawing.NODE_PX / 2
    (narrow,) = plots.topology(Topology(hosts=["h1", "h2"], links=[Link("h1", "h2", rate_mbps=1)])).layout.annotations
    assert abs(narrow.yshift) == pytest.approx(9 + 6)


@pytest.mark.parametrize(
    "network",
    [
        topologies.portfolio(),
        topologies.dumbbell(pairs=5),
        Topology(hosts=["h1"]),
        Topology(hosts=["h1", "h2", "h3"], links=[Link("h1", "h2")]),
        Topology(hosts=["h1", "h2"], links=[Link("h1", "h2"), Link("h1", "h2", rate_mbps=1)]),
    ],
)
def test_a_topology_is_drawn_the_same_each_time_with_every_node_in_its_own_place(network):
    first, second = plots.topology(network), plots.topology(network)
    assert first.to_json() == second.to_json()
    nodes = [
        place for trace in first.data if trace.mode == "markers+text" for place in zip(trace.x, trace.y, strict=True)
    ]
    assert len(set(nodes)) == len(network.nodes)


def test_a_dumbbells_senders_are_on_the_left():
    nodes = {
        name: x
        for trace in plots.topology(topologies.dumbbell(pairs=2)).data
        if trace.mode == "markers+text"
        for name, x in zip(trace.text, trace.x, strict=True)
    }
    assert nodes["h1"] < nodes["r1"] < nodes["r2"] < nodes["h3"]


def test_topology_without_nodes_is_reported():
    with pytest.raises(NetlabError, match="without nodes"):
        plots.topology(Topology())


def test_a_link_carries_the_name_that_the_text_calls_it_by():
    figure = plots.topology(topologies.portfolio(), link_names={("r1", "r2"): "L1"})
    texts = [note.text for note in figure.layout.annotations]
    assert sum(text.startswith("<b>L1</b><br>40 Mbit/s") for text in texts) == 1
    assert all(note.font.size == 14 for note in figure.layout.annotations)


def test_a_links_name_finds_it_from_either_end_and_needs_a_link():
    network = topologies.dumbbell(pairs=1)
    figure = plots.topology(network, link_names={("r2", "r1"): "L1"})
    assert [note.text.startswith("<b>L1</b>") for note in figure.layout.annotations] == [True]
    allowed = "('h1', 'r1'), ('r2', 'h2'), ('r1', 'r2')"
    wrong: Any
    for wrong in (("r1", "h2"), "r1-r2"):
        with pytest.raises(NetlabError) as caught:
            plots.topology(network, link_names={wrong: "L1"})
        assert str(caught.value) == f"link_names: got {wrong!r}; allowed: {allowed}"


def test_a_chain_is_drawn_as_a_line():
    nodes = plots.topology(topologies.dumbbell(1)).data
    place = {
        name: (x, y) for trace in nodes if trace.text for name, x, y in zip(trace.text, trace.x, trace.y, strict=True)
    }
    assert place["h1"][0] < place["r1"][0] < place["r2"][0] < place["h2"][0]
    assert {y for _, y in place.values()} == {0}


@pytest.mark.parametrize("turn", [0.0, 0.4, 2.0, -3.0])
@pytest.mark.parametrize("mirror", [1, -1])
def test_a_drawing_is_the_same_however_its_points_came_to_lie(turn, mirror):
    spokes = np.array([0, 2, 4]) * np.pi / 3
    star = np.array([*zip(np.cos(spokes), np.sin(spokes), strict=True), (0, 0)])
    line = np.array([(-2, 0.3), (-2, -0.3), (-1, 0), (1, 0), (2, 0.4), (2, -0.4)])
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    noise = np.random.default_rng(1).normal(0, 1e-7, (6, 2))
    for points in (star, line):
        moved = (points * (1, mirror)) @ rotation + noise[: len(points)]
        found, expected = drawing._rotate(moved), drawing._rotate(points)
        assert np.allclose(found, expected, atol=1e-5)
        assert found[0, 0] < 0


def places(figure):
    return {
        name: (x, y)
        for trace in figure.data
        if trace.text
        for name, x, y in zip(trace.text, trace.x, trace.y, strict=True)
    }


def test_routers_in_a_row_are_drawn_straight_and_in_their_order():
    place = places(plots.topology(topologies.portfolio()))
    row = [place[f"r{number}"] for number in (1, 2, 3, 4)]
    assert len({y for _, y in row}) == 1
    assert [x for x, _ in row] == sorted(x for x, _ in row)
    nearest = min(np.hypot(ax - bx, ay - by) for (ax, ay), (bx, by) in itertools.combinations(place.values(), 2))
    assert nearest > 0.4, "no node hides another"


def test_routers_in_a_ring_or_a_star_are_no_row():
    ring = Topology(routers=["a", "b", "c"], links=[Link("a", "b"), Link("b", "c"), Link("c", "a")])
    star = Topology(routers=["a", "b", "c", "d"], links=[Link("a", "b"), Link("a", "c"), Link("a", "d")])
    for network in (ring, star):
        assert len({y for _, y in places(plots.topology(network)).values()}) > 1


@pytest.mark.parametrize("name", ["phone", "laptop_12"])
def test_a_long_name_is_next_to_its_node_and_away_from_its_links(name):
    network = Topology(hosts=["h1", name], routers=["r1"], links=[Link("h1", "r1"), Link("r1", name, rate_mbps=5)])
    nodes = [trace for trace in plots.topology(network).data if trace.text]
    assert {where for trace in nodes for where in trace.textposition} == {"bottom center"}, "links go left and right"
    assert {trace.textfont.color for trace in nodes} == {theme.TEXT}
    short = plots.topology(Topology(hosts=["h1", "h2"], links=[Link("h1", "h2")]))
    assert {trace.textposition for trace in short.data if trace.text} == {None}


def test_a_long_name_finds_a_corner_where_links_leave_on_all_sides():
    around = [f"client_{n}" for n in range(4)]
    figure = plots.topology(Topology(hosts=around, routers=["r1"], links=[Link(each, "r1") for each in around]))
    (router,) = [trace for trace in figure.data if trace.name == "router"]
    assert router.textposition[0] in ("bottom right", "top right", "bottom left", "top left")


def test_lines_of_a_label_are_joined_by_one_comma_in_words():
    link = Link("h1", "h2", rate_mbps=5, delay_ms=1, queue_packets=9, reverse={"rate_mbps": 7, "queue_packets": 1000})
    network = Topology(["h1", "h2"], ["r1"], links=[link, Link("h2", "r1")])
    assert ",<br>" in plots.topology(network).layout.annotations[0].text
    text = network._repr_mimebundle_()["text/html"]
    assert "h1-h2 (1 ms, h1→h2: 5 Mbit/s, 9 packets, h2→h1: 7 Mbit/s, 1000 packets)" in text


def test_a_network_alone_in_a_cell_is_drawn_and_a_terminal_prints_its_text():
    network = topologies.dumbbell(pairs=1)
    forms = network._repr_mimebundle_()
    assert forms["application/vnd.plotly.v1+json"]["data"]
    assert 'role="img" aria-label="Drawing of a network: host: h1, h2' in forms["text/html"]
    assert forms["text/plain"] == repr(network)
    assert Topology()._repr_mimebundle_() == {"text/plain": repr(Topology())}, "nothing to draw"
