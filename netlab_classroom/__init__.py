"""Tools for classes: assign and grade chapters, and let a class's congestion controls compete."""
