"""Mark the chapter "Your own congestion control": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "best": Exercise(points=2),
    # The shares are for: slow start; alone; halves, no timeout; adds one; two of it.
    "aimd": Exercise(points=3, shares=[0.5, 0.25, 1.0, 1.0, 0.25]),
    # The shares are for: power and goodput, which neither AIMD nor a window that never changes has; goodput; two of it; their queue.
    "mine": Exercise(points=4, shares=[3.0, 0.5, 0.25, 0.25]),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "repeated": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
    "fails-words": WrittenAnswer(points=3),
}

UNMARKED = {
    "delay": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
