"""A kind of traffic is its modules and a row in each of three tables: here one is made up, and nothing else knows of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

import netlab as nl
from netlab import measure, traffic
from netlab.base.errors import RunError, ScenarioError
from netlab.measure.base import Measure, Tables
from netlab.measure.columns import flow_row
from netlab.traffic.base import Flow
from netlab_engines.agent import flows
from netlab_engines.agent.artifacts import ArtifactStore

PAIR = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5, delay_ms=100)])


@dataclass(frozen=True)
class Pages(Flow):
    """Pages that are fetched one after the other."""

    pages: int = 3
    start_s: float = 0.0
    kind: ClassVar[str] = "pages"
    required: ClassVar[Mapping[str, Any]] = {"src": "", "dst": "", "pages": 1}
    crossings: ClassVar[int] = 2

    def problems(self, where: str) -> list[str]:
        wrong = [] if self.pages > 0 else [f"{where}: pages must be above 0, got {self.pages}"]
        return [*super().problems(where), *wrong]

    def without_rate(self) -> str:
        return "pages need a link with a rate"

    @staticmethod
    def kernel_needs(item: Any) -> set[str]:
        return {"paper"}


class PagesFlow(flows.RunningFlow[Any]):
    """Notes which ports it was given."""

    def __init__(self, item: Any, place: flows.FlowContext) -> None:
        super().__init__(item, place)
        self.port, self.address, self.ports = place.port, item["address"], item["pages"]

    def totals(self) -> Any:
        return {**super().totals(), "took_s": [0.5] * self.item["pages"], "first_s": 0.25}


class PagesMeasure(Measure[Any, Any]):
    """A figure of its own in `flows`, and a table of its own."""

    @property
    def first_s(self) -> float:
        return float(self.totals["first_s"])

    def tables(self, begin_s: float) -> Tables:
        took_s = self.totals["took_s"]
        rows = [{"flow": self.item["label"], "page": n, "took_s": s} for n, s in enumerate(took_s, start=1)]
        return {"flows": [flow_row(self, page_s=sum(took_s) / len(took_s))], "fetches": rows}


@pytest.fixture
def _pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(traffic.KINDS, "pages", Pages)
    monkeypatch.setitem(flows.RUNNERS, "pages", PagesFlow)
    monkeypatch.setitem(measure.MEASURES, "pages", PagesMeasure)


ITEM = {"kind": "pages", "src": "h1", "dst": "h2", "pages": 2}
UNKNOWN = {"kind": "pages", "label": "h1-h2 pages", "start_s": 0.0, "src": "h1", "dst": "h2"}


def test_the_three_tables_have_the_same_kinds() -> None:
    assert list(traffic.KINDS) == list(measure.MEASURES)
    # Programs of the user's run in the library kernel alone.
    assert [kind for kind in traffic.KINDS if kind != "program"] == list(flows.RUNNERS)


@pytest.mark.usefixtures("_pages")
def test_a_kind_is_described_by_its_row() -> None:
    """A file may name it, its mistakes are found, its ends and its way checked, and `netlab` has its class."""
    scenario = nl.Scenario.from_dict({"topology": PAIR.to_dict(), "traffic": [ITEM], "duration_s": 2})
    (item,) = scenario.traffic
    assert item == nl.Pages("h1", "h2", pages=2)
    assert json.loads(json.dumps(scenario.to_dict()))["traffic"] == [{**ITEM, "start_s": 0.0}]
    plan = scenario.plan()
    addresses = {own["node"]: own["address"].partition("/")[0] for own in plan["addresses"]}
    assert plan["traffic"] == [{**ITEM, "label": "h1-h2 pages", "start_s": 0.0, "address": addresses["h2"]}]
    there_and_back_s = plan["drain_s"]
    assert there_and_back_s > 2 * 0.1
    unlimited = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2")])
    for topology, wrong, text in (
        (PAIR, Pages("h1", "h2", pages=0), "traffic 1 (pages): pages must be above 0, got 0"),
        (PAIR, Pages("h1", "h3"), "traffic 1 (pages): dst: got 'h3'; allowed: h1, h2"),
        (PAIR, Pages("h1", "h1"), "traffic 1 (pages): src and dst are both h1; traffic needs two ends"),
        (unlimited, Pages("h1", "h2"), "traffic 1 (pages): pages need a link with a rate"),
    ):
        assert nl.Scenario(topology, [wrong]).problems() == [text]
    with pytest.raises(ScenarioError, match="pages is missing; a pages item needs src, dst, pages"):
        nl.Scenario.from_dict({"topology": PAIR.to_dict(), "traffic": [{"kind": "pages", "src": "h1", "dst": "h2"}]})


@pytest.mark.usefixtures("_pages")
def test_the_agent_runs_a_kind_by_its_row(tmp_path: Path) -> None:
    """Each item gets ports of its own, as many as its kind says."""
    scenario = nl.Scenario(PAIR, [Pages("h1", "h2", pages=2), Pages("h2", "h1", pages=3), Pages("h1", "h2")])
    plan: Any = {**scenario.plan(), "clock": "virtual", "machine_sysctls": {}}
    network: Any = None
    created = flows.make_flows(plan, network, ArtifactStore(tmp_path))
    assert [flow.port for flow in cast("list[Any]", created)] == [5001, 5003, 5006]
    assert [flow.address for flow in cast("list[Any]", created)] == [item["address"] for item in plan["traffic"]]


@pytest.mark.usefixtures("_pages")
def test_a_kind_is_measured_by_its_row(tmp_path: Path) -> None:
    """Its own numbers and its own table are in the run, and come back from its file."""
    plan = nl.Scenario(PAIR, [Pages("h1", "h2", pages=2)], duration_s=2).plan()
    totals = [{"flow": "h1-h2 pages", "error": None, "took_s": [0.5, 1.5], "first_s": 0.25}]
    raw: Any = {"flows": totals, "streams": [], "datagrams": [], "queues": []}
    measure.to_run(raw, plan, {"scenario": {}}).to_json(tmp_path / "run.json")
    run = nl.Run.from_json(tmp_path / "run.json")
    assert run.flows.page_s[0] == 1.0
    assert run.more["fetches"].to_dict(orient="records") == [
        {"flow": "h1-h2 pages", "page": 1, "took_s": 0.5},
        {"flow": "h1-h2 pages", "page": 2, "took_s": 1.5},
    ]


def test_an_unknown_kind_is_refused_by_the_description() -> None:
    with pytest.raises(
        ScenarioError, match="traffic 1: kind: got 'pages'; allowed: tcp, udp, requests, ping, program, command"
    ):
        nl.Scenario.from_dict({"topology": PAIR.to_dict(), "traffic": [ITEM]})
    assert (
        nl.Scenario(PAIR, [Pages("h1", "h2")])
        .problems()[0]
        .startswith("traffic 1 must be a netlab.Tcp, Udp, Requests, Ping, Program or Command, got Pages(")
    )
    assert not hasattr(nl, "Pages")


def test_an_unknown_kind_is_refused_by_the_agent(tmp_path: Path) -> None:
    plan: Any = {"traffic": [UNKNOWN], "duration_s": 1.0}
    network: Any = None
    with pytest.raises(RunError, match=r"h1-h2 pages: the agent does not know this kind .* got 'pages'; allowed: tcp"):
        flows.make_flows(plan, network, ArtifactStore(tmp_path))


def test_an_unknown_kind_is_refused_by_the_measure() -> None:
    plan: Any = {"traffic": [UNKNOWN]}
    raw: Any = {"flows": [{"flow": "h1-h2 pages"}], "streams": [], "datagrams": [], "queues": []}
    with pytest.raises(RunError, match=r"h1-h2 pages: nothing here measures this kind .* got 'pages'; allowed: tcp"):
        measure.to_run(raw, plan, {})
