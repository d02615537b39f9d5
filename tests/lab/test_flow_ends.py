"""`lab.advance_until` ends with a flow: when it looks, what it returns, and where network time then is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab import theory
from netlab.base.errors import ScenarioError
from netlab_engines.lab import flow_ends
from netlab_engines.lab.live import Lab

TIMES_S = st.floats(0, 1e4)


@given(TIMES_S, TIMES_S, st.integers(0, 10**10), st.floats(0, 1e10))
def test_the_next_look_is_on_the_grid_and_neither_now_nor_far_away(
    age_s: float, now_s: float, rest_bytes: int, fastest_bytes_s: float
) -> None:
    look_s = flow_ends.next_look_s(age_s, now_s, rest_bytes, fastest_bytes_s)
    assert look_s / flow_ends.GRID_S == pytest.approx(round(look_s / flow_ends.GRID_S), abs=1e-3)
    assert 0 < look_s - now_s <= flow_ends.MAX_STEP_S + flow_ends.GRID_S


@pytest.mark.parametrize(
    ("age_s", "rest_bytes", "fastest_bytes_s", "step_s"),
    [
        (0.0, 10**6, 0.0, 0.01),  # nothing is known
        (0.4, 10**6, 0.0, 0.2),  # half of its age
        (9.0, 10**9, 1e6, 0.5),  # the longest step
        (9.0, 10**5, 1e6, 0.07),  # 0.7 of the 0.1 s that 100 kB take at 1 MB/s
        (9.0, 100, 1e6, 0.01),  # the grid
    ],
)
def test_the_next_look_comes_before_the_end_at_the_fastest_rate(
    age_s: float, rest_bytes: int, fastest_bytes_s: float, step_s: float
) -> None:
    assert flow_ends.next_look_s(age_s, 20.0, rest_bytes, fastest_bytes_s) == pytest.approx(20 + step_s)


def tcp(**fields: Any) -> dict[str, Any]:
    return {"kind": "tcp", "label": "a", "num_bytes": 1000, **fields}


def test_progress_of_tcp_and_of_requests() -> None:
    rows = [{"received_bytes": 400, "last_s": 2.0}, {"received_bytes": 500, "last_s": 3.0}]
    assert flow_ends.progress(tcp(), None) == flow_ends.Progress(0, 1000, None)
    assert flow_ends.progress(tcp(), {"streams": rows}) == flow_ends.Progress(900, 100, None)
    assert flow_ends.progress(tcp(num_bytes=900), {"streams": rows}).end_s == 3.0
    requests = {"kind": "requests", "label": "b", "count": 2, "response_bytes": 300}
    totals = {"responses": [{"end_s": 1.0}, {"end_s": None}], "ends": [{"received_bytes": 350}]}
    assert flow_ends.progress(requests, totals) == flow_ends.Progress(350, 250, None)
    totals = {"responses": [{"end_s": 1.0}, {"end_s": 1.5}], "ends": [{"received_bytes": 600}]}
    assert flow_ends.progress(requests, totals) == flow_ends.Progress(600, 0, 1.5)


@pytest.mark.parametrize("item", [tcp(num_bytes=None), {"kind": "ping", "label": "p", "count": 3}])
def test_a_flow_without_a_last_byte_is_refused(item: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match="has no last byte to wait for; give an nl.Tcp num_bytes"):
        flow_ends.progress(item, None)


def open_lab(engine: str, **fields: Any) -> Lab:
    fields = {"rate_mbps": 10, "delay_ms": 10, "queue_packets": 100, **fields}
    return nl.live(
        nl.Topology(["h1", "h2"], ["r1"], links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", **fields)]), engine=engine
    )


@pytest.mark.library
@pytest.mark.parametrize("num_bytes", [1000, 100_000, 3_000_000])
def test_time_stops_within_10_ms_of_the_last_byte(num_bytes: int) -> None:
    """Nothing is lost: after a loss many bytes arrive at once, faster than the link."""
    with open_lab("library", queue_packets=1000) as lab:
        for _ in range(3):
            flow = lab.start(nl.Tcp("h1", "h2", num_bytes=num_bytes))
            end_s = lab.advance_until(flow)
            assert end_s == pytest.approx(flow.row.start_s + flow.row.completion_s, abs=1e-6)
            assert 0 <= lab.now_s - end_s <= 0.0101


@pytest.mark.library
def test_the_end_of_a_large_transfer_is_that_of_theory() -> None:
    """3 MB at 10 Mbit/s; slow start costs less than 0.1 s more."""
    with open_lab("library") as lab:
        end_s = lab.advance_until(lab.start(nl.Tcp("h1", "h2", num_bytes=3_000_000)))
    assert 0 < end_s - 24 / theory.tcp_goodput_limit_mbps(10) < 0.1


@pytest.mark.library
def test_a_limit_ends_the_wait_and_a_second_one_continues_it() -> None:
    with open_lab("library") as lab:
        flow = lab.start(nl.Tcp("h1", "h2", num_bytes=3_000_000))
        assert lab.advance_until(flow, limit_s=1) is None
        assert lab.now_s == pytest.approx(1)
        assert lab.advance_until(flow) == pytest.approx(2.57, abs=0.05)
        at_s = lab.now_s
        assert lab.advance_until(flow) is not None and lab.now_s == at_s, "it has ended already"


@pytest.mark.library
def test_requests_and_flows_that_start_later_end_too() -> None:
    with open_lab("library") as lab:
        requests = lab.start(nl.Requests("h2", "h1", response_bytes=10_000, count=4, think_s=0.5))
        end_s = lab.advance_until(requests)
        assert end_s == pytest.approx(lab.run.requests.eval("start_s + completion_s").max(), abs=1e-6)
        later = lab.start(nl.Tcp("h1", "h2", num_bytes=1000, start_s=2))
        assert 2 < lab.advance_until(later) - end_s < 2.2


@pytest.mark.library
def test_bad_limits_and_endless_flows_are_refused_before_time_passes() -> None:
    with open_lab("library") as lab:
        flow = lab.start(nl.Tcp("h1", "h2"))
        with pytest.raises(ScenarioError, match="limit_s must be from 0 to 86400, got -1"):
            lab.advance_until(flow, limit_s=-1)
        with pytest.raises(ScenarioError, match="h1-h2 cubic.*has no last byte"):
            lab.advance_until(flow)
        assert lab.now_s == 0


@pytest.mark.pocket
@pytest.mark.library
def test_transfers_take_equally_long_in_both_kernels() -> None:
    """Their starts may differ by 10 ms, because both round the time of a start up to such a step."""
    took_s = []
    for engine in ("pocket", "library"):
        with open_lab(engine) as lab:
            flows = [lab.start(nl.Tcp("h1", "h2", num_bytes=300_000))]
            ends_s = [lab.advance_until(flows[0])]
            flows.append(lab.start(nl.Tcp("h1", "h2", num_bytes=50_000)))
            ends_s.append(lab.advance_until(flows[1]))
            assert lab.now_s - ends_s[1] < 0.0101
            took_s += [round(end_s - flow.row.start_s, 6) for flow, end_s in zip(flows, ends_s, strict=True)]
    assert took_s[:2] == took_s[2:]


@pytest.mark.pocket
@pytest.mark.library
@pytest.mark.parametrize("engine", ["pocket", "library"])
def test_totals_of_one_flow_are_those_of_the_tables(engine: str) -> None:
    with open_lab(engine) as lab:
        flows = [
            lab.start(item)
            for item in (
                nl.Tcp("h1", "h2", num_bytes=300_000),
                nl.Requests("h2", "h1", response_bytes=10_000, count=4),
                nl.Udp("h1", "h2", rate_mbps=1, start_s=1),
            )
        ]
        lab.advance(0.5)
        tables = lab.session.request().tables(streams=0, queues=0)
        for flow, item in zip(flows, tables["items"], strict=True):
            answer = lab.session.request().totals(label=flow.label, until_s=0.5)
            assert answer["item"] == item
            expected = [each for each in tables["flows"] if each["flow"] == flow.label]
            assert [answer["totals"]] == (expected or [None])
        assert [each["flow"] for each in tables["flows"]] == [flow.label for flow in flows[:2]], "UDP starts after 1 s"
        later = lab.session.request().totals(label=flows[2].label, until_s=2)
        assert later["now_s"] == 2 and later["totals"] is not None, "time passes before the totals are read"
