"""The course: the table of contents, a student's own copies of the chapters, checks, and progress."""
