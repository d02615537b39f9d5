"""Mark the chapter "Queues that speak up": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "repeated": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
    "verdict-words": WrittenAnswer(points=3),
    # The shares are for: the link; long enough; CUBIC; marks; no loss; goodput.
    "ecn_run": Exercise(points=3, shares=[0.25, 0.25, 0.25, 0.75, 1.0, 0.5]),
    # The shares are for: the link; long enough; DCTCP; a step; full; nearly empty.
    "threshold_run": Exercise(points=3, shares=[0.25, 0.25, 0.25, 0.25, 1.0, 1.0]),
}
