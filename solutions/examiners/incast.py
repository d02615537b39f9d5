"""Mark the chapter "Incast": its points and hidden cases. For instructors only."""

from typing import Any

from netlab_classroom.grading.examiner import Draw, Exercise, WrittenAnswer


def _query(draw: Draw) -> dict[str, Any]:
    return {
        "servers": draw.whole(2, 64),
        "response_bytes": 1000 * draw.whole(20, 300),
        "rate_mbps": draw.one_of([100, 1000, 10_000]),
        # The time is long enough to be missed in an answer with the link's time alone.
        "rtt_ms": draw.decades(0.5, 20, digits=2),
    }


def _bound(draw: Draw) -> dict[str, Any]:
    short_ms = draw.whole(2, 20)
    return {
        "limit_ms": draw.whole(60, 200),
        "short_ms": short_ms,
        "slowest_ms": short_ms + draw.decades(4, 30, digits=2),
    }


def _room(draw: Draw) -> dict[str, Any]:
    return {
        "servers": draw.whole(68, 90),
        # With the fast links so much is on the path that data in place of whole frames gives another number.
        "rate_mbps": draw.one_of([1000, 8000, 10_000]),
        "rtt_ms": draw.decades(0.07, 0.1, digits=2),
    }


EXERCISES = {
    "ideal": Exercise(
        points=2,
        cases=_query,
        number=10,
        edges=[{"servers": 1, "response_bytes": 1_448_000, "rate_mbps": 1000, "rtt_ms": 0.1}],
        edge_points=0.5,
    ),
    "prediction-words": WrittenAnswer(points=2),
    "first_drop": Exercise(points=2),
    "timer-words": WrittenAnswer(points=3),
    "bound": Exercise(points=1, cases=_bound, number=10),
    # The shares are for: the rack; the seeds; no marks; one bound; in time; as computed.
    "timer_runs": Exercise(points=1, shares=[0.15, 0.15, 0.1, 0.1, 0.25, 0.25]),
    "room": Exercise(points=1.5, cases=_room, number=10),
    # The shares are for: the rack; the seeds; no timer; in time; as computed.
    "marks_runs": Exercise(points=1.5, shares=[0.25, 0.25, 0.25, 0.25, 0.5]),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "repeated": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
}
