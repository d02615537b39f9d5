"""Mark the chapter "BDP": its points and hidden cases. For instructors only."""

from typing import Any

from netlab_classroom.grading.examiner import Draw, Exercise, WrittenAnswer
from netlab_course.chapters.bdp.check import PaperTransfer


def _path(draw: Draw) -> dict[str, Any]:
    links = draw.whole(1, 4)
    return {
        "rates_mbps": [draw.decades(1, 1000) for _ in range(links)],
        "delays_ms": [draw.between(0, 60) for _ in range(links)],
        "payload_bytes": draw.whole(16, 1400),
    }


EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "rtt": Exercise(
        points=2,
        cases=_path,
        edges=[
            {"rates_mbps": [10], "delays_ms": [0], "payload_bytes": 56},
            {"rates_mbps": [10, 10], "delays_ms": [5, 5], "payload_bytes": 0},
        ],
    ),
    # The shares are for: the scenario; enough seeds; the interval; the values drawn; the interval drawn; a named axis; the verdict.
    "repeated": Exercise(points=3, shares=[0.5, 0.25, 0.75, 0.5, 0.25, 0.25, 0.5]),
    # The shares are for: one flow; its window; one link with the rate; the delay; the router's queue; plain links; long enough; full.
    "overfull": Exercise(points=3, shares=[0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]),
    "waiting": Exercise(points=1),
    "uncle-words": WrittenAnswer(points=3),
    "window": Exercise(
        points=3,
        cases=lambda draw: {"transfer": PaperTransfer(draw.decades(20, 200), draw.between(10, 35))},
        number=5,
    ),
}
