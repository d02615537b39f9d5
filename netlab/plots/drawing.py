"""Drawings of networks."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from netlab.base.errors import NetlabError, one_of
from netlab.network.trace import Trace
from netlab.plots.notebook import notebook_forms
from netlab.plots.theme import COLOURS, INK, TEXT, Array

if TYPE_CHECKING:
    from netlab.network.link import LinkShape
    from netlab.network.topology import Topology

TYPICAL_WIDTH_PX = 800  # the output of a notebook on a laptop
NARROW_WIDTH_PX = 480  # between the outermost nodes in a window of 900 pixels
PIXELS_PER_LINK = 115
NODE_PX = 34
MAX_NAME_INSIDE = 4
"""Longer names are placed above or below their nodes, and so are all names of that network."""
NAME_PX = 13
CHARACTER_PX, LINE_PX = 8, 18
MIN_LABEL_WIDTH = 18  # in characters
NAME_SIDES = {
    "bottom center": -90,
    "top center": 90,
    "bottom right": -45,
    "top right": 45,
    "bottom left": -135,
    "top left": 135,
}
"""Plotly's positions for a name in order of preference, each with its direction in degrees."""
MIN_ROOM, MIN_CORNER_ROOM = 50, 40
"""Minimum angles in degrees between a name and the next link; a centered name extends to both sides."""
MIN_ROW = 3
"""The number of routers in a row from which a network is drawn along a straight line."""
ROW_LINK = 1.3
"""Length of the links of a row, which have labels, relative to other links."""
MIN_DISTANCE = 0.01  # of a link's length; smaller differences are rounding errors


def topology(
    network: Topology, title: str = "", *, link_names: Mapping[tuple[str, str], str] | None = None
) -> go.Figure:
    """Return a drawing of a network: hosts are circles, routers squares, switches diamonds; a link's label has its name
    in `link_names`, the properties of both directions, and those of one alone behind its arrow.

    Parameters
    ----------
    network : Topology
        The network.
    title : str
        The figure's title.
    link_names : mapping of two nodes to str, optional
        Names of links for their labels, such as ``{("r1", "r2"): "L1"}``; the order of the two nodes does not matter.

    Returns
    -------
    Figure
        The same figure for the same topology.

    Raises
    ------
    NetlabError
        If there is no node to draw, or a name is for nodes that no link joins.
    """
    if not network.nodes:
        raise NetlabError("A topology without nodes cannot be drawn; give it hosts.")
    name_of_link = _names_of_links(network, link_names or {})
    place = _layout(network)
    figure = go.Figure()
    labels: list[Array] = []
    for link in sorted(network.links, key=lambda link: -abs(place[link.a][1] - place[link.b][1])):
        (ax, ay), (bx, by) = place[link.a], place[link.b]
        shaped = bool(_shape_words(link.forward) or _shape_words(link.backward))
        figure.add_scatter(
            x=[ax, bx],
            y=[ay, by],
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            line={"color": TEXT, "width": 3 if shaped else 1.5},
        )
        called = name_of_link.get(frozenset((link.a, link.b)), "")
        label = _link_text(link, _narrow_length_px(link, place) - NODE_PX)
        text = "<br>".join(part for part in (f"<b>{called}</b>" if called else "", label) if part)
        if not text:
            continue
        xshift, yshift = _label_shift(link, text.split("<br>"), place, network, labels)
        figure.add_annotation(
            x=(ax + bx) / 2,
            y=(ay + by) / 2,
            text=text,
            showarrow=False,
            font={"size": 14, "color": TEXT},
            xshift=xshift,
            yshift=yshift,
        )
    outside = any(len(node) > MAX_NAME_INSIDE for node in network.nodes)
    kinds = (("host", network.hosts), ("router", network.routers), ("switch", network.switches))
    for (kind, names), symbol, colour in zip(kinds, ("circle", "square", "diamond"), COLOURS, strict=False):
        if not names:
            continue
        figure.add_scatter(
            x=[place[node][0] for node in names],
            y=[place[node][1] for node in names],
            mode="markers+text",
            name=kind,
            text=names,
            textfont={"color": TEXT if outside else INK, "size": NAME_PX},
            textposition=[_name_place(node, network, place) for node in names] if outside else None,
            hoverinfo="text",
            hovertext=[_node_text(network, node, kind) for node in names],
            marker={"symbol": symbol, "size": NODE_PX if symbol != "diamond" else 40, "color": colour},
        )
    figure.update_layout(
        template="netlab",
        title_text=title or None,
        height=140.0 + max(PIXELS_PER_LINK, _extent_px(place, figure.layout.annotations)),
        margin={"l": 40, "r": 40, "b": 40} if outside else {"l": 20, "r": 20, "b": 20},
        legend={"itemsizing": "trace", "itemclick": False, "itemdoubleclick": False},
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


def notebook_drawing(network: Topology) -> dict[str, Any]:
    """Return the drawing of a network in all formats of a notebook, by MIME type; NetlabError without nodes."""
    return notebook_forms(topology(network))


def _names_of_links(network: Topology, link_names: Mapping[tuple[str, str], str]) -> dict[frozenset[str], str]:
    """Return the names of links, given by their two nodes in any order, by the set of these nodes. Raises NetlabError
    for the first that is no link's.
    """
    pairs = list(dict.fromkeys((link.a, link.b) for link in network.links))
    known = {*pairs, *((b, a) for a, b in pairs)}
    for nodes in link_names:
        if nodes not in known:
            raise NetlabError(f"link_names: {one_of(nodes, pairs)}")
    return {frozenset(nodes): name for nodes, name in link_names.items()}


def _layout(network: Topology) -> dict[str, tuple[float, float]]:
    """Return each node's place (x, y) in units of a link, as wide as possible, its first host left; parts go below."""
    neighbours: dict[str, list[str]] = {node: [] for node in network.nodes}
    for link in network.links:
        neighbours[link.a].append(link.b)
        neighbours[link.b].append(link.a)
    place: dict[str, tuple[float, float]] = {}
    top = 0.0
    for first in network.nodes:
        if first in place:
            continue
        reached = _links_from(first, neighbours)
        names = [node for node in network.nodes if node in reached]
        distances = [_links_from(node, neighbours) for node in names]
        links_between = np.array([[distance[node] for node in names] for distance in distances], float)
        points = _rotate(_spread_points(links_between))
        joined = np.argwhere(np.triu(links_between == 1))
        lengths = np.linalg.norm(points[joined[:, 0]] - points[joined[:, 1]], axis=1)
        points = points / (lengths.mean() if len(lengths) else 1.0)
        if np.ptp(points[:, 1]) < 0.1:
            points[:, 1] = 0  # a chain: the iteration straightens it too slowly
        else:
            row = [names.index(node) for node in _row(network, neighbours) if node in reached]
            points = _straighten_row(points, links_between, row)
        points[:, 1] += top - points[:, 1].max()
        top = points[:, 1].min() - 1
        place |= {
            node: (round(float(x), 4) + 0.0, round(float(y), 4) + 0.0)
            for node, (x, y) in zip(names, points, strict=True)
        }
    return place


def _links_from(node: str, neighbours: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the number of links from `node` to each node that it reaches, by name; `neighbours` has those of each
    node.
    """
    found, waiting = {node: 0}, [node]
    for current in waiting:
        for neighbour in neighbours[current]:
            if neighbour not in found:
                found[neighbour] = found[current] + 1
                waiting.append(neighbour)
    return found


def _rotate(points: Array) -> Array:
    """Return the points, rows of (x, y), rotated so that the largest extent is horizontal and the first point is on the
    left and on top, on every machine alike.
    """
    (xx, xy), (_, yy) = points.T @ points
    if np.hypot(xx - yy, 2 * xy) > MIN_DISTANCE * (xx + yy):
        angle = 0.5 * np.arctan2(2 * xy, xx - yy)
    else:
        # For equal extents the direction of the largest is a rounding error: use the direction of the first point.
        x, y = next((point for point in points if np.hypot(*point) > MIN_DISTANCE), points[0])
        angle = np.arctan2(y, x)
    found: Array = points @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for axis, side in ((0, -1), (1, 1)):
        first = next((value for value in found[:, axis] if abs(value) > MIN_DISTANCE), side)
        if first * side < 0:
            found[:, axis] *= -1
    return found


def _spread_points(links_between: Array) -> Array:
    """Return points (x, y) in the plane with distances close to `links_between`, the matrix of the numbers of links
    between them. From a circle, each step reduces the sum of (distance / links - 1)**2 (T. Kamada, S. Kawai,
    Information Processing Letters 31(1), 1989) as in Gansner, Koren, North, Graph Drawing by Stress Majorization, 2004.
    """
    count = len(links_between)
    angles = np.arange(count) * 2 * np.pi / count
    return _majorize(np.column_stack([np.cos(angles), np.sin(angles)]), links_between, [])


def _majorize(points: Array, links_between: Array, row: Sequence[int]) -> Array:
    """Return the points, their mean moved to 0, after steps that bring their distances closer to the matrix
    `links_between`; until then those whose indices are in `row` stay on the horizontal line through 0.
    """
    count = len(links_between)
    apart = links_between + np.eye(count)
    pull = np.linalg.pinv(np.diag((apart**-2.0).sum(axis=1)) - apart**-2.0)
    for _ in range(500):
        gaps = np.linalg.norm(points[:, None] - points, axis=2) + np.eye(count)
        push = 1 / (apart * np.maximum(gaps, 1e-9))
        np.fill_diagonal(push, 0)
        step = pull @ ((np.diag(push.sum(axis=1)) - push) @ points) - points
        step[list(row), 1] = 0
        points = points + 1.9 * step  # above 2 the sum would increase
        if np.max(np.abs(step)) < 1e-7:
            break
    centred: Array = points - points.mean(axis=0)
    return centred


def _row(network: Topology, neighbours: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the longest row of routers, each linked only to the next, from each node's neighbours; [] if below 3."""
    routers = {node: [other for other in neighbours[node] if other in network.routers] for node in network.routers}
    ends = [node for node, others in routers.items() if len(set(others)) == 1]
    longest: list[str] = []
    for end in ends:
        row = [end]
        while onward := set(routers[row[-1]]) - set(row):
            if len(onward) > 1:
                break
            row += onward
        longest = max(longest, row, key=len) if not onward else longest
    return longest if len(longest) >= MIN_ROW else []


def _straighten_row(points: Array, links_between: Array, row: Sequence[int]) -> Array:
    """Return the points with those of a row, given by their indices, on a horizontal line with longer links, and the
    others at the places that fit the matrix `links_between` best.
    """
    if not row:
        return points
    x, y = points[row[-1]] - points[row[0]]
    angle = np.arctan2(y, x) if x > 0 else np.arctan2(-y, -x)
    turned = points @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = turned - turned[list(row)].mean(axis=0)
    turned[list(row), 1] = 0
    apart = np.where(links_between <= 1, links_between, np.inf)
    for one, other in itertools.pairwise(row):
        apart[one, other] = apart[other, one] = ROW_LINK
    for middle in range(len(apart)):
        apart = np.minimum(apart, apart[:, [middle]] + apart[[middle], :])
    # Start with links of equal length: from there the other nodes find better places.
    return _majorize(_majorize(turned, links_between, row), apart, row)


def _name_place(node: str, network: Topology, place: Mapping[str, tuple[float, float]]) -> str:
    """Return Plotly's word for the position of a node's name: below, above, or at a corner without a link."""
    pixels = _scale_px(place, TYPICAL_WIDTH_PX)
    others = [link.b if link.a == node else link.a for link in network.links if node in (link.a, link.b)]
    ways = [(np.array(place[other]) - np.array(place[node])) * pixels for other in others]
    room = {}
    for side, angle in NAME_SIDES.items():
        towards = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
        turns = [np.degrees(np.arccos(np.clip(way @ towards / np.linalg.norm(way), -1, 1))) for way in ways]
        room[side] = min(turns, default=180.0)
    enough = [side for side in NAME_SIDES if room[side] >= (MIN_ROOM if "center" in side else MIN_CORNER_ROOM)]
    return enough[0] if enough else max(NAME_SIDES, key=lambda side: round(room[side]))


def _label_shift(
    link: Any, lines: Sequence[str], place: Mapping[str, tuple[float, float]], network: Topology, labels: list[Array]
) -> tuple[float, float]:
    """Return the shift (x, y) in pixels that moves a link's label, the text `lines`, off its line to the side with more
    room; append the label's place to `labels`.
    """
    pixels = _scale_px(place, TYPICAL_WIDTH_PX)
    at = {node: np.array(where) * pixels for node, where in place.items()}
    start, along = at[link.a], at[link.b] - at[link.a]
    normal = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    half_box = np.array([CHARACTER_PX / 2 * max(map(len, lines)), LINE_PX / 2 * len(lines)])
    # On a narrow page, a label that is wider than the line between its nodes would be hidden behind them.
    clear_px = 6 if 2 * half_box[0] < _narrow_length_px(link, place) - NODE_PX else NODE_PX / 2
    shift = normal * (clear_px + np.abs(normal) @ half_box)
    if shift[1] < -1e-9 or (abs(shift[1]) <= 1e-9 and shift[0] < 0):
        shift = -shift
    crowd = [*at.values(), *labels]
    for other in network.links:
        if other is not link:
            crowd += [at[other.a] + part * (at[other.b] - at[other.a]) for part in (0.25, 0.5, 0.75)]
    middle = start + along / 2
    room = [min(np.linalg.norm(middle + way - point) for point in crowd) for way in (shift, -shift)]
    best = shift if room[0] >= 0.9 * room[1] else -shift  # above, unless there is clearly more room below
    labels.append(middle + best)
    return round(float(best[0]), 1), round(float(best[1]), 1)


def _extent_px(place: Mapping[str, tuple[float, float]], labels: Sequence[Any]) -> float:
    """Return the vertical distance in pixels between the outermost nodes or edges of labels, the annotations of links;
    in a lower figure, Plotly would move the nodes closer together to show the labels.
    """
    heights_px = [PIXELS_PER_LINK * y for _, y in place.values()]
    for label in labels:
        half_px = LINE_PX / 2 * (label.text.count("<br>") + 1)
        middle_px = PIXELS_PER_LINK * label.y + label.yshift
        heights_px += [middle_px - half_px, middle_px + half_px]
    return max(heights_px) - min(heights_px)


def _narrow_length_px(link: Any, place: Mapping[str, tuple[float, float]]) -> float:
    """Return the length in pixels of a link between nodes at these places, in a window of 900 pixels."""
    return float(np.linalg.norm((np.array(place[link.b]) - place[link.a]) * _scale_px(place, NARROW_WIDTH_PX)))


def _scale_px(place: Mapping[str, tuple[float, float]], width_px: float) -> Array:
    """Return the pixels (x, y) of one unit of the nodes' places where the outermost nodes are `width_px` pixels apart."""
    return np.array([width_px / max(np.ptp([x for x, _ in place.values()]), 1.0), PIXELS_PER_LINK])


def _link_text(link: Any, room_px: float) -> str:
    """Return the label of a link: the properties of both directions, then those of one alone, in lines that fit into
    `room_px` pixels where they can; "" without properties.
    """
    forward, backward = _shape_words(link.forward), _shape_words(link.backward)
    if forward == backward:
        return "<br>".join(forward)
    shared = [word for word in forward if word in backward]
    parts = [("", shared)] if shared else []
    for a, b, words in ((link.a, link.b, forward), (link.b, link.a, backward)):
        own = [word for word in words if word not in shared]
        if own or not shared:
            parts.append((f"{a}→{b}: ", own or ["unlimited"]))
    lines = []
    for start, words in parts:
        text = ", ".join([start + words[0], *words[1:]]).replace(" ", "\N{NO-BREAK SPACE}")
        text = text.replace(",\N{NO-BREAK SPACE}", ", ")
        lines += textwrap.wrap(text, max(MIN_LABEL_WIDTH, int(room_px / CHARACTER_PX)), break_long_words=False)
    return "<br>".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _shape_words(shape: LinkShape) -> list[str]:
    """Return texts of a direction's medium, rate, delay, jitter, losses, duplicates, room and AQM where they are set,
    such as "5 Mbit/s".
    """
    words = []
    if shape.medium is not None:
        words.append(shape.medium)
    if isinstance(shape.rate_mbps, Trace):
        low, high = shape.rate_mbps.range_mbps
        words.append(f"{low:.3g} to {high:.3g} Mbit/s (trace)")
    elif shape.rate_mbps is not None:
        giga = shape.rate_mbps >= 1000
        words.append(f"{shape.rate_mbps / 1000:g} Gbit/s" if giga else f"{shape.rate_mbps:g} Mbit/s")
    if shape.delay_ms:
        words.append(f"{shape.delay_ms:g} ms")
    if shape.jitter_ms:
        words.append(f"jitter {shape.jitter_ms:g} ms")
    if shape.loss_rate:
        words.append(f"loss {shape.loss_rate:g}")
    if shape.burst_loss:
        words.append("burst loss")
    if shape.duplicate_rate:
        words.append(f"duplicates {shape.duplicate_rate:g}")
    if shape.queue_packets is not None:
        words.append(f"{shape.queue_packets} packets")
    if shape.queue_bytes is not None:
        words.append(_volume_words(shape.queue_bytes))
    if shape.aqm != "fifo":
        words.append(shape.aqm)
    return words


def _volume_words(volume_bytes: int) -> str:
    """Return a number of bytes as text, in kB or MB if it is large."""
    for unit_bytes, unit in ((10**6, "MB"), (10**3, "kB")):
        if volume_bytes >= 10 * unit_bytes:
            return f"{volume_bytes / unit_bytes:g} {unit}"
    return f"{volume_bytes} bytes"


def _node_text(network: Topology, node: str, kind: str) -> str:
    """Return the hover text of a node: its kind, its name, and its interfaces with their neighbours."""
    ports = [f"{way.interface} → {way.dst}" for way in network.hops() if way.src == node]
    return "<br>".join([f"<b>{kind} {node}</b>", *ports])
