"""Mark the chapter "Congestion control": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "cost": Exercise(
        points=2,
        cases=lambda draw: {"rate_mbps": draw.decades(2, 2000), "rtt_ms": draw.between(5, 300)},
    ),
    # The shares are for: one flow; Reno; the path; long enough; looked at often enough; the teeth.
    "sawtooth": Exercise(points=3, shares=[0.5, 0.5, 0.5, 0.25, 0.25, 1]),
    "free": Exercise(points=2),
    "stall-words": WrittenAnswer(points=3),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "repeated": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
}
