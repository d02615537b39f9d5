"""Grading: submissions read, judged behind walls, and reported; and the notebooks that a class is given."""
