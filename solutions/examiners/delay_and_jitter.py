"""Mark the chapter "Delay and jitter": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "fill": Exercise(
        points=2,
        cases=lambda draw: {"goodput_mbps": draw.decades(20, 9000), "rtt_s": draw.decades(0.05, 4)},
        number=10,
        # The first window fills the one; the other needs 157 segments, a little less than the 160 of the fourth round.
        edges=[{"goodput_mbps": 8, "rtt_s": 0.004}, {"goodput_mbps": 36.4, "rtt_s": 0.05}],
    ),
    # The shares are for: one netem with the delay; the link; one flow; its rate; its time; delayed; no loss; no larger than
    # needed.
    "buffer": Exercise(points=3, shares=[0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.75, 0.75]),
    "jitter-words": WrittenAnswer(points=3),
}
