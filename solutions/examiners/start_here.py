"""Mark the chapter "Start here": its points. For instructors only."""

from netlab_classroom.grading.examiner import Exercise

EXERCISES = {"rtt": Exercise(points=1)}
