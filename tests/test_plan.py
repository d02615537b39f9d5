"""The types at the seam say what the description's own fields say."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

import pytest

import netlab as nl
from netlab import plan
from netlab.network.link import LinkShape
from netlab.traffic.command import CommandItem
from netlab.traffic.ping import PingItem
from netlab.traffic.tcp import TcpItem
from netlab.traffic.udp import UdpItem


def test_a_shape_has_the_fields_of_a_links_direction() -> None:
    assert set(get_type_hints(plan.Shape)) == {field.name for field in fields(LinkShape)}


@pytest.mark.parametrize(
    ("description", "row"),
    [
        (nl.Tcp("h1", "h2"), TcpItem),
        (nl.Udp("h1", "h2", rate_mbps=1), UdpItem),
        (nl.Ping("h1", "h2"), PingItem),
        (nl.Command("h1", "true"), CommandItem),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_an_item_of_the_plan_has_the_fields_of_its_kind_and_a_label(description: Any, row: Any) -> None:
    topology = nl.topologies.dumbbell(pairs=1)
    (item,) = nl.Scenario(topology, [description]).plan()["traffic"]
    # A field that is not required is left out unless somebody asks for it.
    assert row.__required_keys__ <= set(item) <= set(get_type_hints(row))
