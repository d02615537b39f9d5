"""What all rooms share: errors, checks of values, units, places of files, tables and progress on a terminal."""
