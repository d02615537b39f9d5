"""Checks of the chapter "Delay and jitter". The answers are below."""

import contextlib
import math
import re
from collections.abc import Mapping
from typing import Any

from netlab import theory
from netlab.measure.results import Run
from netlab.network.link import LinkShape
from netlab_course.chapters.delay_and_jitter.settings import IPERF_PAYLOAD_BYTES, NETEM_PACKETS
from netlab_course.conditions import (
    Condition,
    Measurement,
    link_in_words,
    links_on_path,
    traffic_in_words,
    traffic_items,
)
from netlab_course.function_checks import Function
from netlab_course.misconceptions import formula_slips
from netlab_course.own_numbers import StudentValues

_INITIAL_SEGMENTS = 10
_ROOM_TO_SPARE = 1.25
_START_S, _SEND_S = 0.5, 2
"""The earliest start of the flow, and the shortest time for which it sends, both in s."""
_OFF_AT_ZERO = {"loss", "duplicate", "corrupt"}
"""The options of netem that change nothing if their values are 0."""
_MS = {
    "": 1e-3,
    "us": 1e-3,
    "usec": 1e-3,
    "usecs": 1e-3,
    "ms": 1,
    "msec": 1,
    "msecs": 1,
    "s": 1e3,
    "sec": 1e3,
    "secs": 1e3,
}
"""The length in ms of each unit of time of `tc`; without a unit it takes microseconds."""


def _path_segments(goodput_mbps: float, rtt_s: float) -> float:
    """Return the number of segments of 1448 bytes in flight on a path with this goodput and round-trip time."""
    return goodput_mbps * 1e6 * rtt_s / (8 * theory.MSS_BYTES)


def fill_time_s(goodput_mbps: float, rtt_s: float) -> float:
    """Return the time in s from the first data until the window of slow start, at first 10 segments, fills a path with
    this goodput and round-trip time; 0 if the first window does.
    """
    return rtt_s * max(0, math.ceil(math.log2(_path_segments(goodput_mbps, rtt_s) / _INITIAL_SEGMENTS)))


class Checks:
    """The checks of the chapter "Delay and jitter", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.fill = Function(
            name="time to fill the path",
            same_as=(theory.slow_start_fill_s,),
            reference=fill_time_s,
            cases=[
                {"goodput_mbps": 25, "rtt_s": 0.5},
                {"goodput_mbps": 94.15, "rtt_s": 0.3},
                {"goodput_mbps": 94.15, "rtt_s": 3},
                {"goodput_mbps": 950, "rtt_s": 0.1},
                {"goodput_mbps": 5, "rtt_s": 0.005},
                # 40.1 segments: with a larger segment it would be less than the 40 of the second round.
                {"goodput_mbps": 9.3, "rtt_s": 0.05},
                # 39.3 segments: at the link's rate in place of the goodput, or with smaller segments, it would be more than 40.
                {"goodput_mbps": 9.1, "rtt_s": 0.05},
            ],
            unit="s",
            tolerance=0.001,
            misconceptions=formula_slips(
                lambda q: (
                    q.rtt_s * max(0, math.ceil(math.log2(_path_segments(q.goodput_mbps, q.rtt_s) * 1448 / 1500 / 10)))
                ),
                "Goodput is data, and a full segment has 1448 bytes of it: headers take the rest of the 1500.",
                lambda q: q.rtt_s * math.log2(_path_segments(q.goodput_mbps, q.rtt_s) / 10),
                "The window doubles once in each RTT: the number of rounds is whole. Round it up.",
                lambda q: q.rtt_s * math.floor(math.log2(_path_segments(q.goodput_mbps, q.rtt_s) / 10)),
                "In that round the window is still too small: round up, not down, and look at the window of one round alone.",
                lambda q: q.rtt_s * math.ceil(math.log2(_path_segments(q.goodput_mbps, q.rtt_s))),
                "The first window has 10 segments, not 1.",
                lambda q: q.rtt_s * math.ceil(math.log2(_path_segments(q.goodput_mbps, q.rtt_s) * 8 / 10)),
                "A segment has 1448 bytes, and a byte has 8 bits.",
                lambda q: q.rtt_s * math.ceil(math.log2(_path_segments(q.goodput_mbps, q.rtt_s) / 10)),
                "The first window fills so short a path: it takes 0 s, not less.",
                lambda q: q.rtt_s * math.ceil(math.log(_path_segments(q.goodput_mbps, q.rtt_s) / 10)),
                "`math.log` has the base e. The window doubles, so the base is 2: `math.log2`.",
                lambda q: float(math.ceil(math.log2(_path_segments(q.goodput_mbps, q.rtt_s) / 10))),
                "This is the number of rounds. How long is each?",
                lambda q: q.rtt_s * (1 + math.ceil(math.log2(_path_segments(q.goodput_mbps, q.rtt_s) / 10))),
                "One round too many: rounds are counted from 0, and the question is when the round begins.",
                lambda q: q.rtt_s * math.ceil(math.log2(_path_segments(q.goodput_mbps, q.rtt_s) / 1e6 / 10)),
                "The path seems to hold next to nothing: Mbit/s times 10**6 are bit/s.",
            ),
            hints=[
                "How many segments does the path carry in one RTT? How large is the window after k rounds?",
                "10 * 2**k must reach goodput_mbps * 1e6 * rtt_s / (8 * 1448); find the smallest whole k.",
                "Each of the k rounds lasts rtt_s. And if ten segments already fill the path?",
            ],
        )
        self.buffer = _buffer(own)


def _commands(run: Run, **words: Any) -> list[str]:
    """Return the texts of a run's commands whose fields in the scenario file have these values, such as `host="h1"`, in
    their order.
    """
    return [item["command"] for item in traffic_items(run, kind="command", **words)]


def _udp_value(run: Run, column: str) -> float:
    """Return the value of a column of `run.flows`, such as "loss_rate", for the only UDP flow of a run."""
    return float(run.flows.set_index("kind")[column]["udp"])


def _udp(run: Run) -> dict[str, Any]:
    """Return the fields of the only UDP flow of a run's scenario. Raises ValueError if it has none or several."""
    (flow,) = [item for item in run.scenario["traffic"] if item["kind"] == "udp"]
    return dict(flow)


def _netem(run: Run) -> dict[str, list[str]]:
    """Return the values of the options that a run's only command, on h1, gives to netem, by their names in `tc`, without
    values and options that change nothing because they are 0. Raises ValueError for other or several commands.
    """
    (command,) = _commands(run)
    _, netem, words = " ".join(_commands(run, host="h1")[0].split()).partition(" netem ")
    if not netem:
        raise ValueError(f"no netem: {command}")
    options: dict[str, list[str]] = {}
    values: list[str] = []
    for word in words.split():
        if word[0].isalpha():
            values = options.setdefault("delay" if word == "latency" else word, [])
        else:
            values.append(word)
    if "delay" in options and all(map(_is_zero, options["delay"][1:])):
        options["delay"] = options["delay"][:1]
    return {
        name: values
        for name, values in options.items()
        if name not in _OFF_AT_ZERO or not values or not all(map(_is_zero, values))
    }


def _is_zero(value: str) -> bool:
    """Return whether a value in a command is 0, such as "0", "0%" or "0.0ms"."""
    return re.fullmatch(r"0*\.?0*([a-z]*|%)", value.lower()) is not None and "0" in value


def _delay_ms(options: Mapping[str, list[str]]) -> float:
    """Return the delay in ms among the options of netem; not a number if there is none, if it varies or has an unknown
    unit.
    """
    delay = re.fullmatch(r"([\d.]+)([a-z]*)", " ".join(options.get("delay", [])).lower())
    return math.nan if delay is None else float(delay[1]) * _MS.get(delay[2], math.nan)


def _delays_only(run: Run, wait_ms: float) -> bool:
    """Return whether a run's only command makes a netem on h1 with this delay in ms, in any unit of `tc`, and with no
    other option than a limit.
    """
    options = _netem(run)
    return set(options) <= {"delay", "limit"} and math.isclose(_delay_ms(options), wait_ms)


def _commands_in_words(run: Run) -> str:
    """Return the commands of a run as text, with what is wrong with the options of its only netem."""
    told = ["; ".join(f"on {each['host']}: {each['command']}" for each in traffic_items(run, kind="command"))]
    with contextlib.suppress(ValueError):
        options = _netem(run)
        others = [" ".join([name, *values]) for name, values in options.items() if name not in ("delay", "limit")]
        if others:
            told.append(f"not asked for: {', '.join(others)}")
        if len(options.get("delay", [])) > 1:
            told.append("a second number after the delay lets it vary")
        elif re.fullmatch(r"[\d.]+", "".join(options.get("delay", []))):
            told.append(f"without a unit tc counts microseconds, so this delay is {_delay_ms(options):g} ms")
    return "; ".join(told) if told[0] else "no command"


def _limit_packets(run: Run) -> int:
    """Return the limit in packets that a run's only command gives to netem, 1000 if it gives none. Raises ValueError
    unless the limit is an integer without a unit.
    """
    (limit,) = _netem(run).get("limit", [str(NETEM_PACKETS)])
    return int(limit)


def _sending_time_s(run: Run) -> tuple[float, float]:
    """Return the start of the only UDP flow of a run, and how long it sends before the run's end, both in s."""
    start_s = _udp(run).get("start_s") or 0.0
    rest_s = run.scenario["duration_s"] - start_s
    return start_s, min(_udp(run).get("duration_s") or rest_s, rest_s)


def _sends_as_asked(run: Run) -> bool:
    """Return whether the only UDP flow of a run starts late enough and sends long enough."""
    start_s, send_s = _sending_time_s(run)
    return start_s >= _START_S and send_s >= _SEND_S


def _is_wire(run: Run) -> bool:
    """Return whether the hosts h1 and h2 of a run are joined by one link that limits and delays nothing, all the time."""
    both_ways = [links_on_path(run, *ends) for ends in (("h1", "h2"), ("h2", "h1"))]
    return both_ways == [[LinkShape()]] * 2 and not run.scenario.get("changes")


def _links_in_words(run: Run) -> str:
    """Return the links of a run and the number of its changes as text: "h1-h2 with delay_ms=100, 1 change"."""
    changes = len(run.scenario.get("changes", []))
    found = [link_in_words(link) for link in run.scenario["topology"]["links"]]
    return ", ".join(found + [f"{changes} change{'s' * (changes > 1)}"] * bool(changes))


def _buffer(own: StudentValues) -> Measurement:
    """Return the check of a student's run in which netem delays a flow, with a buffer that loses nothing and is at most a
    quarter larger than needed.
    """
    in_flight_packets = math.ceil(own.sent_mbps * 1e6 * own.wait_ms / 1000 / (IPERF_PAYLOAD_BYTES * 8))
    delays_only = Condition(
        lambda run: _delays_only(run, own.wait_ms),
        f"Exactly one command must run, on h1, and make a netem with a delay of {own.wait_ms} ms; a limit is the only "
        "other option that it may have.",
        f"It has the form `tc qdisc add dev h1-eth0 root netem delay {own.wait_ms}ms limit ...`.",
        _commands_in_words,
    )
    return Measurement(
        name="a buffer that is large enough",
        commands=True,
        conditions=[
            delays_only,
            Condition(
                _is_wire,
                "The hosts must be joined by one link without any limits and without a delay of its own.",
                'nl.Link("h1", "h2") is such a link.',
                _links_in_words,
            ),
            Condition(
                lambda run: (_udp(run)["src"], _udp(run)["dst"]) == ("h1", "h2"),
                "One UDP flow must go from h1 to h2.",
                "Look at the list of traffic that you gave to `nl.run`.",
                traffic_in_words,
            ),
            Condition(
                lambda run: (
                    math.isclose(_udp(run)["rate_mbps"], own.sent_mbps)
                    and _udp(run).get("payload_bytes") == IPERF_PAYLOAD_BYTES
                ),
                f"It must send {own.sent_mbps:g} Mbit/s in datagrams of {IPERF_PAYLOAD_BYTES} bytes.",
                "`nl.Udp` has `rate_mbps` and `payload_bytes`.",
                lambda run: f"{_udp(run)['rate_mbps']:g} Mbit/s, {_udp(run).get('payload_bytes')} bytes",
            ),
            Condition(
                _sends_as_asked,
                f"It must start at {_START_S} s or later, after the command, and send for {_SEND_S} s or more.",
                "`nl.Udp` has `start_s` and `duration_s`.",
                lambda run: "from {:g} s, for {:g} s".format(*_sending_time_s(run)),
            ),
            Condition(
                lambda run: _udp_value(run, "delay_ms") > 0.99 * own.wait_ms,
                f"The datagrams must be delayed by {own.wait_ms} ms.",
                "A command that failed delays nothing.",
                lambda run: f"{_udp_value(run, 'delay_ms'):.4g} ms on average",
                after=(delays_only,),
            ),
            Condition(
                lambda run: _udp_value(run, "loss_rate") == 0,
                "No datagram may be lost.",
                "Either the limit is too small, or the run ends before the last datagrams arrive.",
                lambda run: f"{100 * _udp_value(run, 'loss_rate'):.3g} % of them were",
            ),
            Condition(
                lambda run: _limit_packets(run) <= math.ceil(_ROOM_TO_SPARE * in_flight_packets),
                "The limit may be at most a quarter larger than needed.",
                "How many datagrams are in flight at once?",
                lambda run: f"limit {_limit_packets(run)}",
            ),
        ],
        right="The same rate, the same delay, and no loss: it was the buffer, not the delay.",
        hints=[
            "Every datagram stays in netem for the whole delay. How many are sent in that time?",
            "Datagrams in flight: rate in bit/s * delay in s / (8 * 1470).",
            (
                "Two items of traffic: nl.Command('h1', '...') and nl.Udp('h1', 'h2', ..., start_s=0.5, duration_s=2); "
                "duration_s=5 for the run."
            ),
        ],
    )
