"""How the chapter "Queues that speak up" is marked: hidden cases and points. For the instructor alone."""

from netlab_classroom.grading.examiner import Exercise, Words

EXERCISES = {
    # The scenario; enough seeds; the interval; the values drawn; the interval drawn; a named axis; the verdict.
    "repeated": Exercise(points=3, shares=[0.5, 0.25, 0.75, 0.5, 0.25, 0.25, 0.5]),
    "verdict-words": Words(points=3),
    # The link; long enough; CUBIC; marks; no loss; goodput.
    "ecn_run": Exercise(points=3, shares=[0.25, 0.25, 0.25, 0.75, 1.0, 0.5]),
    # The link; long enough; DCTCP; a step; full; nearly empty.
    "threshold_run": Exercise(points=3, shares=[0.25, 0.25, 0.25, 0.25, 1.0, 1.0]),
}
