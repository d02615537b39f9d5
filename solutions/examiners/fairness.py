"""Mark the chapter "Fair by which measure?": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    # The shares are for: both scenarios; the numbers of runs; the plan; the interval; the word.
    "planned": Exercise(points=3, shares=[0.5, 0.5, 1.0, 0.5, 0.5]),
    "verdict-words": WrittenAnswer(points=3),
    "h2_delay": Exercise(points=2),
    # The shares are for: both rates; the path; three flows, long enough; a queue for each flow; equal; full.
    "fair_run": Exercise(points=3, shares=[0.25, 0.25, 0.5, 0.5, 1.0, 0.5]),
}
