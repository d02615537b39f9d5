"""An answer that passes on what netlab's own function returns is told that it does not count; one written out is not."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import netlab as nl
from netlab import theory
from netlab.network.media import Wifi
from netlab_course.chapters import adaptive_video, how_sure, incast, short_flows, wifi
from netlab_course.chapters.adaptive_video.settings import stall_s
from netlab_course.chapters.incast.settings import ideal_ms
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Status
from netlab_course.function_checks import Function
from netlab_course.library_calls import NOT_COUNTED, is_one_of
from tests.chapters.checking import all_chapters, passes


def limit(name: str = "limit") -> Function:
    """Return a check whose right function is one of `netlab.theory`."""
    cases = [{"rate_mbps": 5, "payload_bytes": 1000}, {"rate_mbps": 8, "payload_bytes": 500}]
    reference: Callable[..., Any] = theory.udp_goodput_limit_mbps
    return Function(name=name, reference=reference, cases=cases, unit="Mbit/s", tolerance=0.005)


def written_out(rate_mbps: float, payload_bytes: int) -> float:
    return rate_mbps * payload_bytes / (payload_bytes + 42)


def called_by_name(rate_mbps: float, payload_bytes: int) -> float:
    from netlab.theory import udp_goodput_limit_mbps

    def inner(*values: float) -> float:
        return float(udp_goodput_limit_mbps(*values))

    sys.stdout.write("a line of a student's\n")
    return inner(rate_mbps, payload_bytes)


def of_a_building_block(rate_mbps: float, payload_bytes: int) -> float:
    return 8e-3 * payload_bytes / float(theory.transmission_delay_ms(payload_bytes + 42, rate_mbps))


class Caller:
    def __call__(self, rate_mbps: float, payload_bytes: int) -> float:
        return float(theory.udp_goodput_limit_mbps(rate_mbps, payload_bytes))


def parts_of_an_interval(values: list[float]) -> list[float]:
    mean, half = nl.interval(values)
    return [float(mean), float(half)]


def interval_written_out(values: list[float]) -> tuple[float, float]:
    """Netlab's factor of Student is a number that a formula needs; the rest is written out."""
    number, mean = len(values), sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / (number - 1)) ** 0.5
    return mean, float(theory.student_t(number)) * deviation / number**0.5


BORROWED: dict[str, tuple[Function, Callable[..., Any]]] = {
    "the function": (limit(), theory.udp_goodput_limit_mbps),
    "a lambda": (limit(), lambda *a, **b: nl.theory.udp_goodput_limit_mbps(*a, **b)),  # noqa: PLW0108
    "other names": (limit(), lambda rate_mbps, payload_bytes: theory.udp_goodput_limit_mbps(rate_mbps, payload_bytes)),  # noqa: PLW0108
    "a function in a function": (limit(), called_by_name),
    "a partial function": (limit(), functools.partial(theory.udp_goodput_limit_mbps)),
    "a chapter's": (judging_checks(incast.begin())["ideal"], lambda *a, **b: ideal_ms(*a, **b)),  # noqa: PLW0108
    "an interval": (judging_checks(how_sure.begin())["interval"], lambda values: nl.interval(values)),  # noqa: PLW0108
    "an interval as a tuple": (judging_checks(how_sure.begin())["interval"], lambda values: tuple(nl.interval(values))),
    "an interval as an array": (
        judging_checks(how_sure.begin())["interval"],
        lambda values: np.array(nl.interval(list(values))),
    ),
    "the parts of an interval": (judging_checks(how_sure.begin())["interval"], parts_of_an_interval),
    "with the rest of the formula": (
        judging_checks(short_flows.begin())["stairs"],
        lambda size_bytes, rtt_ms, initial_window_segments: (
            nl.theory.slow_start_rounds(size_bytes, initial_window_segments) * rtt_ms + rtt_ms / 2
        ),
    ),
    "a method": (
        judging_checks(wifi.begin())["air"],
        lambda payload_bytes, rate_mbps: (
            8 * payload_bytes / (95.5 + Wifi(rate_mbps=rate_mbps).exchange_us(payload_bytes + 28))
        ),
    ),
    "a cache": (
        limit(),
        functools.cache(lambda rate_mbps, payload_bytes: theory.udp_goodput_limit_mbps(rate_mbps, payload_bytes)),  # noqa: PLW0108
    ),
    "an object that can be called": (limit(), Caller()),
    "a bound method": (limit(), Caller().__call__),
    "another chapter's": (judging_checks(adaptive_video.begin())["stall"], lambda **q: stall_s(**q)),  # noqa: PLW0108
}


@pytest.mark.parametrize("way", BORROWED)
def test_a_library_function_used_by_an_answer_is_found(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    check, answer = BORROWED[way]
    told = check.verdict(answer)
    assert told.status is Status.FAILED and NOT_COUNTED in str(told)
    assert capsys.readouterr().out.count("a line") in (0, len(check.cases)), "no line is printed twice"


@pytest.mark.parametrize("answer", [written_out, of_a_building_block, lambda **q: 1.0 * written_out(**q)])
def test_a_function_that_is_written_out_counts(answer: Callable[..., Any]) -> None:
    passes(limit(), answer)
    assert NOT_COUNTED not in str(limit().verdict(answer))


def test_an_interval_that_is_written_out_counts() -> None:
    check = judging_checks(how_sure.begin())["interval"]
    passes(check, interval_written_out)
    assert NOT_COUNTED not in str(check.verdict(interval_written_out))


def test_a_function_that_answers_once_only_counts() -> None:
    """A probe may refuse a second search: its trials were right, and what happens later is no verdict."""
    left = [1, 2]

    def once(rate_mbps: float, payload_bytes: int) -> float:
        left.pop()
        return written_out(rate_mbps, payload_bytes)

    assert NOT_COUNTED not in str(limit().verdict(once))


def test_values_of_a_probe_are_the_students() -> None:
    """The best of a few probes is what an exercise asks for, though a chapter's function has computed it."""
    check = Function(
        name="best",
        reference=lambda probe: max(probe(servers) for servers in (1, 2)),
        cases=[{"probe": ideal_ms}],
        unit="ms",
        tolerance=0.01,
    )
    answer: Callable[..., Any] = lambda probe: max(probe(servers) for servers in (1, 2))  # noqa: E731
    passes(check, answer)
    assert NOT_COUNTED not in str(check.verdict(answer))


@pytest.mark.parametrize(
    ("topic", "key"),
    [
        (topic, key)
        for topic in all_chapters()
        for key, check in judging_checks(topic.begin()).items()
        # The exercises with a probe have no formula: their check hides the answer in it.
        if type(check) is Function and set(check.cases[0]) - {"probe", "transfer"}
    ],
    ids=lambda value: getattr(value, "__name__", value).rpartition(".")[2],
)
def test_the_right_function_of_a_check_does_not_count_in_another_one(topic: Any, key: str) -> None:
    check = judging_checks(topic.begin())[key]
    assert NOT_COUNTED in str(check.verdict(functools.partial(lambda right, **q: right(**q), check.reference)))


@pytest.mark.parametrize("filename", ["/x.py", "x.py", "<stdin>", "", "/a/chapters/b/check.py/c.py"])
def test_a_function_from_a_file_of_any_name_is_the_students(filename: str) -> None:
    made: dict[str, Any] = {}
    source = "def limit(rate_mbps, payload_bytes):\n    return rate_mbps * payload_bytes / (payload_bytes + 42)"
    exec(compile(source, filename, "exec"), made)  # noqa: S102 (the test's own code)
    assert not is_one_of(made["limit"], [theory.udp_goodput_limit_mbps])
    passes(limit(), made["limit"])
