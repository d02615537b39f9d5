"""Mark the chapter "Congestion collapse": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "repeated": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
    # The shares are for: the flows; the network; long enough; the share of dropped packets.
    "my_run": Exercise(points=2, shares=[0.5, 0.25, 0.25, 1]),
    "collapse-words": WrittenAnswer(points=3),
    "share": Exercise(points=2),
    # The shares are for: it can run; its links; one slower; plain queues; h1 saved; both saved.
    "rescue": Exercise(points=3, shares=[0.25, 0.25, 0.75, 0.25, 1, 0.5]),
}

UNMARKED = {
    "clockwork": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
