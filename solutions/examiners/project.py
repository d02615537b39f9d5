"""Mark a project: a person reads all of it. For instructors only."""

from netlab_classroom.grading.examiner import WrittenAnswer

EXERCISES = {
    "question-words": WrittenAnswer(points=2),
    "prediction-words": WrittenAnswer(points=3),
    "experiment-words": WrittenAnswer(points=4),
    "intervals-words": WrittenAnswer(points=4),
    "figure-words": WrittenAnswer(points=3),
    "limits-words": WrittenAnswer(points=4),
}
