"""The table of commands, and the commands `run`, `demo` and `doctor`."""
