"""The agent: read the plan, build, send, sample, write the result."""

from __future__ import annotations

import json
import math
import platform
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from netlab.agent import files
from netlab.agent.artifacts import Keeper
from netlab.agent.capture import start_captures
from netlab.agent.changer import Changer
from netlab.agent.flows import Flow, make_flows, runner_of
from netlab.agent.medium import Medium
from netlab.agent.namespaces import visit
from netlab.agent.network import Network
from netlab.agent.sampling import QueueReader
from netlab.agent.schedule import hosts_ever_without_offload, shaped_directions
from netlab.agent.shaping import shape_network
from netlab.base.errors import NetlabError
from netlab.protocol.plan import AgentPlan, Counters, Event, FlowItem, Item, QueueSample, StreamSample
from netlab.sockets.streams import forbid_timer_slack

SETTLE_S = 0.01
# The kernel's timers of more than 63 ms come at multiples of 8, 64 or 512 ms since its boot (the levels of its timer wheel).
# Where the run begins among these must not follow from how long building took; 4096 ms is the same place for all of them.
GRID_S = {"virtual": 4.096, "real": 0.01}


class Events:
    """Lines of JSON that whoever started the agent reads while it works."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1)

    def tell(self, event: Event) -> None:
        """Write one event."""
        self._file.write(json.dumps(event) + "\n")


def run(folder: Path, before_traffic: Callable[[], None] = lambda: None, work: Path = Path("/tmp")) -> int:
    """Do what `plan.json` in `folder` says and leave `result.json` there; returns an exit code.

    `before_traffic` is called when the network is built: what traffic then draws need not follow from how that went. Commands that
    leave files have their working directories in `work`.
    """
    events = Events(folder / files.EVENTS)
    events.tell({"event": "agent"})
    try:
        plan: AgentPlan = json.loads((folder / files.PLAN).read_text())
        artifacts = folder / files.ARTIFACTS
        result = experiment(plan, events, Keeper(artifacts, work=work), artifacts, before_traffic)
    except NetlabError as error:
        events.tell({"event": "error", "message": str(error)})
        return 1
    except Exception as error:  # noqa: BLE001 (whatever it is, the host must hear of it)
        events.tell(
            {"event": "error", "message": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        )
        return 1
    temporary = folder / (files.RESULT + ".part")
    temporary.write_text(json.dumps(result))
    temporary.replace(folder / files.RESULT)
    events.tell({"event": "done"})
    return 0


def experiment(
    plan: AgentPlan, events: Events, keeper: Keeper, artifacts: Path, before_traffic: Callable[[], None]
) -> Counters:
    """Build the network of `plan`, run its traffic, and return everything that was measured; files go to `artifacts`."""
    clock = plan["clock"]
    # Threads inherit it: every flow then starts on time, not up to 50 us later.
    forbid_timer_slack()
    network = Network(plan)
    events.tell({"event": "nodes"})
    segment_bytes = segment_bytes_by_host(plan["traffic"])
    without_offload = hosts_ever_without_offload(plan, clock, segment_bytes)
    ip_lines, queueing = shape_network(plan["directions"], clock, without_offload, plan["seed"])
    network.configure(ip_lines, queueing)
    events.tell({"event": "network"})
    before_traffic()
    flows = make_flows(plan, network, keeper)
    readers = queue_readers(plan, network)
    changer = Changer(network, plan["directions"], clock, plan["seed"])
    changer.schedule.add(plan["changes"])
    captures = start_captures(network.pid, plan, str(artifacts.with_name(files.CAPTURES)))
    # A round time: building took a little longer or shorter with this Python.
    origin_s = math.ceil((time.monotonic() + SETTLE_S) / GRID_S[clock]) * GRID_S[clock]
    changer.make_first()
    for flow in flows:
        flow.launch(origin_s)
    changer.start(origin_s)
    streams, queues = _sample(plan, flows, readers, origin_s, events)
    finish_s = origin_s + plan["duration_s"] + plan["drain_s"]
    for flow in flows:
        flow.finish(finish_s)
    changer.check()
    lost = sum(capture.stop() for capture in captures)
    counters: Counters = {
        "flows": [flow.totals() for flow in flows],
        "streams": streams,
        "datagrams": [row for flow in flows for row in flow.intervals()],
        "queues": queues,
        "kernel": platform.release(),
        "python": platform.python_version(),
        "hosts_without_offload": without_offload,
        "tc": {node: [each.line for each in own] for node, own in queueing.items()},
        "origin_ns": time.clock_gettime_ns(time.CLOCK_REALTIME) - round((time.monotonic() - origin_s) * 1e9),
        "packets_lost": lost,
        "unsaved": keeper.unsaved,
    }
    if network.media:
        counters["stations"] = [row for medium in network.media for row in medium.totals()]
    return counters


def segment_bytes_by_host(traffic: list[Item]) -> dict[str, int]:
    """The smallest segments that each host sends, where its traffic chooses a size."""
    smallest: dict[str, int] = {}
    for item in traffic:
        size_bytes = runner_of(item).segment_bytes(item)
        if size_bytes is not None:
            src = cast("FlowItem", item)["src"]
            smallest[src] = min(size_bytes, smallest.get(src, size_bytes))
    return smallest


def queue_readers(plan: AgentPlan, network: Network) -> list[QueueReader | Medium]:
    """What reads the queues of every direction that has one: of each node's shaped interfaces, and of each medium."""
    shaped: dict[str, list[str]] = {}
    for direction in shaped_directions(plan):
        shaped.setdefault(direction["src"], []).append(direction["interface"])
    readers: list[QueueReader | Medium] = [*network.media]
    for name, interfaces in shaped.items():
        with visit(network.pid(name)):
            readers.append(QueueReader(interfaces))
    return readers


def _sample(
    plan: AgentPlan, flows: list[Flow[Any]], readers: list[QueueReader | Medium], origin_s: float, events: Events
) -> tuple[list[StreamSample], list[QueueSample]]:
    streams: list[StreamSample] = []
    queues: list[QueueSample] = []
    steps = max(1, round(plan["duration_s"] / plan["interval_s"]))
    told_s = 0.0
    for step in range(1, steps + 1):
        t_s = round(step * plan["interval_s"], 9)
        left_s = origin_s + t_s - time.monotonic()
        if left_s > 0:
            time.sleep(left_s)
        for flow in flows:
            streams.extend(flow.sample(t_s))
        for reader in readers:
            for interface, queue in reader.read().items():
                queues.append(
                    {
                        "t_s": t_s,
                        "interface": interface,
                        "backlog_bytes": queue.backlog_bytes,
                        "backlog_packets": queue.backlog_packets,
                        "drops": queue.drops,
                        "marks": queue.marks,
                        "sent_bytes": queue.sent_bytes,
                        "sent_packets": queue.sent_packets,
                    }
                )
        if t_s - told_s >= plan["duration_s"] / 50:
            told_s = t_s
            events.tell({"event": "progress", "t_s": t_s})
    return streams, queues


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1])))
