"""The table of commands, and the commands `run` and `doctor`."""
