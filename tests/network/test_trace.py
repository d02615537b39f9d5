"""A trace: what it can send, where it begins again, and what is wrong with one."""

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.base.errors import ScenarioError

lengths_s = st.floats(0.01, 20).map(lambda value: round(value, 3))
rates_mbps = st.one_of(st.just(0.0), st.floats(0.1, 100).map(lambda value: round(value, 2)))


@st.composite
def traces(draw):
    steps, at_s = [], 0.0
    for length_s, mbps in draw(st.lists(st.tuples(lengths_s, rates_mbps), min_size=1, max_size=8)):
        steps.append((round(at_s, 3), mbps))
        at_s += length_s
    if not any(mbps for _, mbps in steps):
        steps[0] = (0.0, 1.0)
    return nl.Trace(steps, round(at_s, 3))


def test_the_last_step_lasts_as_long_as_the_one_before_it():
    trace = nl.Trace([(0, 5), (10, 2)])
    assert trace.duration_s == 20
    assert [trace.at(t_s) for t_s in (0, 9.9, 10, 19.9, 20, 30)] == [5, 5, 2, 2, 5, 2]


@given(traces(), st.floats(0, 200), st.floats(0.1, 200))
def test_capacity_between_two_times_is_the_integral_of_the_rate(trace, start_s, length_s):
    moments = {start_s, start_s + length_s}
    for number in range(int((start_s + length_s) / trace.duration_s) + 1):
        for at_s, _ in trace.steps:
            if start_s < number * trace.duration_s + at_s < start_s + length_s:
                moments.add(number * trace.duration_s + at_s)
    ordered = sorted(moments)
    sent = sum((b - a) * trace.at((a + b) / 2) for a, b in itertools.pairwise(ordered))
    assert trace.mean_mbps(start_s, start_s + length_s) * length_s == pytest.approx(sent, rel=1e-6, abs=1e-4)


@given(traces(), st.floats(0, 50))
def test_a_trace_begins_again_at_its_end(trace, start_s):
    later_s = start_s + 3 * trace.duration_s
    whole = trace.mean_mbps(start_s, start_s + trace.duration_s)
    assert whole == pytest.approx(trace.mean_mbps(), rel=1e-6)
    assert trace.mean_mbps(later_s, later_s + 1) == pytest.approx(
        trace.mean_mbps(start_s, start_s + 1), rel=1e-5, abs=1e-5
    )


@given(traces(), st.floats(0.001, 500), st.floats(0, 1))
def test_bits_never_take_longer_than_the_slowest_time(trace, mbit, share):
    longest_s = trace.slowest_s(mbit * 1e6)
    start_s = share * trace.duration_s
    assert trace.mean_mbps(start_s, start_s + longest_s + 1e-6) * (longest_s + 1e-6) >= mbit * (1 - 1e-6) - 1e-3


@given(traces())
def test_a_trace_comes_back_from_json(trace):
    assert nl.Trace.from_dict(json.loads(json.dumps(trace.to_dict()))) == trace


def test_a_line_of_a_mahimahi_file_is_1500_bytes(tmp_path):
    path = tmp_path / "up"
    # Ten in the first 100 ms, none in the second, one at the very end of the third.
    path.write_text("".join(f"{10 * k}\n" for k in range(1, 11)) + "300\n")
    trace = nl.Trace.from_mahimahi(path)
    assert trace.duration_s == 0.3
    assert trace.steps == [(0, pytest.approx(1.2)), (0.1, 0), (0.2, pytest.approx(0.12))]
    assert trace.mean_mbps() * 0.3 == pytest.approx(11 * 1500 * 8 / 1e6)


def test_line_counts_ip_packets_by_default(tmp_path):
    """Each line stands for a packet of 1500 bytes, as in mahimahi, whatever a link layer adds."""
    (tmp_path / "up").write_text("1\n")
    trace = nl.Trace.from_mahimahi(tmp_path / "up")
    assert trace.to_dict() == {"trace": [[0.0, 12.0]], "duration_s": 0.001, "framing": "ip"}
    assert nl.Trace.from_dict(json.loads(json.dumps(trace.to_dict()))) == trace
    words = json.loads(json.dumps(nl.Link("a", "b", rate_mbps=trace).to_dict()))
    assert nl.Link(**words).forward.rate_mbps == trace
    for given_framing, own, counted in (("ip", "tc", "ip"), (None, "tc", "tc"), (None, "ethernet", "ethernet")):
        trace = nl.Trace.from_mahimahi(tmp_path / "up", framing=given_framing)
        shape = nl.Link("a", "b", rate_mbps=trace, framing=own).forward
        assert shape.problems("") == [] and shape.to_plan()["framing"] == counted


def test_packet_sizes_of_trace_and_link_agree():
    with pytest.raises(ScenarioError) as raised:
        nl.Topology(
            hosts=["h1", "h2"],
            links=[
                nl.Link("h1", "h2", rate_mbps=nl.Trace([(0, 5)], framing="ip"), framing="ethernet"),
                nl.Link("h1", "h2", rate_mbps=nl.Trace([(0, 5)], framing="mpls")),
                nl.Link("h1", "h2", rate_mbps=5, framing="ip", segmentation_offload=True),
            ],
        )
    messages = [problem.partition(": ")[2] for problem in raised.value.problems]
    assert any(each.startswith("framing='ethernet' contradicts the trace, whose rate counts 'ip'") for each in messages)
    assert any("framing: got 'mpls'; allowed: tc, ethernet, ip" in each for each in messages)
    assert any(each.startswith("segmentation_offload=True does not go with framing='ip'") for each in messages)


def test_a_change_takes_the_framing_of_a_trace_along_and_away_again():
    trace = nl.Trace([(0, 12), (1, 6)], framing="ip")
    network = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5)])
    changes = [nl.Change(at_s=at_s, link=("h1", "h2"), rate_mbps=rate) for at_s, rate in ((1, trace), (2, 6), (3, 7))]
    planned = nl.Scenario(network, [nl.Tcp("h1", "h2")], changes=changes).plan()["changes"]
    assert [each["shape"].get("framing") for each in planned if not each["direction"]] == ["ip", "tc", None]


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=300), st.sampled_from([0.001, 0.02, 0.1, 1.0]))
def test_no_opportunity_of_a_mahimahi_file_is_lost(tmp_path_factory, moments_ms, interval_s):
    path = tmp_path_factory.mktemp("trace") / "up"
    path.write_text("\n".join(map(str, sorted(moments_ms))))
    trace = nl.Trace.from_mahimahi(path, interval_s=interval_s)
    assert trace.duration_s == max(moments_ms) / 1000
    assert trace.mean_mbps() * trace.duration_s == pytest.approx(len(moments_ms) * 1500 * 8 / 1e6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no moment after 0 ms"),
        ("5\nx\n-3\n7.5\n", "line 2: 'x' is not a moment"),
        ("5\n3\n", "line 2: 3 ms is before the 5 ms"),
        ("999999999\n", "is not a moment"),
        ("0.5 1.2\n1.0 0.9\n", r"rows of two numbers \('0.5 1.2'\), so it is not of mahimahi; .*use nl.Trace"),
        ("time,bandwidth\n0,5.2\n1,3.1\n", r"rows of two numbers \('0,5.2'\)"),
    ],
)
def test_every_invalid_line_is_reported(tmp_path, text, message):
    path = tmp_path / "up"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=message):
        nl.Trace.from_mahimahi(path)


def test_a_file_is_not_cut_into_more_intervals_than_there_is_memory_for(tmp_path):
    path = tmp_path / "up"
    path.write_text("1000001\n")
    with pytest.raises(ScenarioError, match=r"interval_s=0.001 makes 1000001 intervals of .*up; 1000000 is the most"):
        nl.Trace.from_mahimahi(path, interval_s=0.001)
    path.write_text("1000000\n")
    assert nl.Trace.from_mahimahi(path, interval_s=0.001).duration_s == 1000


def test_the_mark_that_windows_writes_in_front_of_a_text_is_no_part_of_the_first_line(tmp_path):
    path = tmp_path / "up"
    path.write_text("1\r\n2\r\n", encoding="utf-8-sig")
    assert nl.Trace.from_mahimahi(path).mean_mbps() == pytest.approx(12), "1500 bytes in each ms"


def test_missing_file_is_reported(tmp_path):
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        nl.Trace.from_mahimahi(tmp_path / "up")


@pytest.mark.parametrize(
    ("steps", "duration_s", "message"),
    [
        ("fast", None, "must be a list"),
        ([], None, "must be a list"),
        ([(1, 5)], None, "step 1 must begin at 0 s, got 1"),
        ([(0, 5), (0, 2)], None, "step 2 must begin at least 0.001 s after the one before"),
        ([(0, 5), (1e308, 2)], None, "step 2 must begin at 86400 s at the latest"),
        ([(0, -5)], None, "step 1 must have a rate of 0 or from 0.001 to 100000, got -5"),
        ([(0, math.nan)], None, "step 1 must be a time in s and a rate"),
        ([(0, 5), 3], None, "step 2 must be a time in s and a rate"),
        ([(0, 0), (5, 0)], None, "rate of 0 all the time"),
        ([(0, 5), (10, 2)], 5, "duration_s must be from 10.001"),
    ],
)
def test_mistake_in_a_trace_is_reported_with_those_of_its_link(steps, duration_s, message):
    trace = nl.Trace(steps, duration_s)
    with pytest.raises(ScenarioError, match=message) as raised:
        nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=trace, loss_rate=2)])
    assert len(raised.value.problems) == 2


@pytest.mark.parametrize("name", ["walk_4g", "train", "crowded_wifi"])
def test_a_shipped_trace_is_sound_and_makes_a_plan(name):
    trace = nl.Trace.named(name)
    assert trace.problems() == []
    network = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=trace)])
    plan = nl.Scenario(network, [nl.Tcp("h1", "h2")]).plan()
    assert [change["direction"] for change in plan["changes"]] == [0, 1]
    assert network.bottleneck_mbps("h1", "h2") == pytest.approx(trace.mean_mbps())


def test_trace_of_another_name_is_reported():
    with pytest.raises(ScenarioError, match="walk_4g"):
        nl.Trace.named("walk_5g")


def test_mininet_has_no_rate_that_changes():
    network = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=nl.Trace([(0, 5), (1, 2)]))])
    with pytest.raises(ScenarioError, match="no rate that changes with time"):
        network.to_mininet()


def test_the_longest_time_that_bits_take_is_in_the_slowest_step_or_over_an_outage():
    assert nl.Trace([(0, 5), (10, 2)]).slowest_s(2e6) == pytest.approx(1.0)
    assert nl.Trace([(0, 5), (2, 0), (3, 5)]).slowest_s(1e6) == pytest.approx(1.2)


@pytest.mark.parametrize(("wrong", "more"), [(5, []), (6, ["trace has 1 more such mistakes"])])
def test_the_first_five_mistakes_are_listed_and_the_others_counted(wrong: int, more: list[str]) -> None:
    found = nl.Trace([(float(number), -1.0) for number in range(wrong)]).problems()
    assert len(found[:5]) == 5 and all("must have a rate of 0 or from" in each for each in found[:5])
    assert found[5:] == more


def test_equal_traces_have_equal_hashes_and_one_with_problems_has_one() -> None:
    whole, real = nl.Trace([(0, 5), (10, 2)]), nl.Trace([[0.0, 5.0], [10.0, 2.0]])
    assert whole == real and len({whole, real}) == 1
    assert len({whole, nl.Trace([(0, 5), (10, 3)]), nl.Trace([(0, 5), (10, 2)], duration_s=30)}) == 3
    assert hash(nl.Trace([{}])) == hash(nl.Trace([{}])) and hash(nl.Trace(5)) == hash(nl.Trace(5))  # type: ignore[arg-type]
