"""The table of commands, and those that belong to no other room."""
