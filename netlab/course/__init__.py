"""The chapters as a course: what there is, a student's own copies of them, and what is passed."""
