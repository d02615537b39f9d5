"""The library kernel's engine: what it measures, what it refuses, and how it ends."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import netlab as nl
from netlab.base.errors import EngineError, KernelError, RunError
from netlab_engines.kernels import library_kernel
from netlab_engines.library import engine
from netlab_engines.library.answers import Answers
from netlab_engines.library.requests import make_requests, random_key
from netlab_engines.library.wire_format import Request
from netlab_engines.planning.settings import MACHINE_SYSCTLS
from netlab_engines.planning.shaping import shape_network
from netlab_kernel import library_build
from tests.engines.library_runs import FRAME, dumbbell, routed, run

pytestmark = pytest.mark.library


@pytest.fixture(scope="module")
def one_flow() -> nl.Run:
    return run(dumbbell(), [nl.Tcp("h1", "h2")], duration_s=5)


# ---- what it measures


def test_a_tcp_flow_fills_the_bottleneck_to_what_the_headers_leave(one_flow: nl.Run) -> None:
    theory_mbps = 10 * 1448 / 1514
    assert one_flow.flows.goodput_mbps[0] == pytest.approx(theory_mbps, rel=0.005)
    assert one_flow.settings["engine"] == "library" and one_flow.settings["clock"] == "virtual"
    assert one_flow.intervals.goodput_mbps.iloc[5:].mean() == pytest.approx(theory_mbps, rel=0.005)


def test_an_echo_takes_the_wire_both_ways_and_its_bits_time_exactly() -> None:
    found = run(dumbbell(), [nl.Ping("h1", "h2", count=4)], duration_s=2)
    # 98 bytes of frame at 10 Mbit/s, twice, and 10 ms twice.
    assert list(found.pings.rtt_ms) == [pytest.approx(20 + 2 * 98 * 8 / 10e3, abs=1e-6)] * 4
    # A sleep may end 1 ns late, the least slack that Linux knows.
    assert list(found.pings.t_s) == [pytest.approx(at_s, abs=2e-9) for at_s in (0.0, 0.2, 0.4, 0.6)]


def test_evenly_spaced_datagrams_arrive_evenly_and_none_is_lost_below_the_rate() -> None:
    flow = run(dumbbell(), [nl.Udp("h1", "h2", rate_mbps=9, payload_bytes=1000)], duration_s=4).flows.iloc[0]
    assert (flow.sent_datagrams, flow.received_datagrams) == (4500, 4500)
    assert flow.jitter_ms == 0.0
    assert flow.delay_ms == pytest.approx(10 + 1042 * 8 / 10e3, abs=1e-3)


def test_too_many_datagrams_lose_what_the_bottleneck_cannot_carry() -> None:
    flow = run(dumbbell(), [nl.Udp("h1", "h2", rate_mbps=20)], duration_s=5).flows.iloc[0]
    assert flow.goodput_mbps == pytest.approx(10 * 1000 / 1042, rel=0.005)
    assert flow.loss_rate == pytest.approx(1 - 10 * 1000 / 1042 / 20, abs=0.01)


@pytest.mark.parametrize("seed", [0, 1, 7, 2**32 + 5, 2**64 - 1])
def test_random_moments_are_those_that_python_draws(seed: int) -> None:
    """No queue, no delay: datagrams arrive when they leave, and intervals of 1 ms tell how many in each."""
    duration_s, rate_mbps = 1.0, 4.0
    network = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2")])
    found = run(
        network,
        [nl.Udp("h1", "h2", rate_mbps=rate_mbps, spacing="random")],
        duration_s=duration_s, interval_s=0.001, seed=seed,
    )  # fmt: skip
    chance = random.Random(seed + 5001)  # noqa: S311 (no secret)
    total = round(rate_mbps * 1e6 * duration_s / 8000)
    left_share, moments = 1.0, []
    for left in range(total, 0, -1):
        left_share *= chance.random() ** (1 / left)
        moments.append(int((1 - left_share) * duration_s * 1e9))
    expected = [0] * 1000
    for moment in moments:
        expected[moment // 1_000_000] += 1
    got = [round(mbps * 1e6 * 0.001 / 8000) for mbps in found.intervals.goodput_mbps]
    assert got == expected[: len(got)] and sum(got) > 0.99 * total


def test_a_number_of_bytes_arrives_whole_and_ends_the_flow() -> None:
    flow = run(dumbbell(), [nl.Tcp("h1", "h2", num_bytes=500_000, streams=3)], duration_s=5).flows.iloc[0]
    assert flow.received_bytes == 500_000


def test_a_window_limits_a_flow_to_one_window_a_round_trip() -> None:
    window_bytes = 16_000
    found = run(dumbbell(queue_packets=200), [nl.Tcp("h1", "h2", window_bytes=window_bytes)], duration_s=5)
    rtt_s = found.flows.rtt_ms[0] / 1e3
    # Whole segments of 1448 bytes fit into it.
    assert found.flows.goodput_mbps[0] == pytest.approx(window_bytes // 1448 * 1448 * 8 / rtt_s / 1e6, rel=0.03)


def test_small_segments_are_sent_as_asked_for() -> None:
    found = run(dumbbell(), [nl.Tcp("h1", "h2", mss_bytes=500)], duration_s=5)
    # 500 bytes of data, 52 of TCP and IP, 14 of Ethernet.
    assert found.flows.goodput_mbps[0] == pytest.approx(10 * 500 / 566, rel=0.01)


@pytest.mark.parametrize("congestion", ["reno", "cubic", "bbr", "dctcp", "vegas", "westwood", "htcp", "tahoe"])
def test_every_congestion_control_runs_and_is_itself(congestion: str) -> None:
    found = run(dumbbell(), [nl.Tcp("h1", "h2", congestion=congestion)], duration_s=5)
    assert found.flows.congestion[0] == congestion
    assert 8.5 < found.flows.goodput_mbps[0] < 9.57


def test_tahoe_falls_to_one_segment_where_reno_halves() -> None:
    lowest = {}
    for congestion in ("tahoe", "reno"):
        found = run(dumbbell(), [nl.Tcp("h1", "h2", congestion=congestion)], duration_s=10, interval_s=0.01)
        after_start = found.intervals[found.intervals.t_s > 2]
        lowest[congestion] = after_start.cwnd_segments.min()
    assert lowest["tahoe"] <= 2
    assert lowest["reno"] > 10


@pytest.mark.parametrize("aqm", ["red", "codel", "fq_codel", "pie", "fq_pie", "cake", "dualpi2", "choke"])
def test_active_queues_keep_the_delay_below_the_plain_queues(aqm: str) -> None:
    def mean_backlog(**words: Any) -> float:
        found = run(routed(**words), [nl.Tcp("h1", "h2")], duration_s=5)
        queue = found.queues[(found.queues.interface == "r1-eth1") & (found.queues.t_s > 2)]
        return float(queue.backlog_packets.mean())

    capabilities = library_kernel.find().capabilities
    if capabilities and aqm not in capabilities:
        pytest.skip(f"this kernel is older than {aqm}")
    assert mean_backlog(aqm=aqm) < 0.5 * mean_backlog()


@pytest.mark.parametrize(("options", "marks"), [({}, True), ({"ecn": True}, True), ({"ecn": False}, False)])
def test_fq_codel_marks_by_default_as_in_linux(options: dict[str, Any], marks: bool) -> None:
    """tc-fq_codel(8): "Unlike codel, ecn is turned on by default"."""
    fair = routed(aqm="fq_codel", aqm_options=options)
    found = run(fair, [nl.Tcp("h1", "h2")], duration_s=5, sysctls={"net.ipv4.tcp_ecn": 1})
    assert bool(found.queues.marks.max() > 0) is marks
    assert bool(found.flows.retransmits.sum() == 0) is marks


def test_fq_codel_treats_flows_that_do_not_ask_for_marks_as_before() -> None:
    """Linux's default, tcp_ecn=2, asks for none: the same packets are dropped with marks on and off."""
    tables = [
        run(routed(aqm="fq_codel", aqm_options={"ecn": ecn}), [nl.Tcp("h1", "h2")], duration_s=5).intervals
        for ecn in (True, False)
    ]
    pd.testing.assert_frame_equal(*tables)


def test_marks_are_counted_where_the_queue_and_the_flow_know_ecn() -> None:
    marking = routed(aqm="red", aqm_options={"ecn": True})
    found = run(marking, [nl.Tcp("h1", "h2")], duration_s=5, sysctls={"net.ipv4.tcp_ecn": 1})
    marked = found.queues[found.queues.interface == "r1-eth1"].marks.max()
    assert marked > 0 and found.flows.marks[0] > 0


def test_a_switch_forwards_between_its_ports() -> None:
    links = [nl.Link(host, "s1", rate_mbps=10, delay_ms=5) for host in ("h1", "h2", "h3")]
    network = nl.Topology(hosts=["h1", "h2", "h3"], switches=["s1"], links=links)
    found = run(network, [nl.Tcp("h1", "h2"), nl.Ping("h3", "h2", count=3)], duration_s=3)
    assert found.flows.goodput_mbps[0] > 9
    assert found.flows.loss_rate[1] == 0


def test_in_a_large_network_every_interface_is_up_before_the_traffic() -> None:
    """The kernel looks at a hundred interfaces a second; here are 484."""
    pairs = 120
    network = nl.topologies.dumbbell(pairs=pairs, rate_mbps=100, delay_ms=1, queue_packets=1000)
    pings = [nl.Ping(f"h{k}", f"h{k + pairs}", count=2) for k in range(1, pairs + 1)]
    assert list(run(network, pings, duration_s=1).flows.loss_rate) == [0.0] * pairs


def test_loss_is_random_and_follows_the_seed() -> None:
    link = nl.Link("h1", "h2", rate_mbps=10, delay_ms=10, loss_rate=0.05)
    network = nl.Topology(hosts=["h1", "h2"], links=[link])

    def loss_rate(seed: int) -> float:
        return float(run(network, [nl.Udp("h1", "h2", rate_mbps=8)], duration_s=10, seed=seed).flows.loss_rate[0])

    rates = [loss_rate(seed) for seed in (1, 2, 3)]
    assert rates[0] == loss_rate(1)
    assert len(set(rates)) == 3
    # 10 000 datagrams: five standard deviations of a binomial.
    for rate in rates:
        assert abs(rate - 0.05) < 5 * (0.05 * 0.95 / 10_000) ** 0.5


def measured(found: nl.Run) -> str:
    data = found.to_dict()
    for word in ("wall_s", "date"):
        data["settings"].pop(word)
    return json.dumps(data, sort_keys=True)


def test_equal_scenarios_give_equal_bytes() -> None:
    network = nl.topologies.dumbbell(pairs=2, rate_mbps=20, loss_rate=0.01, jitter_ms=2)
    traffic = [nl.Tcp("h1", "h3", congestion="bbr"), nl.Udp("h2", "h4", rate_mbps=2), nl.Ping("h1", "h3")]
    runs = {measured(run(network, traffic, duration_s=5, seed=7)) for _ in range(5)}
    assert len(runs) == 1


def test_concurrent_runs_do_not_disturb_each_other(one_flow: nl.Run) -> None:
    found: list[nl.Run] = []
    threads = [
        threading.Thread(target=lambda: found.append(run(dumbbell(), [nl.Tcp("h1", "h2")], duration_s=5)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {measured(each) for each in found} == {measured(one_flow)} and len(found) == 6


@pytest.mark.pocket
def test_runs_and_sweeps_take_it_by_themselves_where_a_scenario_has_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NETLAB_ENGINE", "NETLAB_KERNEL"):
        monkeypatch.delenv(variable, raising=False)
    plain = nl.Scenario(dumbbell(), [nl.Ping("h1", "h2", count=1)], 1.0)
    program = nl.Scenario(dumbbell(), [nl.Command("h1", "true"), nl.Ping("h1", "h2", count=1)], 1.0)
    swept = nl.sweep([plain, program], fresh=True, progress=False)
    single = [nl.run(scenario, progress=False) for scenario in (plain, program)]
    assert [[found.settings["engine"] for found in runs] for runs in (swept, single)] == [["library", "pocket"]] * 2
    assert [list(found.pings.rtt_ms) for found in swept] == [list(found.pings.rtt_ms) for found in single]


# ---- what it refuses, in a sentence


def test_a_command_is_refused_with_the_engine_that_can() -> None:
    with pytest.raises(EngineError, match="no programs.*engine='pocket'"):
        run(dumbbell(), [nl.Command("h1", "ls")], duration_s=1)


def test_a_setting_that_the_kernel_refuses_is_named_with_its_node() -> None:
    with pytest.raises(RunError, match=r"setting net\.ipv4\.no_such_thing was refused in h1: No such file"):
        run(dumbbell(), [nl.Tcp("h1", "h2")], duration_s=1, sysctls={"net.ipv4.no_such_thing": 1})


def test_a_sender_that_waits_is_refused_with_the_engine_that_can() -> None:
    plan = nl.Scenario(dumbbell(), [nl.Udp("h1", "h2", rate_mbps=1, send_buffer_bytes=212_992)], 1.0).plan()
    with pytest.raises(EngineError, match="does not support send_buffer_bytes of .*engine='pocket'"):
        engine.LibraryEngine().execute(plan)


def test_refused_message_is_reported_as_its_line() -> None:
    plan = nl.Scenario(dumbbell(), [nl.Ping("h1", "h2")], 1.0).plan()
    plan["routes"][0] = {**plan["routes"][0], "via": "192.0.2.1"}
    with pytest.raises(
        RunError, match=r"refused a line in \w+ \(Network is unreachable.*route add .* via 192\.0\.2\.1"
    ):
        engine.LibraryEngine().execute(plan)


def test_missing_kernel_is_reported_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NETLAB_LIBRARY", raising=False)
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    with pytest.raises(KernelError, match="netlab kernel build"):
        run(dumbbell(), [nl.Ping("h1", "h2")], duration_s=1)
    monkeypatch.setenv("NETLAB_LIBRARY", str(tmp_path / "nothing"))
    with pytest.raises(KernelError, match="which is not a program"):
        library_kernel.find()


def test_build_by_another_recipe_is_reported_and_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = library_kernel.find()
    if not own.build:
        pytest.skip("the program named by $NETLAB_LIBRARY stands alone")
    monkeypatch.delenv("NETLAB_LIBRARY", raising=False)
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("NETLAB_SHARED", str(tmp_path / "shared"))
    home = tmp_path / "libraries" / own.path.parent.name
    home.mkdir(parents=True)
    for name in ("config", library_kernel.PROGRAM):
        (home / name).symlink_to(own.path.parent / name)
    (home / "build.json").write_text(json.dumps({**own.build, "recipe": library_build.recipe_hash()}))
    assert library_kernel.find().path == home / library_kernel.PROGRAM
    (home / "build.json").write_text(json.dumps({**own.build, "recipe": "older"}))
    with pytest.raises(KernelError, match=r"built by another version of netlab.*netlab kernel build"):
        library_kernel.find()
    assert [kernel.path for kernel in library_kernel.builds()] == [home / library_kernel.PROGRAM], (
        "what there is is still listed"
    )


# ---- how it ends


# ---- the pieces


def test_requests_say_which_line_each_message_is() -> None:
    plan = nl.Scenario(dumbbell(), [nl.Tcp("h1", "h2"), nl.Udp("h1", "h2", rate_mbps=1)], 2.0).plan()
    ip, tc = shape_network(plan["directions"], "virtual", [], plan["seed"])
    requests = make_requests(plan, ip, tc, memory_bytes=1 << 28, start_s=0, machine_sysctls=MACHINE_SYSCTLS)
    assert requests.nodes == ["h1", "h2", "r1", "r2"]
    lines = [line for batches in requests.batches.values() for batch in batches for line in batch]
    assert sum(line.startswith("tc ") for line in lines) == sum(len(own) for own in tc.values())
    kinds, at, data = [], 0, requests.take()
    while at < len(data):
        kind, length = FRAME.unpack_from(data, at)
        kinds.append(kind)
        at += 8 + length
    assert kinds[0] == Request.START and kinds[-1] == Request.FLOW
    assert (
        kinds.count(Request.NODE) == 4
        and kinds.count(Request.FLOW) == 2
        and kinds.count(Request.SETTING) > 4 * len(plan["sysctls"])
    )


def test_a_seed_of_python_has_as_many_words_as_it_needs() -> None:
    assert random_key(0) == (1, (0, 0, 0, 0))
    assert random_key(2**64 + 3) == (3, (3, 0, 1, 0))


def test_a_connection_that_delivered_nothing_is_an_error_of_its_flow() -> None:
    plan = nl.Scenario(dumbbell(), [nl.Tcp("h1", "h2", streams=2)], 1.0).plan()
    answers = Answers(plan, [])
    assert answers.counters()["flows"][0]["error"] == "2 of 2 connections delivered nothing before the flow's end"
