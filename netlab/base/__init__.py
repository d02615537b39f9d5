"""Code that all packages share: errors, checks of values, units, paths, tables and progress bars."""
