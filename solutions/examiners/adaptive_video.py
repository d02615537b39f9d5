"""Mark the chapter "Adaptive video": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "stall": Exercise(
        points=2,
        cases=lambda draw: {
            "left_mbit": draw.decades(1, 40),
            "rate_mbps": draw.decades(0.3, 12),
            "buffer_s": draw.whole(1, 20),
        },
        edges=[{"left_mbit": 16, "rate_mbps": 1, "buffer_s": 16}, {"left_mbit": 1, "rate_mbps": 10, "buffer_s": 0}],
        edge_points=0.5,
    ),
    "fall-words": WrittenAnswer(points=2),
    "buffer": Exercise(
        points=3,
        cases=lambda draw: {"buffer_s": draw.whole(0, 200) / 10},
        number=12,
        edges=[{"buffer_s": 0}, {"buffer_s": 5}, {"buffer_s": 15}, {"buffer_s": 20}],
        edge_points=0.5,
    ),
    "measure-words": WrittenAnswer(points=2),
    "throughput": Exercise(points=2),
    # The shares are for: the student's own trace; a walk.
    "mine": Exercise(points=4, shares=[2.0, 2.0]),
}

UNMARKED = {
    "shown": "It stands after the summary. Its answer holds the rule itself, which the grader cannot call there.",
    "refute-words": "It follows from the exercise before, which is not marked.",
    "experience": "It stands after the summary: who stops there must not lose points by it. Its check says what is right.",
}
