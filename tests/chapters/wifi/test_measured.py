"""What the chapter's prose says, measured again."""

from __future__ import annotations

import pytest

from netlab.chapters.wifi import experiments
from tests.numbers import agrees

pytestmark = pytest.mark.pocket


def test_the_possible_settings_of_the_lab_lie_around_its_figure() -> None:
    table = experiments.tcp_over_air().set_index("before each large frame")
    for name, row in table.iterrows():
        agrees(f"{name} (Mbit/s)", row["here"], row["theory"], relative=0.02)
    assert table["here"].iloc[-1] < 14.4 < table["here"].iloc[-2]
