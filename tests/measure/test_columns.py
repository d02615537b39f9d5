"""The table of columns says which kinds of traffic fill a column of `run.flows`."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

import netlab as nl
from netlab.measure import columns
from netlab.measure.columns import FLOWS, Column, flow_row, help_text


class Sender:
    """Sends ten numbered datagrams."""

    def on_start(self, program: Any) -> None:
        for number in range(10):
            program.send(bytes([number]) * 100)


class Receiver:
    """Delivers what comes."""

    def on_start(self, program: Any) -> None:
        self.program = program

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        self.program.deliver(data)


@pytest.mark.library
def test_a_kind_of_traffic_fills_the_columns_that_the_table_names_and_no_others() -> None:
    traffic = [
        nl.Tcp("h1", "h2", num_bytes=10_000),
        nl.Udp("h1", "h2", rate_mbps=1),
        nl.Requests("h1", "h2", response_bytes=5000, count=2),
        nl.Ping("h1", "h2", count=5),
        nl.Program("h1", "h2", sender=Sender, receiver=Receiver, num_bytes=1000),
    ]
    run = nl.run(nl.topologies.dumbbell(1, rate_mbps=5, delay_ms=10), traffic, duration_s=3, engine="library")
    # docs/how-to/own_control.md explains the last two, which only runs with programs have.
    assert list(run.flows.columns) == [*(column.name for column in FLOWS), "missing_bytes", "wrong_bytes"]
    assert tuple(run.flows["kind"]) == columns.ALL
    for _, row in run.flows.iterrows():
        filled = {
            column.name for column in FLOWS if row[column.name] is not None and row[column.name] == row[column.name]
        }
        assert filled == {column.name for column in FLOWS if row["kind"] in column.kinds and column.name != "error"}, (
            row["kind"]
        )


def test_a_row_has_totals_values_and_numbers_of_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    added = (
        Column("port", "A number of the plan.", value=lambda flow, _row: flow.item["port"]),
        Column("part", "A total.", ("udp", "tcp")),
        Column("share", "A ratio.", ("udp", "tcp"), lambda _flow, row: row["part"] / row["whole"]),
    )
    monkeypatch.setattr(columns, "FLOWS", added)
    flow: Any = SimpleNamespace(item={"kind": "udp", "port": 7}, totals={"part": 3, "other": 1})
    assert flow_row(flow, whole=4) == {"part": 3, "whole": 4, "port": 7, "share": 0.75}
    assert flow_row(flow, part=2, whole=4)["share"] == 0.5, "the module's number counts"
    assert math.isnan(flow_row(flow)["share"]), "a flow that did not start has no numbers"
    flow.item["kind"] = "ping"
    assert flow_row(flow, whole=4) == {"whole": 4, "port": 7}


def test_the_help_of_a_run_names_every_column_once() -> None:
    for column in FLOWS:
        assert (nl.Run.__doc__ or "").count(f"- `{column.name}`") == 1
    text = help_text((Column("a_s", "A time in s."), Column("b", "A number.", ("tcp", "udp"))), "  ")
    assert text == "  - `a_s`: A time in s.\n  - `b` (tcp, udp): A number."
