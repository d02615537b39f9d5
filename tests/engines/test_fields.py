"""Every field of traffic does something, and the same in both kernels; a new field is tried without a line here."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab.measure.columns import FLOWS
from netlab.traffic.base import Traffic
from tests.engines import fields
from tests.engines.parity import differences

pytestmark = [pytest.mark.pocket, pytest.mark.library]

FIELDS = list(fields.changed())
NAMES = [f"{kind} {name}" for kind, name, _items in FIELDS]


def measured(*traffic: Traffic) -> dict[str, Any]:
    """Return the tables of a run without the columns that repeat what the plan says."""
    run = nl.run(fields.scenario(*traffic), progress=False)
    repeated = [column.name for column in FLOWS if column.value]
    tables = [run.flows.drop(columns=repeated), run.intervals, run.queues, run.pings, run.requests]
    return {str(number): table.to_json() for number, table in enumerate(tables)}


@pytest.mark.parametrize(("kind", "name", "items"), FIELDS, ids=NAMES)
def test_some_value_of_a_field_changes_the_run_and_does_the_same_in_both_kernels(
    kind: str, name: str, items: list[Traffic]
) -> None:
    usual = measured(type(items[0])(**fields.base(kind)))
    item = next((item for item in items if measured(item) != usual), None)
    assert item is not None, f"no value of {name} has an effect on a {kind} flow"
    if fields.is_in_the_library_kernel(item):
        pocket, library = (
            nl.run(fields.scenario(item), engine=engine, progress=False) for engine in ("pocket", "library")
        )
        assert differences(pocket, library) == []


def test_the_fields_include_those_of_each_kind_with_different_rules() -> None:
    found = {(kind, name): [getattr(item, name) for item in items] for kind, name, items in FIELDS}
    assert found["udp", "spacing"] == ["even", "random"]
    assert len(found["tcp", "window_bytes"]) > 3 and len(found["requests", "think_s"]) > 3
    assert {"tcp", "udp", "requests", "ping"} == {kind for kind, _name, _items in FIELDS}
    lacking = {(kind, name) for kind, name, items in FIELDS if not fields.in_one_scenario(items).traffic}
    assert lacking == {("udp", "send_buffer_bytes")}, "other fields need a member of struct flow in protocol.h"
