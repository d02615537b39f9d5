"""The panel runs what its controls say and draws it with theory. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab_course.chapters import reliable_transfer
from netlab_course.chapters.reliable_transfer import experiments
from tests.drawn import PATIENCE_S, by_role


@pytest.mark.parametrize(
    ("scheme", "sender"), [("go-back-N", "GoBackNSender"), ("selective repeat", "SelectiveSender")]
)
def test_the_panel_draws_a_run_of_its_scheme_with_the_formula(scheme: str, sender: str) -> None:
    calls = []

    def fake(*, topology, progress, cancel):
        calls.append(topology)
        flow = {
            "goodput_mbps": float(experiments.theory_mbps(scheme, 16.0, 0.04)),
            "sent_datagrams": 500,
            "received_bytes": 400_000,
        }
        return SimpleNamespace(flows=pd.DataFrame([flow]))

    panel = reliable_transfer.begin().panel(run=fake)
    for name, value in {"window": 16, "loss_percent": 4.0, "draw": 3, "scheme": scheme}.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    scenario = calls[-1]
    (program,) = scenario.traffic
    assert scenario.problems() == [] and scenario.seed == 3
    assert scenario.topology.links[-1].forward.loss_rate == pytest.approx(0.04)
    assert type(program.sender).__name__ == sender and program.sender.window == 16
    (strip,) = by_role(panel, "residual")[-1:]
    assert strip.y == pytest.approx((0.0,), abs=1e-9), "the fake measures what theory says"
    assert "500 sent for 400 pieces" in panel.figure.layout.title.text
