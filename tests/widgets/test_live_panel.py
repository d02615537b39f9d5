"""A live network that plays: what buttons, sliders and the page's beat do to it, and what it shows."""

from __future__ import annotations

import asyncio
import functools
import re
import signal
import sys
import types

import pytest

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.widgets import WIDGET_VIEW
from netlab_engines.lab import live_panel
from netlab_engines.lab.live_panel import live

pytestmark = pytest.mark.library

PAIR = ("r1", "h2")


def line(**fields):
    fields = {"rate_mbps": 10, "delay_ms": 5, "queue_packets": 50, **fields}
    return nl.Topology(hosts=["h1", "h2"], routers=["r1"], links=[nl.Link("h1", "r1"), nl.Link(*PAIR, **fields)])


@pytest.fixture
def panel(clock):
    created = live(line(), [nl.Tcp("h1", "h2"), nl.Udp("h1", "h2", rate_mbps=1)], first_s=2)
    yield created
    created.close()


def beat(panel, clock, count=1, seconds=0.1):
    for _ in range(count):
        clock.s += seconds
        panel.page_timer.value += 1


def picture(panel):
    return panel.box.children[-1].value


def curve(panel, number):
    points = re.findall(r'<polyline points="([^"]*)"', picture(panel))[number].split()
    return [tuple(map(float, point.split(","))) for point in points]


def test_panel_shows_the_first_seconds_and_waits(panel):
    assert panel.lab.now_s == pytest.approx(2)
    assert panel.lab.session.guest.name == "library"
    assert not panel.playing
    assert "<div>2.0 s, 10 times real time</div>" in picture(panel)


def test_its_curves_are_those_of_the_lab_and_grow_with_the_page_s_beat(panel, clock):
    panel.play()
    beat(panel, clock, count=3)
    assert panel.lab.now_s == pytest.approx(5)
    tcp = panel.lab.intervals.query("flow.str.contains('tcp') or flow.str.contains('cubic')")
    queue = panel.lab.queues.query("interface == 'r1-eth1'")
    window = curve(panel, 2)
    assert [t_s for t_s, _ in window] == pytest.approx(tcp.t_s.to_list())
    assert [value for _, value in window] == pytest.approx(tcp.cwnd_segments.to_list(), rel=1e-3)
    assert curve(panel, 3)[-1] == pytest.approx((5, queue.backlog_packets.iloc[-1]))
    means = tcp.goodput_mbps.rolling(5, min_periods=1).mean()
    assert [value for _, value in curve(panel, 0)] == pytest.approx(means.to_list(), rel=1e-3)
    assert [value for _, value in curve(panel, 1)][-1] == pytest.approx(1, rel=0.05)


def test_picture_has_a_description_in_words(panel, clock):
    panel.controls[PAIR, "rate_mbps"].value = 2
    words = re.search('role="img" aria-label="([^"]*)"', picture(panel))[1]
    assert words.startswith("Figure: 2.0 s. Goodput (Mbit/s): h1")
    assert "Queue (packets): queue r1 to h2 " in words
    assert words.endswith("At 2 s r1-h2: 2 Mbit/s.")


def test_sliders_change_links_while_the_network_runs_and_the_curves_mark_it(panel, clock):
    panel.play()
    beat(panel, clock)
    panel.controls[PAIR, "rate_mbps"].value = 2
    beat(panel, clock, count=12)
    panel.controls[PAIR, "queue_packets"].value = 7
    beat(panel, clock, count=3)
    link = panel.lab.topology.links[1]
    assert (link.forward.rate_mbps, link.backward.rate_mbps, link.forward.queue_packets) == (2, 2, 7)
    assert panel.playing and panel.message == ""
    assert panel.lab.queues.query("interface == 'r1-eth1' and t_s > 16").backlog_packets.max() <= 7
    assert "r1-h2: 2 Mbit/s" in picture(panel) and "r1-h2: 7 packets" in picture(panel)
    assert panel.figure.layout.shapes[0].x0 == pytest.approx(3)


def test_a_slider_leaves_the_way_back_where_it_is_another():
    panel = live(
        line(reverse={"rate_mbps": None, "queue_packets": None, "delay_ms": 20}), [nl.Tcp("h1", "h2")], first_s=1
    )
    panel.controls[PAIR, "rate_mbps"].value = 2
    panel.controls[PAIR, "loss_rate"].value = 0.01
    link = panel.lab.topology.links[1]
    assert (link.forward.rate_mbps, link.backward.rate_mbps, link.backward.delay_ms) == (2, None, 20)
    assert (link.forward.loss_rate, link.backward.loss_rate) == (0.01, 0.01)
    assert [change.words() for change in panel.lab.changes] == ["r1→h2: 2 Mbit/s", "r1-h2: loss 0.01"]
    panel.close()


def test_pause_step_slower_and_faster(panel, clock):
    panel.play()
    panel.buttons["Play"].click()
    beat(panel, clock)
    assert (panel.playing, panel.lab.now_s, panel.buttons["Play"].description) == (False, pytest.approx(2), "Play")
    panel.buttons["Step"].click()
    assert panel.lab.now_s == pytest.approx(3)
    panel.buttons["Slower"].click()
    panel.buttons["Step"].click()
    assert panel.lab.now_s == pytest.approx(3.5)
    for _ in range(9):
        panel.buttons["Faster"].click()
    panel.buttons["Step"].click()
    assert panel.lab.now_s == pytest.approx(13.5), "100 times real time is the most"


def test_beginning_again_keeps_the_sliders_and_forgets_the_curves(panel):
    before = panel.lab
    panel.controls[PAIR, "rate_mbps"].value = 2
    panel.buttons["Begin again"].click()
    assert before.closed and panel.lab.now_s == 0
    assert panel.lab.topology.links[1].forward.rate_mbps == 2 and panel.lab.changes == []
    panel.step()
    assert curve(panel, 0)[0][0] == pytest.approx(0.2)


def test_a_beat_that_comes_late_makes_up_for_a_little_only(panel, clock):
    panel.play()
    beat(panel, clock, seconds=60)
    assert panel.lab.now_s == pytest.approx(2 + 10 * live_panel.LATEST_S)


class Loop:
    """A fake event loop; `pass_s` lets time pass, and calls scheduled functions."""

    def __init__(self, clock):
        self._clock, self._calls = clock, []

    def call_later(self, wait_s, call, *words):
        handle = types.SimpleNamespace(cancelled=False)
        handle.cancel = lambda: setattr(handle, "cancelled", True)
        self._calls.append((self._clock.s + wait_s, handle, functools.partial(call, *words)))
        return handle

    def call_soon_threadsafe(self, call):
        self.call_later(0, call)

    def is_closed(self):
        return False

    def pass_s(self, seconds):
        end_s = self._clock.s + seconds
        while due := [each for each in self._calls if not each[1].cancelled and each[0] <= end_s]:
            first = min(due, key=lambda each: each[0])
            self._calls.remove(first)
            self._clock.s = first[0]
            first[2]()
        self._clock.s = end_s


@pytest.fixture
def loop(clock, monkeypatch, panel):
    created = Loop(clock)
    monkeypatch.setattr(live_panel, "_running_loop", lambda: created)
    return created


def test_the_kernel_makes_a_few_pictures_for_each_beat_and_waits_for_the_next(panel, loop):
    panel.play()
    panel.page_timer.value += 1
    loop.pass_s(9)
    assert panel.lab.now_s == pytest.approx(2 + live_panel.PICTURES_PER_MESSAGE * 0.1 * 10)


def test_timely_or_slightly_late_ticks_make_each_picture_once(panel, loop):
    panel.play()
    for wait_s in (0.3, 0.35, 0.05, 0.3):
        panel.page_timer.value += 1
        loop.pass_s(wait_s)
    assert panel.lab.now_s == pytest.approx(2 + 10 * 1.0)


def test_panel_plays_with_ticks_from_another_threads_loop(panel, clock, loop, monkeypatch):
    panel.play()
    panel.page_timer.value += 1
    # After a reload of the page, the earlier loop calls nothing any more, or still does.
    other = Loop(clock)
    monkeypatch.setattr(live_panel, "_running_loop", lambda: other)
    panel.page_timer.value += 1
    other.pass_s(0.2)
    assert panel.lab.now_s == pytest.approx(4)
    loop.pass_s(0)
    assert panel.lab.now_s == pytest.approx(4)


def test_a_pause_cancels_pending_drawings(panel, loop):
    panel.play()
    panel.page_timer.value += 1
    panel.pause()
    loop.pass_s(9)
    assert panel.lab.now_s == pytest.approx(2)


def test_panel_stops_at_its_end():
    panel = live(line(), [nl.Tcp("h1", "h2")], first_s=4, duration_s=4.5)
    panel.play()
    panel.step()
    assert panel.lab.now_s == pytest.approx(4.5) and not panel.playing
    panel.close()


def test_interrupted_first_seconds_leave_no_network_open(monkeypatch):
    created: list[live_panel.LivePanel] = []

    def interrupted(panel: live_panel.LivePanel, _duration_s: float) -> None:
        created.append(panel)
        raise KeyboardInterrupt

    monkeypatch.setattr(live_panel.LivePanel, "advance_by", interrupted)
    with pytest.raises(KeyboardInterrupt):
        live(line(), [nl.Tcp("h1", "h2")])
    assert created[0].lab.closed


def test_failure_is_a_sentence_in_the_panel(panel):
    panel.lab.close()
    panel.buttons["Step"].click()
    assert panel.message.startswith("This lab is closed") and not panel.playing
    assert 'role="alert"' in panel.box.children[-2].value
    panel.buttons["Begin again"].click()
    assert panel.message == "" and not panel.lab.closed


def test_a_page_without_widgets_has_the_first_seconds_as_a_figure(panel):
    forms = panel._repr_mimebundle_()
    assert WIDGET_VIEW in forms
    drawn = forms["application/vnd.plotly.v1+json"]
    assert {trace["name"] for trace in drawn["data"]} >= {"queue r1 to h2"}
    assert forms["text/plain"].startswith("LivePanel(Lab(")


def test_two_panels_with_the_same_seed_show_the_same():
    pictures = []
    for _ in range(2):
        panel = live(line(loss_rate=0.01), [nl.Tcp("h1", "h2")], first_s=5, seed=4)
        pictures.append(picture(panel))
        panel.close()
    assert pictures[0] == pictures[1]


def test_running_its_cell_again_closes_the_network(monkeypatch):
    parent = {"metadata": {"cellId": "one"}}
    shell = types.SimpleNamespace(get_parent=lambda: parent)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr("netlab_engines.lab.magics.register", lambda: None)
    first = live(line(), [nl.Tcp("h1", "h2")], first_s=1)
    parent["metadata"]["cellId"] = "another"
    other = live(line(), [nl.Tcp("h1", "h2")], first_s=1)
    assert not first.lab.closed
    parent["metadata"]["cellId"] = "one"
    second = live(line(), [nl.Tcp("h1", "h2")], first_s=1)
    assert first.lab.closed and not other.lab.closed
    second.close()
    other.close()


def test_an_interrupt_between_two_beats_pauses_it(clock):
    async def notebook():
        panel = live(line(), [nl.Tcp("h1", "h2")], first_s=1)
        panel.play()
        beat(panel, clock)
        await asyncio.sleep(0)
        signal.raise_signal(signal.SIGINT)
        assert not panel.playing
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        panel.close()

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        asyncio.run(notebook())
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_within_a_beat_pauses_it_and_leaves_it_usable(panel, clock, monkeypatch):
    program = panel.lab.session.guest._program
    listen = program.listen

    def heard(*words):
        signal.raise_signal(signal.SIGINT)
        listen(*words)

    panel.play()
    monkeypatch.setattr(program, "listen", heard)
    beat(panel, clock)
    assert not panel.playing
    monkeypatch.setattr(program, "listen", listen)
    panel.step()
    assert panel.lab.now_s > 2


def test_controls_are_the_requested_ones_with_their_ranges():
    panel = live(
        line(),
        [nl.Tcp("h1", "h2")],
        {PAIR: {"rate_mbps": (1, 20), "delay_ms": (0, 50), "loss_rate": None}},
        first_s=1,
    )
    rate, delay, loss = panel.controls.values()
    assert (10**rate.min, 10**rate.max, rate.description) == (
        pytest.approx(1),
        pytest.approx(20),
        "r1-h2 rate (Mbit/s)",
    )
    assert (delay.min, delay.max, delay.step) == (0, 50, 1)
    assert (loss.min, loss.max, loss.readout_format) == (0, 0.1, ".3f")
    panel.close()


def test_every_mistake_is_reported_at_once_and_nothing_is_opened(monkeypatch):
    monkeypatch.setattr("netlab_engines.lab.live.Lab", None)
    controls = {
        PAIR: ["speed", "rate_mbps"],
        ("r1", "h9"): ["rate_mbps"],
        ("h1", "r1"): ["rate_mbps"],
        "r1-h2": ["rate_mbps"],
    }
    with pytest.raises(ScenarioError) as caught:
        live(line(), [nl.Tcp("h1", "h7"), nl.Command("h1", "ls")], controls, pace=1000, first_s=-1)
    message = "\n".join(caught.value.problems)
    for words in (
        "traffic 1 (tcp): dst: got 'h7'",
        "controls r1-h2: field: got 'speed'; allowed: rate_mbps",
        "h9",
        "controls h1-r1: rate_mbps is not set",
        "controls: a link is named by its two nodes, such as ('r1', 'h2'), got 'r1-h2'",
        "pace must be from 0.1 to 100, got 1000",
        "first_s must be from 0 to 3600, got -1",
        "a panel runs no commands",
    ):
        assert words in message


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        ({PAIR: {"rate_mbps": (20, 1)}}, "rate_mbps: the slider's ends must be two numbers such as (1, 20)"),
        ({PAIR: {"rate_mbps": (20, 30)}}, "rate_mbps=10 is not from 20 to 30"),
        ({PAIR: {"rate_mbps": (0, 30)}}, "lower end must be above 0"),
        ({PAIR: "rate_mbps"}, "fields must be a list such as ['rate_mbps'], got 'rate_mbps'"),
        ([PAIR], "controls must be a dict"),
    ],
)
def test_wrong_control_is_refused_with_the_right_one(controls, words):
    with pytest.raises(ScenarioError, match=re.escape(words)):
        live(line(), [nl.Tcp("h1", "h2")], controls)


def test_a_network_without_rates_and_a_trace_under_a_slider_are_refused():
    with pytest.raises(ScenarioError, match="no link has a rate_mbps"):
        live(line(rate_mbps=None, queue_packets=None), [nl.Tcp("h1", "h2")])
    with pytest.raises(ScenarioError, match="rate_mbps is a trace"):
        live(line(rate_mbps=nl.Trace.named("train")), [nl.Tcp("h1", "h2")], {PAIR: ["rate_mbps"]})
