"""Grading: reading submissions, judging them in a sandbox, reports; and the notebooks for a class."""
