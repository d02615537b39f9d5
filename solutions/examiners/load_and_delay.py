"""Mark the chapter "Why is 95 % too much?": its points and hidden cases. For instructors only."""

from typing import Any

from netlab_classroom.grading.examiner import Draw, Exercise, WrittenAnswer


def _link(draw: Draw) -> dict[str, Any]:
    rate_mbps, payload_bytes = draw.decades(0.5, 500), draw.whole(32, 1472)
    load = draw.between(0.05, 0.97)
    return {
        "rate_mbps": rate_mbps,
        "payload_bytes": payload_bytes,
        "offered_mbps": load * rate_mbps * payload_bytes / (payload_bytes + 42),
    }


EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "mean_delay": Exercise(
        points=2,
        cases=_link,
        edges=[{"rate_mbps": 10, "payload_bytes": 1000, "offered_mbps": 1e-6}],
    ),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation; the accuracy.
    "busy": Exercise(points=4, shares=[0.5, 0.25, 1.25, 0.5, 0.25, 1.25]),
    "colleague-words": WrittenAnswer(points=3),
    "calls": Exercise(points=3),
}
