"""A live network does what it is told, repeats itself to the byte, and leaves nothing behind."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import netlab as nl
from netlab.base import scratch
from netlab.base.errors import RunError, ScenarioError
from netlab_engines.guests import Guest
from netlab_engines.lab.live import Lab
from netlab_engines.sandbox import group_state
from tests.waiting import wait_for

pytestmark = pytest.mark.pocket


def network() -> nl.Topology:
    return nl.Topology(
        hosts=["h1", "h2"],
        routers=["r1"],
        links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=5, delay_ms=10, queue_packets=100)],
    )


@pytest.fixture(scope="module")
def shared() -> Iterator[Lab]:
    with nl.live(network(), seed=3, wall_limit_s=30) as lab:
        yield lab


def test_a_command_runs_in_a_host_and_network_time_passes_for_it(shared: Lab) -> None:
    before_s = shared.now_s
    text = shared["h1"].run("ping -c3 -i1 h2")
    assert text.exit_code == 0
    assert "3 received, 0% packet loss" in text
    assert 2 < shared.now_s - before_s < 3


def test_starting_a_program_takes_a_millisecond(shared: Lab) -> None:
    """A command starts two programs for the host's shell; commands of the shell itself take no time."""

    def cost_ms(command: str) -> float:
        before_s = shared.now_s
        shared["h1"].run(command)
        return (shared.now_s - before_s) * 1000

    assert cost_ms("true") == pytest.approx(2, abs=0.3)
    assert cost_ms("/bin/true") == pytest.approx(3, abs=0.3)
    assert cost_ms("for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done") == pytest.approx(12, abs=0.3)
    assert cost_ms("/bin/true | /bin/true | /bin/true") == pytest.approx(3, abs=0.3), "side by side"


def test_a_host_knows_its_name_and_everybody_is_root(shared: Lab) -> None:
    assert shared["h2"].run("hostname; uname -n") == "h2\nh2\n"
    assert shared["r1"].run("cat /proc/sys/kernel/hostname") == "r1\n"
    assert shared["h1"].run("sudo hostname; sudo -u root id -un") == "h1\nroot\n"
    assert "10.0." in shared["h1"].run("getent hosts h1 h2")


def test_nothing_moves_between_commands(shared: Lab) -> None:
    """The clock of the guest goes on by what starting the programs of a command takes, and not by the wait."""

    def uptime_s() -> float:
        return float(shared["h1"].run("cat /proc/uptime").split()[0])

    before_s, before_now_s = uptime_s(), shared.now_s
    processor_s = _processor_s(shared)
    time.sleep(0.5)
    assert uptime_s() - before_s < 0.02 and shared.now_s - before_now_s < 0.01
    assert _processor_s(shared) - processor_s < 0.3, "a command took some, the wait none"


def _processor_s(lab: Lab) -> float:
    fields = Path(f"/proc/{cast('Guest', lab.session.guest).process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def test_a_shell_keeps_its_directory_and_variables(shared: Lab) -> None:
    shared["h1"].run("mkdir -p work; cd work; export COLOUR=green; twice() { echo $1 $1; }")
    assert shared["h1"].run("basename $PWD; echo $COLOUR; twice x") == "work\ngreen\nx x\n"
    assert shared["h2"].run("echo $COLOUR") == "\n", "each host has its own"


def test_the_exit_code_and_the_error_output_come_back(shared: Lab) -> None:
    text = shared["h1"].run("echo good; echo bad >&2; exit 3")
    assert (text, text.exit_code) == ("good\nbad\n", 3)


def test_text_comes_as_it_is_printed(shared: Lab) -> None:
    parts: list[str] = []
    shared["h1"].run("for i in 1 2 3; do echo $i; sleep 0.1; done", on_text=parts.append)
    assert parts == ["1\n", "2\n", "3\n"]


@pytest.mark.parametrize("shell", ["bash", "python3"])
def test_text_comes_before_its_program_stops_computing(shell: str, shared: Lab) -> None:
    lines = {"bash": "echo begins; while :; do :; done", "python3": "print('begins', flush=True)\nwhile True: pass"}
    shared["h1"].write("lines", lines[shell])
    with pytest.raises(KeyboardInterrupt):
        shared["h1"].run(f"{shell} lines", on_text=lambda _text: os.kill(os.getpid(), signal.SIGINT))


def test_a_server_in_the_background_answers(shared: Lab) -> None:
    shared["h2"].write("index.html", "hello from h2\n")
    server = shared["h2"].start("python3 -m http.server 80")
    shared.advance(1)
    fetch = "import urllib.request as u; print(u.urlopen('http://h2/').read().decode(), end='')"
    assert shared["h1"].run(f'python3 -c "{fetch}"') == "hello from h2\n"
    assert server.exit_code is None
    assert "GET / HTTP/1.1" in server.stop()


def test_a_command_behind_an_ampersand_does_not_hold_the_lab(shared: Lab) -> None:
    before_s = shared.now_s
    shared["h1"].run("sleep 1000 & echo started")
    assert shared.now_s - before_s < 1


def test_a_program_behind_an_ampersand_may_print_after_the_command_has_ended(shared: Lab) -> None:
    shared["h1"].run("(sleep 0.5; echo late; echo late >&2; echo written > late.txt) &")
    shared.advance(shared.now_s + 1)
    assert shared["h1"].run("cat late.txt") == "written\n"


def test_flows_have_figures_so_far_and_at_their_end(shared: Lab) -> None:
    flow = shared.start(nl.Tcp("h1", "h2"))
    shared.advance(10)
    early = flow.row
    shared.advance(10)
    flow.stop()
    stopped = flow.row
    shared.advance(5)
    assert early.goodput_mbps == pytest.approx(5 * 1448 / 1514, rel=0.02)
    assert stopped.goodput_mbps == pytest.approx(5 * 1448 / 1514, rel=0.01)
    assert flow.row.received_bytes == stopped.received_bytes, "a flow that was stopped sends no more"
    assert stopped.error is None
    assert flow.intervals.goodput_mbps.tail(150).head(50).mean() == pytest.approx(5 * 1448 / 1514, rel=0.01)
    assert shared.queues[shared.queues.interface == "r1-eth1"].backlog_packets.max() > 50


def test_a_link_takes_other_properties_while_it_carries_traffic() -> None:
    with nl.live(network(), seed=3) as lab:
        flow = lab.start(nl.Tcp("h1", "h2"))
        lab.advance(10)
        lab.link("r1", "h2").change(rate_mbps=2)
        lab.advance(20)
        sent_bytes = lab.queues[lab.queues.interface == "r1-eth1"].set_index("t_s").sent_bytes
        start_s = round(flow.row.start_s, 1)

        def sent_mbps(begin_s: float, end_s: float) -> float:
            one, two = (
                sent_bytes.iloc[(sent_bytes.index - start_s - t_s).to_series().abs().argmin()]
                for t_s in (begin_s, end_s)
            )
            return float(two - one) * 8 / 1e6 / (end_s - begin_s)

        assert sent_mbps(5, 10) == pytest.approx(5, rel=0.01)
        assert sent_mbps(15, 30) == pytest.approx(2, rel=0.01)
        lab.link("h2", "r1").change(delay_ms=50, reverse={"delay_ms": 20})
        flow.stop()
        lab.advance(2)
        assert lab.topology.links[1].forward.delay_ms == 20
        assert lab.topology.links[1].backward.delay_ms == 50
        text = lab["h1"].run("ping -c1 h2")
        assert 70 <= float(text.partition("time=")[2].split()[0]) < 75


def test_a_link_that_is_cut_loses_and_one_that_is_mended_carries(shared: Lab) -> None:
    shared.link("r1", "h2").down()
    assert "100% packet loss" in shared["h1"].run("ping -c2 -W1 h2")
    shared.link("r1", "h2").up()
    shared.advance(2)
    assert "2 received" in shared["h1"].run("ping -c2 h2")


def test_a_shared_medium_has_queues_and_stations_as_in_a_run() -> None:
    air = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", medium="802.11g", queue_packets=50)])
    flow = nl.Udp("h1", "h2", rate_mbps=60)
    with nl.live(air, seed=3) as lab:
        lab.start(flow)
        lab.advance(2)
        live = lab.run
    run = nl.run(air, [flow], duration_s=2, seed=3, progress=False)
    fullest = [one.queues[one.queues.interface == "h1-eth0"].backlog_packets.max() for one in (live, run)]
    assert fullest[0] == fullest[1] >= 49
    assert live.more["stations"].columns.equals(run.more["stations"].columns)
    sent = [one.queues[one.queues.interface == "h1-eth0"].sent_packets.iloc[-1] for one in (live, run)]
    assert sent[0] == pytest.approx(sent[1], rel=0.01)
    assert live.more["stations"].set_index("interface").frames["h1-eth0"] == sent[0]


def test_small_segments_are_packets_of_their_own_in_a_queue_as_in_a_run() -> None:
    """With the card's offload a queue that need not cut two of them would count them as one packet."""
    flow = nl.Tcp("h1", "h2", mss_bytes=536)
    with nl.live(network(), seed=3) as lab:
        lab.start(flow)
        lab.advance(5)
        live = lab.queues
    run = nl.run(network(), [flow], duration_s=5, seed=3, progress=False).queues
    for queues in (live, run):
        waiting = queues[(queues.interface == "r1-eth1") & (queues.backlog_packets > 0)]
        assert (waiting.backlog_bytes / waiting.backlog_packets).max() <= 536 + 66


def test_nothing_in_a_lab_sleeps_longer_than_it_asked_for(shared: Lab) -> None:
    """The kernel's usual slack would start a flow or end a program's sleep up to 50 us late, the least it knows 1 ns."""
    assert shared["h1"].run("cat /proc/self/timerslack_ns") == "0\n"


def test_a_loss_rate_that_is_added_shows(shared: Lab) -> None:
    shared.link("h1", "r1").change(loss_rate=0.5)
    text = shared["h1"].run("ping -c200 -i0.1 -q h2")
    lost = float(text.partition("received, ")[2].partition("%")[0])
    # Half of the requests and half of the replies: three of four. 200 draws: a deviation of 3 %.
    assert 65 < lost < 85
    shared.link("h1", "r1").change(loss_rate=0.0)
    assert "5 received" in shared["h1"].run("ping -c5 h2")


def test_mistakes_are_reported_before_anything_happens(shared: Lab) -> None:
    with pytest.raises(ScenarioError, match="pace must be above 0"):
        shared.advance(5, pace=0)
    with pytest.raises(ScenarioError, match="h9"):
        shared["h9"]
    with pytest.raises(ScenarioError, match="h1-h2"):
        shared.link("h1", "h2")
    with pytest.raises(ScenarioError, match="loss_rate"):
        shared.link("r1", "h2").change(loss_rate=2.0)
    with pytest.raises(ScenarioError, match="rate_mpbs"):
        shared.link("r1", "h2").change(rate_mpbs=2.0)
    with pytest.raises(ScenarioError, match="filter"):
        shared.capture("r1", "h2", filter="tpc")
    with pytest.raises(ScenarioError, match="duration_s"):
        shared.advance(-1)
    with pytest.raises(RunError, match=r"h1: nothing cannot be opened \(No such file") as caught:
        shared["h1"].read("nothing")
    assert "Traceback" not in str(caught.value)


def test_missing_programs_of_a_plain_machine_are_replaced(shared: Lab) -> None:
    assert shared["h1"].address in shared["h1"].run("ifconfig h1-eth0")


def test_polling_loop_makes_progress(shared: Lab) -> None:
    code = "import time; end = time.time() + 0.2\nwhile time.time() < end: time.sleep(0)"
    before_s = shared.now_s
    assert shared["h1"].run(f'python3 -c "{code}"').exit_code == 0
    assert shared.now_s - before_s >= 0.2


def test_a_command_that_computes_for_ever_stops_at_the_wall_limit_and_the_lab_goes_on() -> None:
    with nl.live(network(), wall_limit_s=2) as lab:
        with pytest.raises(RunError, match="2 s of wall-clock time"):
            lab["h1"].run("while :; do :; done")
        assert lab["h1"].run("echo usable") == "usable\n"
        with pytest.raises(RunError, match="wall-clock time"):
            lab["h1"].run("trap '' INT; while :; do :; done")
        assert lab["h1"].run("echo usable") == "usable\n"


def test_ctrl_c_stops_the_command_and_leaves_the_lab_usable(shared: Lab) -> None:
    group = cast("Guest", shared.session.guest).process.pid
    before_s, _ = group_state(group)

    def stop() -> None:
        assert wait_for(lambda: group_state(group)[0] > before_s + 0.2), "the command does not compute"
        os.kill(os.getpid(), signal.SIGINT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(KeyboardInterrupt):
        shared["h1"].run("while :; do :; done")
    stopper.join()
    assert shared["h1"].run("echo usable") == "usable\n"


STORY = """
ping -c3 h2
ip -s link show h1-eth0
ping -f -c50 -q h2 | head -4
python3 -c "import random; print(random.random())"
cat /proc/uptime
ss -ti
date +%s.%N
"""


def story(seed: int, pauses: bool) -> tuple[list[str], bytes]:
    lossy = nl.Topology(
        hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=10, delay_ms=5, loss_rate=0.05, queue_packets=20)]
    )
    texts: list[Any] = []
    chance = random.Random(seed)  # noqa: S311 (the same pauses each time)
    with nl.live(lossy, seed=seed) as lab:
        capture = lab.capture("h1", "h2")
        lab["h2"].start("python3 -m http.server 80")
        lab.start(nl.Tcp("h1", "h2", congestion="bbr"))
        for line in STORY.strip().splitlines():
            if pauses:
                time.sleep(chance.random() / 5)
            texts.append(lab["h1"].run(line))
        lab.link("h1", "h2").change(rate_mbps=2)
        lab.advance(3)
        texts.append(lab.flows.to_json())
        texts.append(lab.queues.to_json())
        return texts, capture.stop().read_bytes()


def test_the_same_commands_give_the_same_bytes_whatever_the_pauses() -> None:
    texts, packets = story(5, pauses=False)
    again, packets_again = story(5, pauses=True)
    assert texts == again
    assert packets == packets_again
    other, packets_other = story(6, pauses=False)
    assert other != texts
    assert packets_other != packets


KILLED = """
    import time
    import netlab as nl
    lab = nl.live(nl.topologies.dumbbell(pairs=1))
    print("open", flush=True)
    while True:
        lab["h1"].run("ping -c5 h2; while [ $((i = i + 1)) -lt 20000 ]; do :; done")
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_lab_that_is_killed_leaves_nothing_behind(how: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(how)  # noqa: S311
    # Not pytest's own, whose path is too long for a socket.
    own = tempfile.TemporaryDirectory(prefix="netlab-killed-")
    monkeypatch.setenv("TMPDIR", own.name)
    for round_number in range(2):
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(KILLED)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert child.stdout is not None
        if round_number:
            assert child.stdout.readline() == "open\n"
        time.sleep(chance.random())
        child.send_signal(how)
        if how == signal.SIGINT:
            # The first stops the command in the guest; the program has to go on to its end.
            time.sleep(1)
            child.kill()
        child.wait()
        pid = child.pid
        assert wait_for(lambda pid=pid: not _guests_of(pid)), f"guests of {pid} are still there after {how.name}"
        with scratch.run_directory() as fresh:
            # A new run clears what a killed one left.
            left = {path for path in Path(own.name).rglob("*") if not path.is_dir() and fresh not in path.parents}
            assert left == {fresh.parent / scratch.LOCK}
    own.cleanup()


def _guests_of(pid: int) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(pid).encode() in words and any(b"launcher.py" in word for word in words):
            found.append(str(path))
        elif any(word.startswith(b"netlab_channel=") for word in words):
            parent = path.with_name("stat").read_text().rpartition(")")[2].split()[1]
            if parent in ("1", str(pid)):
                found.append(str(path))
    return found
