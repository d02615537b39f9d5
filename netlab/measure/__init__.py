"""Conversion of the agent's counters to the rates, ratios and time series of a `Run`."""

from collections import defaultdict
from typing import Any

from netlab.base.errors import RunError, one_of
from netlab.measure import results
from netlab.measure.artifacts import Artifacts
from netlab.measure.base import Measure, Row, Tables
from netlab.measure.command import CommandMeasure
from netlab.measure.ping import PingMeasure
from netlab.measure.program import ProgramMeasure
from netlab.measure.results import Run
from netlab.measure.tcp import RequestsMeasure, TcpMeasure
from netlab.measure.udp import UdpMeasure
from netlab.network.wiring import queue_names
from netlab.plan import Counters, Plan

MEASURES: dict[str, type[Measure[Any, Any]]] = {
    "tcp": TcpMeasure,
    "udp": UdpMeasure,
    "requests": RequestsMeasure,
    "ping": PingMeasure,
    "program": ProgramMeasure,
    "command": CommandMeasure,
}

__all__ = ["MEASURES", "Measure", "Tables", "to_run"]


def to_run(raw: Counters, plan: Plan, settings: dict[str, Any], artifacts: Artifacts | None = None) -> Run:
    """Return the `Run` with these `settings` and `artifacts` (None: no files) and the rates, ratios and time series for
    the agent's counters `raw` of a plan. Raises RunError when a kind of traffic has no row in `MEASURES`.
    """
    totals = {row["flow"]: row for row in raw["flows"]}
    samples, arrivals = defaultdict(list), defaultdict(list)
    for sample in raw["streams"]:
        samples[sample["flow"]].append(sample)
    for arrival in raw["datagrams"]:
        arrivals[arrival["flow"]].append(arrival)
    measures = []
    for item in plan["traffic"]:
        label, kind = item["label"], item["kind"]
        if kind not in MEASURES:
            raise RunError(f"{label}: nothing here measures this kind of traffic: {one_of(kind, list(MEASURES))}.")
        measures.append(MEASURES[kind](item, totals[label], plan, samples[label], arrivals[label]))
    # Flows that start together share the beginning of their measurement. Otherwise a flow whose data arrive late on a
    # shared link would be measured over a short time in which it had the link, and the sum of all rates would exceed
    # the link's rate.
    begins_s: dict[float, float] = {}
    for measure in measures:
        if measure.first_s is not None:
            start_s = measure.item["start_s"]
            begins_s[start_s] = min(measure.first_s, begins_s.get(start_s, measure.first_s))
    tables: dict[str, list[Row]] = {name: [] for name in results.TABLES}
    for measure in measures:
        start_s = measure.item["start_s"]
        for name, rows in measure.tables(begins_s.get(start_s, start_s)).items():
            tables.setdefault(name, []).extend(rows)
    # Sort rows by sampling time; rows of the same time stay in the order of flows.
    tables["stream_intervals"].sort(key=lambda row: row["t_s"])
    names = queue_names([(way["interface"], way["src"], way["dst"]) for way in plan["directions"]])
    tables["queues"] = [{**row, "link": names.get(row["interface"])} for row in raw["queues"]]
    if raw.get("stations"):
        tables["stations"] = [dict(row) for row in raw["stations"]]
    # A kind of traffic may add numbers to its flows, and tables.
    frames = {
        name: results.frame(tables.pop(name), columns, others=name == "flows")
        for name, columns in results.TABLES.items()
    }
    more = {name: results.frame(rows, others=True) for name, rows in tables.items()}
    return Run(**frames, settings=settings, more=more, artifacts=artifacts or Artifacts())
