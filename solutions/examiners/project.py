"""Mark a project: a person reads all of it. For instructors only."""

from netlab_classroom.grading.examiner import Words

EXERCISES = {
    "question-words": Words(points=2),
    "prediction-words": Words(points=3),
    "experiment-words": Words(points=4),
    "intervals-words": Words(points=4),
    "figure-words": Words(points=3),
    "limits-words": Words(points=4),
}
