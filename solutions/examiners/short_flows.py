"""Mark the chapter "Short flows": its points and hidden cases. For instructors only."""

from typing import Any

from netlab_classroom.grading.examiner import Draw, Exercise, WrittenAnswer


def _page(draw: Draw) -> dict[str, Any]:
    window = draw.whole(1, 45)
    # The size is any, or a little more than whole rounds carry, which tells 1448 bytes a segment from 1460.
    filled = int(1.004 * 1448 * window * (2 ** draw.whole(1, 4) - 1))
    return {
        "size_bytes": draw.one_of([draw.decades(500, 2e6, digits=3), filled]),
        "rtt_ms": draw.decades(5, 400),
        "initial_window_segments": window,
    }


EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "stairs": Exercise(
        points=3,
        cases=_page,
        number=10,
        # The sizes are a round that is full to the last byte, and one byte more.
        edges=[
            {"size_bytes": 1448 * 30, "rtt_ms": 100, "initial_window_segments": 10},
            {"size_bytes": 1448 * 30 + 1, "rtt_ms": 100, "initial_window_segments": 10},
        ],
        edge_points=0.5,
    ),
    "window": Exercise(points=2),
    "outlier-words": WrittenAnswer(points=3),
    # The shares are for: the traffic; the path; the cut; one packet sent again; a packet of the handshake.
    "cut": Exercise(points=3, shares=[0.25, 0.25, 0.5, 0.75, 1.25]),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "repeated": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
}

UNMARKED = {
    "staircase": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
