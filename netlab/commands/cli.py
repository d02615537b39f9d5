"""The console command `netlab`: a table of commands, each in a module of its own.

Only the chosen command is imported, so that `netlab perf` starts as fast as a small tool should.
"""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netlab.base.endings import ending_signals_raise
from netlab.base.errors import NetlabError, ScenarioError, one_of
from netlab.base.version import VERSION

EXIT_FAILED = 1
EXIT_MISTAKE = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT


@dataclass(frozen=True)
class Subcommand:
    """A command of `netlab`."""

    summary: str
    """Its line in the help."""
    module: str
    """Where `add_arguments(parser)` adds its options and `main(options)` runs it and returns the exit status."""

    def load(self) -> Any:
        """Import the module."""
        return importlib.import_module(self.module)


COMMANDS = {
    "lab": Subcommand("open your copies of the chapters in JupyterLab", "netlab.course.lab_command"),
    "progress": Subcommand("say what there is to learn and what you have passed", "netlab.course.progress_command"),
    "reset": Subcommand(
        "put a fresh copy of a chapter in place and keep yours beside it", "netlab.course.reset_command"
    ),
    "pdf": Subcommand("write a notebook with its figures as pages for paper", "netlab.course.pdf_command"),
    "run": Subcommand("run a scenario and print what its flows measured", "netlab.commands.run_command"),
    "live": Subcommand("build a network and open Mininet's prompt over it", "netlab.lab.live_command"),
    "attach": Subcommand("join a terminal that a notebook offers", "netlab.lab.attach_command"),
    "mininet": Subcommand("run a Mininet script without root", "netlab.lab.mininet_command"),
    "mn": Subcommand("run Mininet's own mn without root", "netlab.lab.mn_command"),
    "demo": Subcommand("run a first experiment and print theory beside measurement", "netlab.commands.demo"),
    "doctor": Subcommand("say what is there, what is missing and what to do", "netlab.commands.doctor"),
    "kernel": Subcommand("build, describe, pack or unpack the pocket kernel", "netlab.kernel.command"),
    "perf": Subcommand("measure throughput between two machines", "netlab.perf.command"),
    "replicate": Subcommand(
        "measure published numbers again and report both beside theory", "netlab.replication.command"
    ),
    "assign": Subcommand(
        "write a chapter's notebooks for a class, with numbers of each student's own", "netlab.grading.assign_command"
    ),
    "grade": Subcommand("grade a class's notebooks of one chapter in a sandbox", "netlab.grading.command"),
    "contest": Subcommand(
        "let a class's congestion controls compete on networks that they have not seen", "netlab.contest.command"
    ),
    "new-chapter": Subcommand(
        "write the skeleton of a chapter, which runs as it is", "netlab.course.new_chapter.command"
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after `netlab`; None takes the process's own.

    Returns
    -------
    int
        0 when all went well, 2 for a mistake in a scenario or in the options, 130 after Ctrl-C, else 1.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = _parser(given).parse_args(given)
        with ending_signals_raise():
            status: int = COMMANDS[options.command].load().main(options)
        sys.stdout.flush()
    except NetlabError as error:
        print(f"netlab: {error}", file=sys.stderr)
        return EXIT_MISTAKE if isinstance(error, ScenarioError) else EXIT_FAILED
    except KeyboardInterrupt:
        print("\nnetlab: stopped; nothing of it is kept.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (`| head`) has enough; the interpreter must not fail again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    return status


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="netlab", description="Learn how networks perform by running them.")
    parser.add_argument("--version", action="version", version=f"netlab {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="|".join(COMMANDS), required=True)
    for name, command in COMMANDS.items():
        own = commands.add_parser(
            name, help=command.summary, description=f"{command.summary[0].upper()}{command.summary[1:]}."
        )
        if name in given[:1]:
            command.load().add_arguments(own)
    for word in given[:1]:
        if word not in COMMANDS and not word.startswith("-"):
            parser.error(f"unknown command: {one_of(word, list(COMMANDS))}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
