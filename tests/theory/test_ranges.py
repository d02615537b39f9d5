"""What a formula does not accept is a sentence; what it accepts keeps its shape."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netlab import theory
from netlab.base.errors import NetlabError


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.mathis_mbps(1448, 20, 2.0), "for 2 % write 0.02"),
        (lambda: theory.mathis_mbps(1448, 20, 0.0), r"in \(0, 1\]"),
        (lambda: theory.pftk_mbps(1448, 20, 1.0), r"in \(0, 1\)"),
        (lambda: theory.udp_goodput_limit_mbps(-5), "above 0, got -5"),
        (lambda: theory.udp_goodput_limit_mbps(math.nan), "above 0, got nan"),
        (lambda: theory.udp_wire_bytes(0), "between 1 and 65507"),
        (lambda: theory.tcp_wire_bytes(1448, "wifi"), "one of tc, ethernet"),
        (lambda: theory.bottleneck([]), "at least one link"),
        (lambda: theory.jain_index([0, 0]), "at least one rate above 0"),
        (lambda: theory.max_min_mbps({}, {"a": ["x"]}), "has no capacity"),
        (lambda: theory.max_min_mbps({"x": math.inf}, {"a": ["x"]}), "Nothing limits the flow a"),
        (lambda: theory.max_min_mbps({"x": 1}, {"a": ["x"]}, {"b": 1}), "has no route"),
        (lambda: theory.fifo_network({"x": 1}, {"a": ["x"]}, {}), "same flows"),
    ],
)
def test_mistakes_are_sentences(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert isinstance(caught.value, NetlabError)
    assert str(caught.value).endswith(".")


def test_numbers_stay_numbers_and_arrays_keep_their_shape():
    assert type(theory.udp_goodput_mbps(1, 5)) is float
    grid = np.ones((2, 3))
    for result in (
        theory.udp_goodput_mbps(grid, 5),
        theory.udp_loss_rate(grid, 5),
        theory.window_limit_mbps(grid, 10),
        theory.mathis_mbps(1448, 20, grid / 10),
        theory.pftk_mbps(1448, 20, grid / 10),
    ):
        assert result.shape == grid.shape
