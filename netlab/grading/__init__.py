"""Grading: submissions read, graded in a sandbox, and reported; and the notebooks that a class is given."""
