"""The contest: every hand-in's congestion control on networks that nobody has seen."""
