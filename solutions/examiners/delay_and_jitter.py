"""Mark the chapter "Delay and jitter": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "fill": Exercise(
        points=2,
        cases=lambda draw: {"goodput_mbps": draw.decades(20, 9000), "rtt_s": draw.decades(0.05, 4)},
        number=10,
        edges=[{"goodput_mbps": 8, "rtt_s": 0.004}],  # the first window fills it
    ),
    # The shares are for: one netem with the delay; the link; one flow; its rate; long enough; delayed; no loss; no larger than
    # needed.
    "buffer": Exercise(points=3, shares=[0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.75, 0.75]),
    "jitter-words": WrittenAnswer(points=3),
}
