"""Commands of this package, each with its line of help and its module."""

COMMANDS = {
    "run": ("run a scenario and print what its flows measured", "netlab.commands.run_command"),
    "doctor": ("say what is there, what is missing and what to do", "netlab.commands.doctor"),
}
