"""Students' congestion controls with mistakes."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest

import netlab as nl
from netlab.base.errors import NotHereError, RunError, ScenarioError
from netlab.runs.sweeps import SweepError
from netlab_engines.library.control import Ack, FlowInterface, Loss
from netlab_user_code import method_calls
from netlab_user_code.delivery import ProgramInterface
from tests.engines.controls import Control, Reno, path, run

pytestmark = pytest.mark.library


@pytest.mark.parametrize(
    ("codepoint", "settings", "message"),
    [
        (1, {}, "ect = 1 needs a connection with accurate ECN"),
        (1, {"net.ipv4.tcp_ecn": 1}, 'tcp_ecn": 3'),
        (2, {"net.ipv4.tcp_ecn": 3}, r"ect must be 0 for ECT\(0\) or 1 for ECT\(1\), got 2"),
    ],
)
def test_a_codepoint_that_cannot_be_sent_is_refused(codepoint: int, settings: dict[str, Any], message: str) -> None:
    class Marked(Control):
        def on_start(self, flow: Any) -> None:
            flow.ect = codepoint

    with pytest.raises(RunError, match=message):
        run(Marked, sysctls=settings)


@pytest.mark.parametrize("seen", [0, -3, math.nan, math.inf, 1e6, "12", None, True, [12]])
def test_invalid_window_is_reported_and_ignored(seen: Any) -> None:
    class Wrong(Control):
        def on_ack(self, ack: Any) -> None:
            self.flow.cwnd_segments = seen

    with pytest.raises(RunError) as raised:
        run(Wrong)
    assert "h1-h2 Wrong: Wrong.on_ack ended the run at 0.0" in str(raised.value)
    assert "cwnd_segments must be a number of segments from 1 to 100000, got" in str(raised.value)
    assert str(raised.value).endswith("self.flow.cwnd_segments = seen")


@pytest.mark.parametrize(
    ("name", "seen"), [("ssthresh_segments", 0), ("ssthresh_segments", None), ("pacing_mbps", -1), ("pacing_mbps", "2")]
)
def test_so_are_a_threshold_and_a_pace(name: str, seen: Any) -> None:
    class Wrong(Control):
        def on_start(self, flow: Any) -> None:
            setattr(flow, name, seen)

    with pytest.raises(RunError, match=f"{name} must be a number of"):
        run(Wrong)


def test_an_error_in_a_class_ends_the_run_with_its_line() -> None:
    class Wrong(Control):
        def on_loss(self, loss: Any) -> None:
            self.flow.cwnd_segments = self.window / 2  # type: ignore[attr-defined]

    with pytest.raises(
        RunError, match=r"Wrong\.on_loss ended the run at .* s: AttributeError: .* has no attribute 'window'"
    ) as raised:
        run(Wrong)
    assert "self.flow.cwnd_segments = self.window / 2" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda flow: setattr(flow, "cwnd", 5), r"flow.cwnd is unknown: .*ect; did you mean cwnd_segments\?"),
        (lambda flow: flow.window, r"flow.window is unknown: got 'window'; allowed: now_s, .*, ect\."),
        (lambda flow: sys.exit(), r"SystemExit\."),
    ],
)
def test_unknown_field_and_exit_are_reported(wrong: Any, message: str) -> None:
    class Wrong(Control):
        def on_start(self, flow: Any) -> None:
            wrong(flow)

    with pytest.raises(RunError, match=rf"Wrong\.on_start ended the run at .*{message} In line \d+: "):
        run(Wrong)


@pytest.mark.parametrize("given", [Ack, Loss, FlowInterface, ProgramInterface])
def test_unknown_field_is_reported_with_the_known_fields(given: Any) -> None:
    names = method_calls.NAMES[given.__name__]
    assert names == getattr(given, "_fields", names)
    assert all(hasattr(given, name) for name in names)


@pytest.mark.parametrize(
    ("on_ack", "advice"),
    [
        (lambda _ack: None, r"; write def on_ack\(self, ack\)"),
        (lambda _self, ack: setattr(ack, "rtt_ms", 5), "of an acknowledgement or a loss can be read, not set"),
        (lambda _self, ack: ack.delivered, "'delivered'; allowed: now_s, .*; did you mean delivered_segments"),
    ],
)
def test_a_slip_of_python_comes_with_advice(on_ack: Any, advice: str) -> None:
    with pytest.raises(RunError, match=advice):
        run(type("Wrong", (), {"on_ack": on_ack, "__module__": "student"}))


def test_class_that_needs_arguments_is_reported_before_the_run() -> None:
    class Wrong(Control):
        def __init__(self, window: int) -> None:
            self.window = window

    with pytest.raises(RunError, match=r"Wrong\.__init__ ended the run before it began: TypeError"):
        run(Wrong)
    assert run(Wrong(5)).flows.goodput_mbps[0] > 1


def test_a_loop_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_calls, "MAX_CALL_S", 0.3)

    class Endless(Control):
        def on_ack(self, ack: Any) -> None:
            while True:
                pass

    text = r"Endless\.on_ack ended the run at 0\.\d+ s: it did not return within 0\.3 s of computing\. In line "
    with pytest.raises(RunError, match=text):
        run(Endless)
    # In a sweep's threads there is no alarm.
    with pytest.raises(SweepError, match=text):
        nl.sweep([nl.Scenario(path(), [nl.Tcp("h1", "h2", congestion=Endless)], 1.0)], progress=False)


def test_ctrl_c_in_a_class_ends_the_run() -> None:
    class Interrupted(Control):
        def on_ack(self, ack: Any) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Interrupted)
    assert run(Control).flows.goodput_mbps[0] > 1


def test_no_other_engine_takes_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    from netlab import engines
    from netlab_engines.native import NativeEngine

    plan = nl.Scenario(path(), [nl.Tcp("h1", "h2", congestion=Reno)], 1.0).plan()
    with pytest.raises(NotHereError, match=r"h1-h2 Reno: custom classes work only with engine='library'"):
        NativeEngine().refuse(plan)
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    assert engines.decide(None, [plan]) == "library"


def test_a_scenario_file_holds_no_class() -> None:
    document = nl.Scenario(path(), [nl.Tcp("h1", "h2", congestion=Reno)], 1.0).to_dict()
    with pytest.raises(
        ScenarioError, match="congestion: Reno is a class, which a file cannot hold; run it from Python"
    ):
        nl.Scenario.from_dict(document)
