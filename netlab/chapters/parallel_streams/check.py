"""Checks of the chapter "Parallel streams". Whoever reads on finds the answers."""

from __future__ import annotations

import math

from netlab import theory
from netlab.chapters.parallel_streams.settings import LOSS_RATE, RTT_MS, SLOW_MBPS, WAN_MBPS
from netlab.checks import Build, Condition, Function, Number, Trap
from netlab.traffic import Tcp

_WAN_LIMIT_MBPS = theory.tcp_goodput_limit_mbps(WAN_MBPS)
_PUBLISHED_MBPS = 7590.0
_SPARE = 1.1
_NEARLY = 0.9999
"""Who computes with 9564 Mbit/s, as the text has it, gets 23 910 000 bytes; the limit has decimals behind it."""


def _windows_mbps(streams: int, window_bytes: float, rtt_ms: float, limit_mbps: float) -> float:
    return min(streams * theory.window_limit_mbps(window_bytes, rtt_ms), limit_mbps)


windows = Function(
    name="goodput of K windows",
    reference=_windows_mbps,
    cases=[
        {"streams": 3, "window_bytes": 1_000_000, "rtt_ms": 40, "limit_mbps": 1000},
        {"streams": 1, "window_bytes": 8_388_608, "rtt_ms": 20, "limit_mbps": 9564},
        {"streams": 8, "window_bytes": 8_388_608, "rtt_ms": 20, "limit_mbps": 9564},
    ],
    unit="Mbit/s",
    tolerance=0.001,
    traps=[
        Trap(
            lambda streams, window_bytes, rtt_ms, limit_mbps: streams * theory.window_limit_mbps(window_bytes, rtt_ms),
            "Nothing stops it at the link's limit: however many windows there are, the link carries limit_mbps.",
        ),
        Trap(
            lambda streams, window_bytes, rtt_ms, limit_mbps: min(
                theory.window_limit_mbps(window_bytes, rtt_ms), limit_mbps
            ),
            "This is one connection. Each of the K has a window of its own.",
        ),
        Trap(
            lambda streams, window_bytes, rtt_ms, limit_mbps: min(
                streams * theory.window_limit_mbps(window_bytes, rtt_ms) / 8, limit_mbps
            ),
            "A window counts bytes, a rate counts bits: a byte has 8 bits.",
        ),
        Trap(
            lambda streams, window_bytes, rtt_ms, limit_mbps: min(
                streams * theory.window_limit_mbps(window_bytes, rtt_ms) / 1000, limit_mbps
            ),
            "It is a thousand times too small: the round-trip time is given in milliseconds.",
        ),
        Trap(
            lambda streams, window_bytes, rtt_ms, limit_mbps: limit_mbps,
            "This is the link's limit, but the windows need not fill the link. Is the rate in Mbit/s when it meets "
            "limit_mbps, and not in bit/s?",
        ),
    ],
    right="K connections have K windows, and nobody else has less for it, as long as the link is not full.",
    hints=[
        "In one round-trip time a connection can send one window. How much is that in a second? And K of them?",
        "One: window_bytes * 8 bits in rtt_ms / 1000 seconds. K: K times that. Then look at the link.",
        "min(streams * window_bytes * 8 / (rtt_ms * 1000), limit_mbps), in Mbit/s.",
    ],
)


def _window_mbps(flow: Tcp) -> float:
    return math.inf if flow.window_bytes is None else theory.window_limit_mbps(float(flow.window_bytes), RTT_MS)


single = Build(
    name="one connection that fills the link",
    kind=Tcp,
    conditions=[
        Condition(
            lambda flow: (flow.src, flow.dst) == ("h1", "h2") and not flow.problems("flow"),
            "It must be a TCP flow from h1 to h2 that can run.",
            "Copy the flow from above; its window is a whole number of bytes, and int(...) makes one.",
        ),
        Condition(
            lambda flow: flow.streams == 1,
            "It must be a single connection.",
            "Leave `streams` out.",
        ),
        Condition(
            lambda flow: _window_mbps(flow) >= _NEARLY * _WAN_LIMIT_MBPS,
            "By theory its window must allow what the link allows.",
            "Turn exercise 1 round: how many bytes must be under way, so that a window per 20 ms is 9564 Mbit/s?",
        ),
        Condition(
            lambda flow: _window_mbps(flow) <= _SPARE * _WAN_LIMIT_MBPS,
            "Its window must be no more than a tenth larger than needed.",
            "What is more than a busy link has under way in a round trip does not travel, it waits in the queue.",
        ),
    ],
    right="A window that fits the path does what several small ones do.",
    hints=[
        "The bandwidth-delay product is what a busy link has under way during a round trip.",
        "9564 Mbit/s for 0.02 s: how many bits is that, and how many bytes?",
        'nl.Tcp("h1", "h2", window_bytes=24_000_000) has 24 million bytes; 23.91 million are needed.',
    ],
)


def _rtt_ms(c: float) -> float:
    return theory.mathis_mbps(theory.MSS_BYTES, 1.0, LOSS_RATE, c) / _PUBLISHED_MBPS


rtt = Number(
    name="round trip behind the published figure",
    expected=_rtt_ms(theory.MATHIS_C),
    unit="ms",
    tolerance=0.01,
    traps=[
        Trap(
            _rtt_ms(1.0), "This is the formula with the constant 1, as the lab prints it. Take the square root of 3/2."
        ),
        Trap(_rtt_ms(theory.MATHIS_C) / 8, "A segment has 1448 bytes, a rate counts bits: a byte has 8 bits."),
        Trap(_rtt_ms(theory.MATHIS_C) / 1000, "This is in seconds. Asked are milliseconds."),
        Trap(
            _rtt_ms(theory.MATHIS_C) * math.sqrt(LOSS_RATE),
            "The loss rate has been left out: divide by its square root, 0.1.",
        ),
        Trap(_rtt_ms(theory.MATHIS_C) * 1000, "This is in microseconds. Asked are milliseconds."),
        Trap(
            _rtt_ms(theory.MATHIS_C) * theory.tcp_goodput_limit_mbps(1.0) ** -1,
            "The frame has 1514 bytes on the link. The formula counts the data in it, 1448 bytes.",
        ),
    ],
    right="That is a thousandth of the 20 ms. The next paragraph compares it with the lab's ping.",
    hints=[
        "The rate and the round-trip time are inversely proportional. What does the formula give for 20 ms?",
        "At 20 ms one connection gets 7.094 Mbit/s. How many times more is 7590 Mbit/s?",
        "20 ms * 7.094 / 7590.",
    ],
)


_FILLING = theory.tcp_goodput_limit_mbps(SLOW_MBPS) / theory.mathis_mbps(theory.MSS_BYTES, RTT_MS, LOSS_RATE)

free = Number(
    name="most connections that cost nobody anything",
    expected=4,
    unit="",
    tolerance=0.001,
    traps=[
        Trap(6, "This is how many fit on the link together. How many of them are h1's?"),
        Trap(5, "h2 has two, so then there are 7, and 7 * 7.094 = 49.66 Mbit/s are more than the link's 47.82."),
        Trap(8, "6 fit on the link together, and h2's two are among them. Take them off."),
        Trap(7, "7 connections want 49.66 Mbit/s, more than the link's 47.82. And two of all that fit are h2's."),
        Trap(
            _FILLING,
            "So many fill the link together. How many whole connections is that, and how many of them are h2's?",
        ),
        Trap(
            _FILLING - 2,
            "Connections come whole: with a fifth one of h1 the link would be full, and h2 would get less.",
        ),
        Trap(3, "There is room for more: with h2's two that is 5 * 7.094 = 35.47 Mbit/s of 47.82."),
        Trap(2, "There is room for more: with h2's two that is 4 * 7.094 = 28.38 Mbit/s of 47.82."),
    ],
    right="Up to there each connection is held back by the random losses alone, h2's too.",
    hints=[
        "What does each connection get while the link is not full? How many such connections fill the link?",
        "47.82 / 7.094 = 6.74. So how many whole connections fit without filling it, and how many are h2's?",
        "6 fit. Two are h2's.",
    ],
)


def _price(connections: float, mss_bytes: float, rtt_ms: float, limit_mbps: float) -> float:
    window = limit_mbps / connections * rtt_ms * 1000 / 8 / mss_bytes
    return 1.5 / window**2


price = Function(
    name="loss rate that N connections cause",
    reference=_price,
    cases=[
        {"connections": 10, "mss_bytes": 1448, "rtt_ms": 100, "limit_mbps": 28.69},
        {"connections": 3, "mss_bytes": 1448, "rtt_ms": 80, "limit_mbps": 28.69},
        {"connections": 34, "mss_bytes": 536, "rtt_ms": 100, "limit_mbps": 10},
    ],
    unit="",
    tolerance=0.005,
    traps=[
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: _price(1, mss_bytes, rtt_ms, limit_mbps),
            "This is for a single connection. Each of the N has only the Nth part of the limit.",
        ),
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: (
                _price(connections, mss_bytes, rtt_ms, limit_mbps) / connections
            ),
            "It grows with N, but should grow with its square: the share of each, L / N, is squared with the rest.",
        ),
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: _price(connections, mss_bytes, rtt_ms, limit_mbps) / 1.5,
            "The constant is missing: the square of sqrt(3/2) is 1.5.",
        ),
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: _price(connections, mss_bytes, rtt_ms, limit_mbps) / 64,
            "A segment has bytes, a rate counts bits: multiply mss_bytes by 8.",
        ),
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: math.sqrt(
                _price(connections, mss_bytes, rtt_ms, limit_mbps)
            ),
            "This is the square root of the loss rate. Square it.",
        ),
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: math.sqrt(
                1.5 * _price(connections, mss_bytes, rtt_ms, limit_mbps)
            ),
            "The constant is right, but what stands behind it must be squared.",
        ),
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: _price(1 / connections, mss_bytes, rtt_ms, limit_mbps),
            "N is upside down: the smaller the share of each, the more it must lose.",
        ),
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: (
                _price(connections, mss_bytes, rtt_ms, limit_mbps) * (8 / 3) / 1.5
            ),
            "8/3 belongs to the largest window. The rate follows the mean window, and there it is 3/2.",
        ),
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: _price(connections, mss_bytes, rtt_ms, limit_mbps) / 1e6,
            "The round-trip time is given in milliseconds, and it is squared: divide rtt_ms by 1000.",
        ),
        Trap(
            lambda connections, mss_bytes, rtt_ms, limit_mbps: (
                _price(connections, mss_bytes, rtt_ms, limit_mbps) * 1e12
            ),
            "The limit is given in Mbit/s, and it is squared: multiply limit_mbps by 1e6.",
        ),
    ],
    right="Twice the connections, four times the losses: for all that share the link.",
    hints=[
        "Each connection gets limit_mbps / connections. Put this into Mathis' formula as the rate and solve it for p.",
        "rate = sqrt(1.5 / p) * S / T, so p = 1.5 * (S / (T * rate))**2, with S in bits, T in s and the rate in bit/s.",
        "1.5 * (connections * mss_bytes * 8 / (rtt_ms / 1000 * limit_mbps * 1e6))**2.",
    ],
)
