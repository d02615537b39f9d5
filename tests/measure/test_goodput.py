"""Goodputs of flows with the same start and end can be summed: the sum never exceeds what a link carries.

The bound is exact. All that counts left the link between the shared beginning and the end, each shifted by the latency behind
the link; datagrams are counted for the flow's duration from their own first arrival, which may end a path's latency later. In
that time the link carries its rate, and one frame more, which left at the very beginning.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.measure import to_run
from netlab.measure.results import Run
from netlab_engines.sockets.datagrams import StreamCounters

PAYLOAD_BYTES = 1000
FRAME_S = 0.01
LINK_MBPS = PAYLOAD_BYTES * 8 / FRAME_S / 1e6
DURATION_S = 2.0


def tcp_totals(label: str, arrivals_s: list[float], last_s: float | None = None) -> dict[str, Any]:
    """Counters of a connection: what came until the flow's end, or until its last byte at `last_s`."""
    arrivals_s = [at_s for at_s in arrivals_s if at_s <= DURATION_S]
    received_bytes = PAYLOAD_BYTES * len(arrivals_s)
    stream = {
        "stream": 0,
        "received_bytes": received_bytes,
        "sent_bytes": received_bytes,
        "throughput_bytes": received_bytes,
        "retransmits": 0,
        "segments_out": len(arrivals_s),
        "timeouts": 0,
        "marks": 0,
        "rtt_ms": 1.0,
        "rtt_min_ms": 1.0,
        "connect_s": 0.0,
        "first_s": min(arrivals_s, default=0.0),
        "last_s": DURATION_S if last_s is None else last_s,
    }
    return {"flow": label, "error": None, "streams": [stream] if arrivals_s else []}


def udp_totals(label: str, arrivals_s: list[float]) -> dict[str, Any]:
    """Counters of datagrams: all that came, counted as the receiver counts them."""
    counters = StreamCounters(timely_ns=round(DURATION_S * 1e9))
    for number, at_s in enumerate(arrivals_s):
        counters.add(number, 0, round(at_s * 1e9), PAYLOAD_BYTES)
    return {
        "flow": label,
        "error": None,
        "sent_datagrams": len(arrivals_s),
        "sent_bytes": counters.received_bytes,
        "received_datagrams": counters.received_datagrams,
        "received_bytes": counters.received_bytes,
        "throughput_bytes": counters.received_bytes,
        "duplicates": 0,
        "reordered": 0,
        "jitter_ms": 0.0,
        "delay_min_ms": 0.0,
        "delay_mean_ms": 0.0,
        "delay_max_ms": 0.0,
        "receiver_drops": 0,
        "first_s": counters.first_s,
        "last_s": counters.last_s,
        "timely_datagrams": counters.timely_datagrams,
        "timely_bytes": counters.timely_bytes,
        "timely_throughput_bytes": counters.timely_bytes,
        "timely_last_s": counters.timely_last_s,
    }


def measured_run(kinds: list[str], arrivals_s: list[list[float]]) -> Run:
    """A run whose flows, all started at 0, received data at these times."""
    topology = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=1)])
    created = {
        "tcp": nl.Tcp("h1", "h2"),
        "udp": nl.Udp("h1", "h2", rate_mbps=1),
        "unfinished": nl.Tcp("h1", "h2", num_bytes=10**9),
    }
    plan = nl.Scenario(topology, [created[kind] for kind in kinds], duration_s=DURATION_S).plan()
    totals = [
        (udp_totals if kind == "udp" else tcp_totals)(item["label"], own)
        for kind, item, own in zip(kinds, plan["traffic"], arrivals_s, strict=True)
    ]
    raw: Any = {"flows": totals, "streams": [], "datagrams": [], "queues": []}
    return to_run(raw, plan, {"scenario": {}})


@st.composite
def links(draw: st.DrawFn) -> tuple[list[str], list[float], list[list[float]]]:
    """Flows by kind, their latencies behind a link, and when the link sent each one's frames: one a frame's time at most."""
    kinds = draw(st.lists(st.sampled_from(["tcp", "udp", "unfinished"]), min_size=1, max_size=6))
    behind_s = [draw(st.sampled_from([0.0, 0.004, 0.05])) for _ in kinds]
    begin_s = draw(st.sampled_from([0.01, 0.2]))
    # The queue may go on sending for a while after the flows' end.
    frames = round((DURATION_S - begin_s + draw(st.sampled_from([0.0, 0.3]))) / FRAME_S)
    owner = st.integers(-1, len(kinds) - 1) if draw(st.booleans()) else st.integers(0, len(kinds) - 1)
    owners = draw(st.lists(owner, min_size=frames, max_size=frames))
    # Whole stretches for one flow: what begins late, or ends early, has had the link for itself in the meantime.
    for _ in range(draw(st.integers(0, 3))):
        first = draw(st.integers(0, frames - 1))
        owners[first : first + 60] = [draw(st.integers(0, len(kinds) - 1))] * len(owners[first : first + 60])
    left_s: list[list[float]] = [[] for _ in kinds]
    for number, who in enumerate(owners):
        if who >= 0:
            left_s[who].append(begin_s + (number + 1) * FRAME_S)
    return kinds, behind_s, left_s


@given(links())
def test_the_sum_over_a_link_never_exceeds_what_it_carries(
    case: tuple[list[str], list[float], list[list[float]]],
) -> None:
    kinds, behind_s, left_s = case
    arrivals_s = [[at_s + later_s for at_s in own] for own, later_s in zip(left_s, behind_s, strict=True)]
    run = measured_run(kinds, arrivals_s)
    assert not run.flows.goodput_mbps.isna().any()
    first_s = min((at_s for own in arrivals_s for at_s in own), default=DURATION_S)
    shared_s = DURATION_S - first_s
    if shared_s <= 0:
        assert run.flows.goodput_mbps.sum() <= LINK_MBPS * 1.01
        return
    timely_s = [
        at_s
        for kind, own in zip(kinds, arrivals_s, strict=True)
        for at_s in own
        if at_s <= DURATION_S or (kind == "udp" and at_s < own[0] + DURATION_S)
    ]
    late_s = max(0.0, max(timely_s, default=0.0) - DURATION_S)
    spread_s = max(behind_s) - min(behind_s)
    bound_mbps = LINK_MBPS * (shared_s + spread_s + late_s + FRAME_S) / shared_s
    total_mbps = run.flows.goodput_mbps.sum()
    assert total_mbps <= bound_mbps * (1 + 1e-9), f"sum {total_mbps:.6g}, bound {bound_mbps:.6g} Mbit/s"


@given(
    st.lists(st.floats(0.001, DURATION_S), min_size=1, max_size=20).map(sorted),
    st.lists(st.floats(0.001, DURATION_S), max_size=20).map(sorted),
)
def test_a_finished_transfers_goodput_is_its_bytes_over_its_completion_time(
    arrivals_s: list[float], others_s: list[float]
) -> None:
    """Other flows' data does not count, and all of a transfer's data may arrive at one moment."""
    num_bytes = PAYLOAD_BYTES * len(arrivals_s)
    topology = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=1)])
    flows = [nl.Tcp("h1", "h2", num_bytes=num_bytes), nl.Tcp("h1", "h2")]
    plan = nl.Scenario(topology, flows, duration_s=DURATION_S).plan()
    own, other = (item["label"] for item in plan["traffic"])
    totals = [tcp_totals(own, arrivals_s, arrivals_s[-1]), tcp_totals(other, others_s)]
    raw: Any = {"flows": totals, "streams": [], "datagrams": [], "queues": []}
    flow = to_run(raw, plan, {"scenario": {}}).flows.iloc[0]
    assert flow.completion_s == arrivals_s[-1]
    assert flow.goodput_mbps * flow.completion_s == pytest.approx(num_bytes * 8 / 1e6)


def test_late_flow_is_measured_over_the_common_time() -> None:
    """The late flow had the link for a quarter of the time, so its goodput is a quarter of the link's, and not all of
    it; plus one frame.
    """
    early = [0.5 + FRAME_S * k for k in range(1, 113)]
    late = [0.5 + FRAME_S * k for k in range(113, 151)]
    run = measured_run(["tcp", "tcp"], [early, late])
    assert run.flows.goodput_mbps.sum() == pytest.approx(LINK_MBPS * 150 / 149)
    assert run.flows.goodput_mbps[1] == pytest.approx(LINK_MBPS * 38 / 149)


def test_a_flow_alone_keeps_its_own_time() -> None:
    run = measured_run(["tcp"], [[1.5 + FRAME_S * k for k in range(51)]])
    assert run.flows.goodput_mbps[0] == pytest.approx(51 * 8000 / 0.5 / 1e6)


def test_a_byte_at_the_very_end_is_a_starved_flow() -> None:
    """Its goodput is near 0, alone or with another; never NaN."""
    assert measured_run(["tcp"], [[DURATION_S]]).flows.goodput_mbps[0] == 0
    both = measured_run(["tcp", "udp"], [[DURATION_S], [0.5]])
    assert both.flows.goodput_mbps[0] == pytest.approx(8000 / 1.5 / 1e6)


def test_datagrams_below_the_limit_give_the_offered_rate_exactly_with_others() -> None:
    """Whenever the others began, and however late the datagrams come."""
    datagrams = [0.3 + 0.02 * k for k in range(100)]
    run = measured_run(["udp", "tcp"], [datagrams, [0.01 + FRAME_S * k for k in range(50)]])
    assert run.flows.goodput_mbps[0] == pytest.approx(8000 / 0.02 / 1e6, rel=1e-12)


def test_bytes_sent_by_a_queue_after_the_end_do_not_count() -> None:
    """3 s at the link's rate of a flow of 2 s is that rate; the datagrams of the last second have arrived all the same."""
    arrivals = [0.1 + FRAME_S * k for k in range(300)]
    flow = measured_run(["udp"], [arrivals]).flows.iloc[0]
    assert flow.goodput_mbps == pytest.approx(LINK_MBPS, rel=1e-9)
    assert (flow.received_datagrams, flow.loss_rate) == (300, 0)


def test_flows_that_start_at_other_times_have_other_beginnings() -> None:
    topology = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=1)])
    plan = nl.Scenario(topology, [nl.Tcp("h1", "h2"), nl.Tcp("h1", "h2", start_s=1)], duration_s=DURATION_S).plan()
    rows = [
        tcp_totals(item["label"], [begin_s, 1.9]) for item, begin_s in zip(plan["traffic"], (0.1, 1.2), strict=True)
    ]
    raw: Any = {"flows": rows, "streams": [], "datagrams": [], "queues": []}
    goodputs = to_run(raw, plan, {"scenario": {}}).flows.goodput_mbps
    assert list(goodputs) == pytest.approx([0.016 / 1.9, 0.016 / 0.8])
    assert not math.isnan(goodputs.sum())
