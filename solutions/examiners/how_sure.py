"""Mark the chapter "How sure are you?": its points and hidden cases. For instructors only."""

from typing import Any

from netlab_classroom.grading.examiner import Draw, Exercise, WrittenAnswer


def _values(draw: Draw) -> dict[str, Any]:
    """Some values that are not alike, and which of the two numbers is looked at."""
    scale = draw.decades(0.01, 100)
    return {
        "values": [round(scale * draw.between(1, 9), 4) for _ in range(draw.whole(3, 25))],
        "of": draw.one_of(["mean", "half width"]),
    }


EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "interval": Exercise(
        points=3,
        cases=_values,
        number=10,
        # The edges are the fewest values that have an interval, and runs that all agree.
        edges=[{"values": [0.5, 0.75], "of": "half width"}, {"values": [3.0, 3.0, 3.0], "of": "half width"}],
        edge_points=0.5,
    ),
    "runs": Exercise(points=2),
    # The shares are for: the three scenarios; the budget; enough pairs; the interval; the choice; sure of it.
    "decision": Exercise(points=4, shares=[0.5, 0.5, 0.5, 1.0, 1.0, 0.5]),
    "sentence-words": WrittenAnswer(points=3),
}
