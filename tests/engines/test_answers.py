"""The conversion of answers of the library kernel's program to rows, without the program."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import netlab as nl
from netlab_engines.library import answers, control, wire_format
from netlab_engines.library.wire_format import Answer
from netlab_engines.sockets.tcp_info import INFINITE_SSTHRESH
from tests.engines.test_requests import plan_of

NS = 10**9


def test_an_echo_that_came_back_has_its_time_and_one_that_did_not_has_none() -> None:
    used = answers.Answers(plan_of(nl.Ping("h1", "h2")), [])
    echoes = struct.pack("<QQQ", 1, NS, 20_500_000) + struct.pack("<QQQ", 2, 2 * NS, answers.NO_VALUE)
    used.take(Answer.ECHOES, struct.pack("<II", 0, 0) + echoes)
    assert used._echoes == {
        0: [{"seq": 1, "t_s": 1.0, "rtt_ms": 20.5}, {"seq": 2, "t_s": 2.0, "rtt_ms": None}],
    }


def test_a_connections_counters_are_found_by_name() -> None:
    # The order in the message: two times three numbers, then the reading.
    reading = [5000, 6000, 125_000, 10, 7, 20_000, 19_000, 1, 11, 4, 0, 2, 0]
    row = answers._tcp_row(
        wire_format.TCP_TOTAL.unpack(struct.pack("<IIIIQQQ3Q10I", 0, 3, 1, 0, NS, 2 * NS, 4 * NS, *reading))
    )
    assert {name: row[name] for name in ("stream", "connect_s", "first_s", "last_s", "received_bytes", "rtt_ms")} == {
        "stream": 3, "connect_s": 1.0, "first_s": 2.0, "last_s": 4.0, "received_bytes": 5000, "rtt_ms": 20.0,
    }  # fmt: skip
    assert (row["cwnd_segments"], row["ssthresh_segments"], row["timeouts"], row["delivery_rate_mbps"]) == (10, 7, 2, 1)


class Fixed:
    """Sets its window once, and hears of nothing."""

    def on_start(self, flow: Any) -> None:
        flow.cwnd_segments, flow.ssthresh_segments = 4, 8


@pytest.mark.parametrize(("threshold", "becomes"), [(6, 8), (20, 20), (INFINITE_SSTHRESH, INFINITE_SSTHRESH)])
def test_undone_loss_restores_the_window(threshold: int, becomes: int) -> None:
    """The kernel tells of an undo with the values before the loss; neither becomes smaller."""
    answering = control.ControlHandler("h1-h2", Fixed)

    def reply_to(event: int, window: int, ssthresh: int) -> tuple[int, ...]:
        state = control.STATE.pack(NS, 5001, event, 0, 1448, 0, window, ssthresh, 0, 0, 0, 0, 20_000, 19_000)
        return control.CONTROL.unpack(answering.answer(state))[:2]

    assert reply_to(control.START, 10, INFINITE_SSTHRESH) == (4, 8)
    assert reply_to(control.UNDO, 30, threshold) == (30, becomes)
    assert reply_to(control.UNDO, 12, 5) == (30, becomes)
