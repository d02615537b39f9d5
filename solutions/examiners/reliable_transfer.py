"""Mark the chapter "Build a reliable transfer": its points and hidden cases. For instructors only."""

from typing import Any

from netlab_classroom.grading.examiner import Draw, Exercise, WrittenAnswer
from netlab_course.chapters.reliable_transfer.schedules import GO_BACK_N, SELECTIVE_REPEAT, STOP_AND_WAIT, schedule


def _names(draw: Draw, name: str, number: int, last: int) -> list[str]:
    return [f"{name} {draw.whole(1, last)}" for _ in range(number)]


def _losses(window: int | None, most_sent: int | None) -> Any:
    """A long transfer in which data and ACKs are lost, doubled and late at random."""

    def case(draw: Draw) -> dict[str, Any]:
        return schedule(
            "This schedule is drawn at random: data and ACKs are lost, doubled and late.",
            400,
            window,
            lost=[*_names(draw, "data", 12, 400), *_names(draw, "ack", 12, 400)],
            twice=[*_names(draw, "data", 8, 400), *_names(draw, "ack", 8, 400)],
            # An ACK without a window is later than the timer, so that it meets another piece.
            late_s=dict.fromkeys(_names(draw, "ack", 5, 400), 0.06 if window else 0.37),
            most_sent=most_sent,
        )

    return case


def _transfers(window: int | None, edges: Any, most_sent: int | None = 500) -> Exercise:
    """A protocol: drawn transfers, and as edges the schedules of the chapter, each for one usual fault."""
    cases = _losses(window, most_sent)
    return Exercise(points=4, cases=cases, number=3, edges=edges, edge_points=3)


EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "stop_and_wait": _transfers(None, STOP_AND_WAIT),
    "schedule": Exercise(points=2),
    # Each loss may cost the whole window.
    "go_back_n": _transfers(20, GO_BACK_N, most_sent=None),
    "selective_repeat": _transfers(20, SELECTIVE_REPEAT),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "beside": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
    "polite-words": WrittenAnswer(points=3),
}

UNMARKED = {
    "window": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
