"""How the chapter "Parallel streams" is marked: hidden cases and points. For the instructor alone."""

from netlab_classroom.grading.examiner import Exercise, Words

EXERCISES = {
    # The path; the flow; one connection; enough window; not too much; full.
    "my_run": Exercise(points=3, shares=[0.5, 0.25, 0.5, 0.75, 0.5, 0.5]),
    "lab-words": Words(points=3),
    # The scenario; enough seeds; the interval; the values drawn; the interval drawn; a named axis; the verdict.
    "repeated": Exercise(points=3, shares=[0.5, 0.25, 0.75, 0.5, 0.25, 0.25, 0.5]),
}

UNMARKED = {
    "needed": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
