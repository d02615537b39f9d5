"""Checks that speak to a student, and what a grader needs of them."""
