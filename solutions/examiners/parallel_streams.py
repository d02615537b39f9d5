"""Mark the chapter "Parallel streams": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    # The shares are for: the path; the flow; one connection; enough window; not too much; full.
    "my_run": Exercise(points=3, shares=[0.5, 0.25, 0.5, 0.75, 0.5, 0.5]),
    "lab-words": WrittenAnswer(points=3),
    # The shares are for: the rule's number; both scenarios; the seeds; both means; both intervals.
    "most": Exercise(points=3, shares=[0.5, 0.25, 0.25, 1.25, 0.75]),
}

UNMARKED = {
    "needed": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
