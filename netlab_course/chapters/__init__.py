"""The chapters' code: a package for each, with its settings, checks and panel, which its notebook imports."""
