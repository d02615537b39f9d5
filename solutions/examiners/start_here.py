"""How "Start here" is marked. For the instructor alone."""

from netlab_classroom.grading.examiner import Exercise

EXERCISES = {"rtt": Exercise(points=1)}
