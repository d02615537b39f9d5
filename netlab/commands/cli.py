"""The console command `netlab`: a table of commands, each with its own module.

Only the chosen command is imported, so that `netlab perf` starts quickly.
"""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from netlab.base.endings import ending_signals_raise
from netlab.base.errors import NetlabError, ScenarioError, one_of
from netlab.base.version import VERSION

EXIT_FAILED = 1
EXIT_MISTAKE = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT


COMMANDS: dict[str, tuple[str, str]] = {
    "lab": ("open your copies of the chapters in JupyterLab", "netlab.course.lab_command"),
    "progress": ("say what there is to learn and what you have passed", "netlab.course.progress_command"),
    "reset": ("put a fresh copy of a chapter in place and keep yours beside it", "netlab.course.reset_command"),
    "pdf": ("write a notebook with its figures as pages for paper", "netlab.course.pdf_command"),
    "run": ("run a scenario and print what its flows measured", "netlab.commands.run_command"),
    "live": ("build a network and open Mininet's prompt over it", "netlab.lab.live_command"),
    "attach": ("join a terminal that a notebook offers", "netlab.lab.attach_command"),
    "mininet": ("run a Mininet script without root", "netlab.lab.mininet_command"),
    "mn": ("run Mininet's own mn without root", "netlab.lab.mn_command"),
    "demo": ("run a first experiment and print theory beside measurement", "netlab.commands.demo"),
    "doctor": ("say what is there, what is missing and what to do", "netlab.commands.doctor"),
    "kernel": ("build, describe, pack or unpack the pocket kernel", "netlab.kernel.command"),
    "perf": ("measure throughput between two machines", "netlab.perf.command"),
    "replicate": ("measure published numbers again and report both beside theory", "netlab.replication.command"),
    "assign": (
        "write a chapter's notebooks for a class, with numbers of each student's own",
        "netlab.grading.assign_command",
    ),
    "grade": ("grade a class's notebooks of one chapter in a sandbox", "netlab.grading.command"),
    "contest": (
        "let a class's congestion controls compete on networks that they have not seen",
        "netlab.contest.command",
    ),
    "new-chapter": ("write the skeleton of a chapter, which runs as it is", "netlab.course.new_chapter.command"),
}
"""Each command with its text in the help, and the module that has `main(options)`, which runs it and returns the exit
status, and optionally
`add_arguments(parser)`, which adds its options.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `netlab`; None means those of the process.

    Returns
    -------
    int
        0 for success, 2 for a mistake in a scenario or in the options, 130 after Ctrl-C, else 1.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = _parser(given).parse_args(given)
        with ending_signals_raise():
            status: int = importlib.import_module(COMMANDS[options.command][1]).main(options)
        sys.stdout.flush()
    except NetlabError as error:
        print(f"netlab: {error}", file=sys.stderr)
        return EXIT_MISTAKE if isinstance(error, ScenarioError) else EXIT_FAILED
    except KeyboardInterrupt as interrupted:
        # An interrupt raised by netlab says what is kept; for any other interrupt this is unknown.
        print(f"\nnetlab: {str(interrupted) or 'stopped.'}", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of the output (`| head`) has closed it; prevent a second error when the interpreter flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    return status


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options of the chosen command."""
    parser = argparse.ArgumentParser(prog="netlab", description="Learn how networks perform by running them.")
    parser.add_argument("--version", action="version", version=f"netlab {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="|".join(COMMANDS), required=True)
    for name, (summary, home) in COMMANDS.items():
        own = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name in given[:1] and hasattr(module := importlib.import_module(home), "add_arguments"):
            module.add_arguments(own)
    for word in given[:1]:
        if word not in COMMANDS and not word.startswith("-"):
            parser.error(f"unknown command: {one_of(word, list(COMMANDS))}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
