"""Live networks in the library kernel: traffic, changes, tables and captures, without programs."""

import signal

import pytest

import netlab as nl
from netlab import plots, theory
from netlab.base.errors import NotHereError, RunError, ScenarioError

pytestmark = pytest.mark.library


def line(**fields):
    fields = {"rate_mbps": 10, "delay_ms": 5, "queue_packets": 50, **fields}
    return nl.Topology(hosts=["h1", "h2"], routers=["r1"], links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", **fields)])


@pytest.fixture
def lab():
    with nl.live(line(), engine="library") as opened:
        yield opened


def test_traffic_continues_as_time_passes_and_tables_hold_all_samples_so_far(lab):
    flow = lab.start(nl.Tcp("h1", "h2"))
    lab.advance(5)
    first = flow.row.goodput_mbps
    lab.advance(5)
    assert first == pytest.approx(theory.tcp_goodput_limit_mbps(10), rel=0.1)
    assert flow.intervals.t_s.max() == 10
    assert flow.row.goodput_mbps == pytest.approx(theory.tcp_goodput_limit_mbps(10), rel=0.05)
    assert set(lab.queues.interface) == {"r1-eth1", "h2-eth0"}
    assert len(lab.queues) == 200
    assert lab.now_s == pytest.approx(10)
    assert lab.run.scenario["duration_s"] == lab.now_s, "a check that asks for so many seconds asks for those that were"


def test_flow_gives_the_same_result_as_in_a_run(lab):
    for item in (nl.Udp("h1", "h2", rate_mbps=4, duration_s=4.0, spacing="even"), nl.Ping("h2", "h1", count=10)):
        lab.start(item)
    lab.advance(6)
    run = nl.run(
        line(),
        [nl.Udp("h1", "h2", rate_mbps=4, duration_s=4.0, spacing="even"), nl.Ping("h2", "h1", count=10)],
        6,
        engine="library",
        progress=False,
    )
    for column in ("sent_datagrams", "received_datagrams", "loss_rate", "goodput_mbps"):
        assert lab.flows[column][0] == pytest.approx(run.flows[column][0]), column
    assert len(lab.run.pings) == 10
    # The ping starts one step of 10 ms later here.
    assert lab.run.pings.rtt_ms.median() == pytest.approx(run.pings.rtt_ms.median(), rel=0.05)


def test_a_flow_that_is_stopped_sends_no_more(lab):
    flows = [lab.start(nl.Tcp("h1", "h2")), lab.start(nl.Udp("h2", "h1", rate_mbps=1)), lab.start(nl.Ping("h1", "h2"))]
    lab.advance(2)
    for flow in flows:
        flow.stop()
    lab.advance(1)
    before = lab.flows
    lab.advance(3)
    after = lab.flows
    for column in ("received_bytes", "received_datagrams", "goodput_mbps"):
        if column in before:
            assert before[column].to_list() == pytest.approx(after[column].to_list(), nan_ok=True)


def test_links_change_are_cut_and_mended(lab):
    flow = lab.start(nl.Udp("h1", "h2", rate_mbps=20, spacing="even"))
    lab.advance(2)
    lab.link("r1", "h2").change(rate_mbps=2)
    lab.advance(2)
    lab.link("r1", "h2").down()
    lab.advance(2)
    lab.link("r1", "h2").up()
    lab.link("h1", "r1").change(rate_mbps=1)
    lab.advance(2)
    seconds = flow.intervals.groupby(flow.intervals.t_s.add(-1e-6) // 1).goodput_mbps.mean()
    limits = {rate: theory.udp_goodput_limit_mbps(rate, 1000) for rate in (10, 2, 1)}
    assert seconds[[1, 3, 5, 7]].to_list() == pytest.approx([limits[10], limits[2], 0, limits[1]], rel=0.03)
    assert "h1-eth0" in set(lab.queues.interface)


def test_a_link_follows_a_trace_from_its_change_on():
    with nl.live(line(rate_mbps=nl.Trace([(0, 8), (1, 2)])), engine="library") as lab:
        flow = lab.start(nl.Udp("h1", "h2", rate_mbps=30, spacing="even"))
        lab.advance(4)
        lab.link("r1", "h2").change(delay_ms=6)
        lab.advance(2)
        lab.link("r1", "h2").change(rate_mbps=nl.Trace([(0, 4), (1, 6)]))
        lab.advance(2)
        seconds = flow.intervals.groupby(flow.intervals.t_s.add(-1e-6) // 1).goodput_mbps.mean()
    limits = [theory.udp_goodput_limit_mbps(rate, 1000) for rate in (8, 2, 8, 2, 8, 2, 4, 6)]
    # Packets in flight, for 6 ms and a few frames, carry some of a second's rate into the next.
    assert seconds.to_list() == pytest.approx(limits, abs=0.12)


def test_packets_are_captured_from_one_moment_to_another(lab):
    lab.start(nl.Ping("h1", "h2", interval_s=0.1))
    lab.advance(1)
    capture = lab.capture("r1", "h2")
    lab.advance(1)
    packets = capture.packets
    lab.advance(1)
    # Ten requests and ten replies, each seen at both ends.
    assert 38 <= len(packets) <= 42


def test_commands_and_terminals_are_refused_with_the_remedy(lab):
    host = lab["h1"]
    for ask in (lambda: host.run("ls"), lambda: host.start("ls"), lambda: host.read("x"), host.terminal):
        with pytest.raises(NotHereError, match="no programs.*engine='pocket'"):
            ask()
    lab.advance(1)


def test_a_lab_that_is_closed_keeps_its_tables_and_takes_no_more():
    with nl.live(line(), engine="library") as lab:
        lab.start(nl.Tcp("h1", "h2"))
        lab.advance(2)
    assert lab.flows.goodput_mbps[0] > 5
    with pytest.raises(RunError, match="closed"):
        lab.advance(1)


def test_ctrl_c_ends_the_wait_and_leaves_the_lab_usable(lab, monkeypatch):
    flow = lab.start(nl.Tcp("h1", "h2"))
    program = lab.session.guest._program
    listen, parts = program.listen, []

    def heard(*words):
        parts.append(words)
        if len(parts) == 3:
            signal.raise_signal(signal.SIGINT)
        listen(*words)

    monkeypatch.setattr(program, "listen", heard)
    with pytest.raises(KeyboardInterrupt):
        lab.advance(3600)
    stopped_s = lab.now_s
    assert 0 < stopped_s < 1
    lab.advance(9)
    assert lab.now_s == pytest.approx(stopped_s + 9)
    assert flow.row.goodput_mbps == pytest.approx(theory.tcp_goodput_limit_mbps(10), rel=0.05)


def test_splitting_the_time_changes_no_result():
    def tables(part_s):
        with nl.live(line(loss_rate=0.01), seed=5, engine="library") as lab:
            lab.start(nl.Tcp("h1", "h2"))
            for number in range(1, round(6 / part_s) + 1):
                lab.session.request().advance(until_s=round(number * part_s, 9), progress_s=None)
            return {name: table for name, table in lab.run.to_dict().items() if name != "settings"}

    assert tables(0.002) == tables(6)


def test_plots_mark_changes_of_links(lab):
    lab.start(nl.Tcp("h1", "h2"))
    lab.advance(2)
    lab.link("h2", "r1").change(rate_mbps=4, reverse={"delay_ms": 9})
    lab.link("h2", "r1").change(rate_mbps=4)
    lab.advance(1)
    lab.link("r1", "h2").down()
    lab.advance(1)
    figure = plots.time_series(lab.run)
    assert sorted({line.x0 for line in figure.layout.shapes}) == [2, 3]
    assert [note.text for note in figure.layout.annotations] == ["h2-r1: 4 Mbit/s, back 9 ms", "r1-h2: down"]


def test_bad_traffic_and_changes_leave_a_lab_as_it_was(lab):
    with pytest.raises(ScenarioError):
        lab.start(nl.Tcp("h1", "h9"))
    with pytest.raises(ScenarioError):
        lab.link("r1", "h2").change(loss_rate=2)
    lab.start(nl.Ping("h1", "h2", count=3))
    lab.advance(2)
    assert lab.run.pings.rtt_ms.notna().all()


def test_the_same_requests_give_the_same_tables():
    def tables():
        with nl.live(line(loss_rate=0.01), seed=5, engine="library") as lab:
            lab.start(nl.Tcp("h1", "h2"))
            lab.advance(2)
            lab.link("r1", "h2").change(rate_mbps=3)
            lab.advance(3)
            return lab.run.to_dict()

    first, second = tables(), tables()
    assert {name: first[name] for name in first if name != "settings"} == {
        name: second[name] for name in second if name != "settings"
    }


def test_lines_of_tc_ip_and_sysctl_run_in_a_host(lab):
    assert lab["h1"].run("ip route").startswith("default via ")
    assert lab["h1"].run("sysctl -w net.ipv4.tcp_sack=0") == "net.ipv4.tcp_sack = 0\n"
    assert lab["h1"].run("tc qdisc add dev h1-eth0 root netem delay 50ms").exit_code == 0
    echoes = lab.start(nl.Ping("h1", "h2", count=3))
    lab.advance(4)
    assert len(lab.run.pings) == 3 and lab.run.pings.rtt_ms.min() > 60, echoes


def test_an_initial_window_is_refused_in_a_live_network(lab):
    with pytest.raises(ScenarioError, match="initial_window_segments cannot be set in a live network"):
        lab.start(nl.Tcp("h1", "h2", initial_window_segments=3))
