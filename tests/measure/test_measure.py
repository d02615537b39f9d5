"""From counters to numbers: what each number of a run means."""

from __future__ import annotations

import math
from typing import Any

import pytest

import netlab as nl
from netlab.measure import to_run
from netlab.measure.results import Run

PAIR = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5)])


def measured_run(
    traffic: list[Any], flows: list[dict[str, Any]], *, duration_s: float = 10, interval_s: float = 1, **raw: Any
) -> Run:
    """A run in which the agent counted `flows`, one for each item of traffic."""
    plan = nl.Scenario(PAIR, traffic, duration_s=duration_s, interval_s=interval_s).plan()
    labelled = [{"flow": item["label"], "error": None, **row} for item, row in zip(plan["traffic"], flows, strict=True)]
    return to_run({"flows": labelled, "streams": [], "datagrams": [], "queues": [], **raw}, plan, {"scenario": {}})


def udp(sent: int, received: int, first_s: float = 0.0, last_s: float = 10.0, **more: Any) -> dict[str, Any]:
    """Counters of a UDP flow of 1000-byte datagrams."""
    return {
        "sent_datagrams": sent,
        "sent_bytes": 1000 * sent,
        "received_datagrams": received,
        "received_bytes": 1000 * received,
        "throughput_bytes": 1028 * received,
        "duplicates": 0,
        "reordered": 0,
        "jitter_ms": 0.5,
        "delay_min_ms": 8.0,
        "delay_mean_ms": 10.0,
        "delay_max_ms": 15.0,
        "receiver_drops": 0,
        "first_s": first_s if received else None,
        "last_s": last_s if received else None,
        "timely_datagrams": received,
        "timely_bytes": 1000 * received,
        "timely_throughput_bytes": 1028 * received,
        "timely_last_s": last_s if received else None,
        **more,
    }


def stream(received: int, first_s: float, last_s: float, **more: Any) -> dict[str, Any]:
    """Counters of a TCP connection."""
    return {
        "stream": 0,
        "received_bytes": received,
        "sent_bytes": received,
        "throughput_bytes": received * 1.5,
        "connect_s": 0.0,
        "first_s": first_s,
        "last_s": last_s,
        "retransmits": 0,
        "segments_out": 100,
        "timeouts": 0,
        "marks": 0,
        "rtt_ms": 20.0,
        "rtt_min_ms": 19.0,
        **more,
    }


def sample(t_s: float, received: int, number: int = 0, **more: Any) -> dict[str, Any]:
    """A reading of a TCP connection."""
    return {
        "flow": "h1-h2 cubic",
        "stream": number,
        "t_s": t_s,
        "received_bytes": received,
        "cwnd_segments": 10,
        "ssthresh_segments": None,
        "rtt_ms": 20.0,
        "retransmits": 0,
        "delivery_rate_mbps": 4.0,
        **more,
    }


def test_udp_goodput_is_over_the_flows_own_time() -> None:
    run = measured_run([nl.Udp("h1", "h2", rate_mbps=1, start_s=2, duration_s=4)], [udp(500, 400, 2.0, 5.99)])
    flow = run.flows.iloc[0]
    assert (flow.start_s, flow.duration_s) == (2, 4)
    assert flow.goodput_mbps == pytest.approx(400 * 8000 / 4e6)
    assert flow.throughput_mbps == pytest.approx(400 * 8224 / 4e6)
    assert flow.loss_rate == pytest.approx(0.2)
    assert (flow.delay_min_ms, flow.delay_ms, flow.delay_max_ms, flow.jitter_ms) == (8, 10, 15, 0.5)


def test_late_delivery_of_a_queue_does_not_raise_the_rate() -> None:
    """5 arrivals, 3 s apart, in 12 s, 4 of them in the flow's 10 s: these take 4 intervals, so the rate is one in 3 s."""
    timely = {"timely_datagrams": 4, "timely_bytes": 4000, "timely_throughput_bytes": 4112, "timely_last_s": 9.5}
    run = measured_run([nl.Udp("h1", "h2", rate_mbps=1)], [udp(9, 5, 0.5, 12.5, **timely)])
    assert run.flows.loss_rate[0] == pytest.approx(4 / 9)
    assert run.flows.goodput_mbps[0] == pytest.approx(8000 / 3e6)


def test_a_flow_that_ends_after_the_run_ends_with_it() -> None:
    run = measured_run([nl.Udp("h1", "h2", rate_mbps=1, start_s=6, duration_s=60)], [udp(500, 500, 6, 10)])
    assert run.flows.duration_s[0] == 4


def test_nothing_received_is_a_loss_of_one_and_no_delay() -> None:
    flow = measured_run([nl.Udp("h1", "h2", rate_mbps=1)], [udp(500, 0)]).flows.iloc[0]
    assert (flow.loss_rate, flow.goodput_mbps, flow.received_datagrams) == (1, 0, 0)
    assert all(math.isnan(value) for value in (flow.delay_min_ms, flow.delay_ms, flow.delay_max_ms, flow.jitter_ms))


def test_drops_of_a_full_socket_are_no_network_loss() -> None:
    """The receiver got 400 of 500 datagrams and its socket dropped 60, so the network lost 40."""
    flow = measured_run([nl.Udp("h1", "h2", rate_mbps=1)], [udp(500, 400, receiver_drops=60)]).flows.iloc[0]
    assert flow.loss_rate == pytest.approx(0.08)
    assert (flow.received_datagrams, flow.receiver_drops) == (400, 60)
    assert flow.goodput_mbps == pytest.approx(400 * 8000 / 10e6)


def test_duplicates_that_a_full_socket_dropped_make_no_loss_below_zero() -> None:
    flow = measured_run([nl.Udp("h1", "h2", rate_mbps=1)], [udp(500, 480, receiver_drops=60)]).flows.iloc[0]
    assert flow.loss_rate == 0


def test_nothing_sent_is_no_loss() -> None:
    assert math.isnan(measured_run([nl.Udp("h1", "h2", rate_mbps=1)], [udp(0, 0)]).flows.loss_rate[0])


def test_a_flow_that_did_not_start_keeps_its_row_and_its_error() -> None:
    flow = measured_run([nl.Udp("h1", "h2", rate_mbps=1)], [{"error": "no route"}]).flows.iloc[0]
    assert flow.error == "no route"
    assert math.isnan(flow.goodput_mbps)


def test_udp_intervals_compare_arrived_with_due_datagrams() -> None:
    """The flow runs from 0.5 to 2.5 s at 125 datagrams a second; what comes later has its row without a loss."""
    arrived = [
        {"flow": "h1-h2 udp", "interval": k, "bytes": 1000 * n, "datagrams": n} for k, n in ((0, 60), (1, 100), (3, 5))
    ]
    run = measured_run(
        [nl.Udp("h1", "h2", rate_mbps=1, start_s=0.5, duration_s=2)], [udp(250, 165)], duration_s=5, datagrams=arrived
    )
    assert list(run.intervals.t_s) == [1, 2, 3, 4]
    assert list(run.intervals.goodput_mbps) == pytest.approx([0.48, 0.8, 0, 0.04])
    assert list(run.intervals.loss_rate[:3]) == pytest.approx([1 - 60 / 62.5, 0.2, 1])
    assert math.isnan(run.intervals.loss_rate[3])


def test_tcp_goodput_runs_from_the_first_byte_to_the_flows_end() -> None:
    row = {"streams": [stream(5_000_000, 0.03, 10.03, retransmits=5)]}
    flow = measured_run([nl.Tcp("h1", "h2")], [row]).flows.iloc[0]
    assert flow.goodput_mbps == pytest.approx(4.0)
    assert flow.throughput_mbps == pytest.approx(6.0)
    assert (flow.retransmits, flow.loss_rate, flow.congestion) == (5, 0.05, "cubic")
    assert (flow.rtt_ms, flow.rtt_min_ms, flow.rtt_max_ms) == (20, 19, 20)


def test_a_finished_transfer_has_its_completion_time_and_its_goodput_over_it() -> None:
    """Also one of a single segment, whose bytes all come at one moment."""
    row = {"streams": [stream(1448, 2.15, 2.15, connect_s=2.0)]}
    flow = measured_run([nl.Tcp("h1", "h2", start_s=2, num_bytes=1448)], [row]).flows.iloc[0]
    assert flow.completion_s == pytest.approx(0.15)
    assert flow.goodput_mbps == pytest.approx(1448 * 8 / 0.15e6)
    assert flow.throughput_mbps == pytest.approx(1.5 * flow.goodput_mbps)


def test_a_transfer_of_several_streams_is_complete_with_the_last_one() -> None:
    rows = [stream(500, 0.1, 0.4), stream(500, 0.2, 0.8, stream=1)]
    run = measured_run([nl.Tcp("h1", "h2", streams=2, num_bytes=1000)], [{"streams": rows}])
    assert run.flows.completion_s[0] == pytest.approx(0.8)
    assert run.flows.goodput_mbps[0] == pytest.approx(8000 / 0.8e6)
    assert list(run.streams.goodput_mbps) == pytest.approx([4000 / 0.4e6, 4000 / 0.8e6])


@pytest.mark.parametrize(
    ("traffic", "streams"),
    [
        (nl.Tcp("h1", "h2"), [stream(1000, 0.1, 10.0)]),
        (nl.Tcp("h1", "h2", num_bytes=1001), [stream(1000, 0.1, 10.0)]),
        (nl.Tcp("h1", "h2", streams=2, num_bytes=1000), [stream(500, 0.1, 0.4)]),
        (nl.Tcp("h1", "h2", num_bytes=1000), []),
        (nl.Udp("h1", "h2", rate_mbps=1), None),
        (nl.Ping("h1", "h2"), None),
    ],
    ids=["no bytes asked for", "a byte missing", "a stream missing", "nothing came", "UDP", "ping"],
)
def test_incomplete_transfer_has_no_completion_time(traffic: Any, streams: list[Any] | None) -> None:
    row = {"streams": streams, "echoes": [], **udp(9, 9)}
    assert math.isnan(measured_run([traffic], [row]).flows.completion_s[0])


def test_a_transfer_cut_off_by_the_runs_end_has_its_goodput_from_the_call_of_connect() -> None:
    row = {"streams": [stream(5_000_000, 0.5, 10.0)]}
    assert measured_run([nl.Tcp("h1", "h2", num_bytes=10**8)], [row]).flows.goodput_mbps[0] == pytest.approx(4.0)


def test_a_flows_streams_add_up_over_one_time() -> None:
    """Two streams of 1 MB, one from 0 to 4 s and one from 4 to 8 s, are 2 MB in 8 s."""
    rows = [stream(10**6, 0, 4, rtt_min_ms=None), stream(10**6, 4, 8, stream=1, retransmits=2, timeouts=1, marks=3)]
    run = measured_run([nl.Tcp("h1", "h2", streams=2)], [{"streams": rows}])
    flow = run.flows.iloc[0]
    assert flow.flow == "h1-h2 cubic ×2"
    assert flow.goodput_mbps == pytest.approx(2.0)
    assert list(run.streams.goodput_mbps) == pytest.approx([2.0, 1.0])
    assert (flow.retransmits, flow.timeouts, flow.marks, flow.received_bytes, flow.rtt_min_ms) == (2, 1, 3, 2e6, 19)


def test_tcp_without_delivery_is_reported() -> None:
    flow = measured_run([nl.Tcp("h1", "h2")], [{"streams": [], "error": "timed out"}]).flows.iloc[0]
    assert (flow.goodput_mbps, flow.received_bytes, flow.error) == (0, 0, "timed out")


def test_values_missing_in_an_older_kernel_are_missing_not_zero() -> None:
    silent = {"retransmits": None, "segments_out": None, "rtt_ms": None, "rtt_min_ms": None}
    readings = [sample(1, 500, rtt_ms=None, delivery_rate_mbps=None)]
    run = measured_run([nl.Tcp("h1", "h2")], [{"streams": [stream(10**6, 0, 8, **silent)]}], streams=readings)
    flow = run.flows.iloc[0]
    assert flow.goodput_mbps == pytest.approx(1.0)
    assert all(math.isnan(value) for value in (flow.rtt_ms, flow.rtt_min_ms, flow.rtt_max_ms, flow.loss_rate))
    assert math.isnan(run.intervals.delivery_rate_mbps[0])


def test_rtt_of_a_stream_is_the_mean_and_largest_of_its_readings() -> None:
    readings = [sample(1, 100, rtt_ms=30), sample(2, 200, rtt_ms=50), sample(3, 300, rtt_ms=None)]
    flow = measured_run(
        [nl.Tcp("h1", "h2")], [{"streams": [stream(300, 0, 3, rtt_ms=99)]}], streams=readings
    ).flows.iloc[0]
    assert (flow.rtt_ms, flow.rtt_max_ms) == (40, 50)


def test_intervals_hold_differences_of_bytes_and_sums_over_streams() -> None:
    readings = [
        sample(1, 125_000),
        sample(1, 250_000, 1, retransmits=3, rtt_ms=40),
        sample(2, 250_000),
        sample(2, 250_000, 1, retransmits=4, rtt_ms=40),
        # The second stream has ended: what it sent again still counts.
        sample(3, 500_000, retransmits=1),
    ]
    for reading in readings:
        reading["flow"] = "h1-h2 cubic ×2"
    run = measured_run([nl.Tcp("h1", "h2", streams=2)], [{"streams": []}], streams=readings)
    assert list(run.intervals.t_s) == [1, 2, 3]
    assert list(run.intervals.goodput_mbps) == pytest.approx([3, 1, 2])
    assert list(run.intervals.cwnd_segments) == [20, 20, 10]
    assert list(run.intervals.rtt_ms) == [30, 30, 20]
    assert list(run.intervals.retransmits) == [3, 4, 5]
    assert run.intervals.ssthresh_segments.isna().all()
    assert list(run.stream_intervals.goodput_mbps) == pytest.approx([1, 2, 1, 0, 2])


def test_intervals_are_in_the_order_of_flows_and_time() -> None:
    readings = [sample(1, 10), sample(2, 20)]
    arrived = [{"flow": "h2-h1 udp", "interval": k, "bytes": 1000, "datagrams": 1} for k in (1, 0)]
    run = measured_run(
        [nl.Udp("h2", "h1", rate_mbps=1), nl.Tcp("h1", "h2")],
        [udp(2, 2), {"streams": []}],
        duration_s=2,
        streams=readings,
        datagrams=arrived,
    )
    assert list(zip(run.intervals.flow, run.intervals.t_s, strict=True)) == [
        ("h2-h1 udp", 1),
        ("h2-h1 udp", 2),
        ("h1-h2 cubic", 1),
        ("h1-h2 cubic", 2),
    ]


def test_pings_without_a_reply_are_lost_not_slow() -> None:
    rtts = [20.0, None, 26.0, 23.0]
    echoes = [{"seq": k, "t_s": 0.2 * k, "rtt_ms": rtt} for k, rtt in enumerate(rtts, start=1)]
    run = measured_run([nl.Ping("h1", "h2", count=4)], [{"echoes": echoes}])
    flow = run.flows.iloc[0]
    assert (flow.sent_datagrams, flow.received_datagrams, flow.loss_rate) == (4, 3, 0.25)
    assert (flow.rtt_ms, flow.rtt_min_ms, flow.rtt_max_ms) == (23, 20, 26)
    assert flow.jitter_ms == pytest.approx(4.5)
    assert list(run.pings.seq) == [1, 2, 3, 4]
    assert math.isnan(run.pings.rtt_ms[1])
    assert list(run.pings.flow.unique()) == ["h1-h2 ping"]


@pytest.mark.parametrize("rtts", [[], [None], [20.0]])
def test_few_pings_have_few_numbers(rtts: list[float | None]) -> None:
    echoes = [{"seq": k, "t_s": 0.2 * k, "rtt_ms": rtt} for k, rtt in enumerate(rtts, start=1)]
    flow = measured_run([nl.Ping("h1", "h2")], [{"echoes": echoes}]).flows.iloc[0]
    assert math.isnan(flow.jitter_ms)
    assert math.isnan(flow.loss_rate) == (not rtts)
    assert math.isnan(flow.rtt_ms) == (rtts != [20.0])


def test_commands_are_no_flows() -> None:
    output = {"stdout": "ok\n", "stderr": "", "exit_code": 0, "t_s": 1.0}
    run = measured_run([nl.Command("h1", "ip route", start_s=1), nl.Ping("h1", "h2")], [output, {"echoes": []}])
    assert list(run.flows.flow) == ["h1-h2 ping"]
    (command,) = run.commands.to_dict(orient="records")
    assert (command["host"], command["command"], command["stdout"], command["exit_code"]) == (
        "h1",
        "ip route",
        "ok\n",
        0,
    )


def test_queues_pass_through() -> None:
    row = {
        "t_s": 1.0,
        "interface": "h1-eth0",
        "backlog_bytes": 3028,
        "backlog_packets": 2,
        "drops": 1,
        "marks": 0,
        "sent_bytes": 1514,
        "sent_packets": 1,
    }
    run = measured_run([nl.Ping("h1", "h2")], [{"echoes": []}], queues=[row])
    assert run.queues.to_dict(orient="records") == [{**row, "link": "h1 to h2"}]


def test_stations_pass_through_where_there_are_some() -> None:
    row = {"t_s": 1.0, "station": "h1", "tries": 5}
    run = measured_run([nl.Ping("h1", "h2")], [{"echoes": []}], stations=[row])
    assert run.more["stations"].to_dict(orient="records") == [row]
    assert "stations" not in measured_run([nl.Ping("h1", "h2")], [{"echoes": []}]).more


def test_congestion_control_state_is_reported_for_a_single_connection_only() -> None:
    """A flow of several is in several states; an engine that does not tell leaves it out."""
    states = ["open", "recovery", "loss"]
    readings = [sample(second, 500 * second, ca_state=state) for second, state in enumerate(states, start=1)]
    alone = measured_run([nl.Tcp("h1", "h2")], [{"streams": [stream(1500, 0, 3)]}], streams=readings)
    assert list(alone.intervals.ca_state) == states
    both = [*readings, *(sample(second, 500 * second, number=1, ca_state="open") for second in (1, 2, 3))]
    both = [{**reading, "flow": "h1-h2 cubic ×2"} for reading in both]
    two = measured_run(
        [nl.Tcp("h1", "h2", streams=2)], [{"streams": [stream(1500, 0, 3), stream(1500, 0, 3, stream=1)]}], streams=both
    )
    assert list(two.intervals.ca_state) == [None] * 3
    assert sorted(two.stream_intervals.ca_state) == sorted([*states, *["open"] * 3])
    untold = measured_run([nl.Tcp("h1", "h2")], [{"streams": [stream(500, 0, 1)]}], streams=[sample(1, 500)])
    assert list(untold.intervals.ca_state) == [None]
