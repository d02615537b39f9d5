"""Mark the chapter "Your own congestion control": its points and hidden cases. For instructors only."""

from typing import Any

from netlab_classroom.grading.examiner import Draw, Exercise, WrittenAnswer


def _window(draw: Draw) -> dict[str, Any]:
    return {
        "window_segments": draw.whole(4, 300),
        "rate_mbps": draw.between(2, 40),
        "base_rtt_ms": draw.whole(5, 200),
    }


EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "delay": Exercise(
        points=2,
        cases=_window,
        number=10,
        edges=[
            {"window_segments": 1, "rate_mbps": 10, "base_rtt_ms": 80},
            {"window_segments": 400, "rate_mbps": 3, "base_rtt_ms": 10},
        ],
    ),
    # The shares are for: slow start; alone; halves, no timeout; adds one; no growth of an unused window; two of it.
    "aimd": Exercise(points=3, shares=[0.5, 0.25, 1.0, 0.75, 0.25, 0.25]),
    # The shares are for: power and goodput, which neither AIMD nor a window that never changes has; goodput; two of it; their queue.
    "mine": Exercise(points=4, shares=[3.0, 0.5, 0.25, 0.25]),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "repeated": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
    "fails-words": WrittenAnswer(points=3),
}

UNMARKED = {
    "best": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
