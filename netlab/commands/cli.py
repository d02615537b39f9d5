"""The console command `netlab`: each command is a module of its own, named in the `command_table` of its package.

Only the chosen command is imported, so that `netlab perf` starts quickly.
"""

import argparse
import functools
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from netlab.base.errors import NetlabError, ScenarioError, one_of
from netlab.base.exit_signals import signals_raise_system_exit
from netlab.base.version import VERSION
from netlab.commands import contributions

NOT_MAPPED_TEXT = "failed to map segment from shared object"
EXIT_FAILED = 1
EXIT_MISTAKE = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT


@functools.cache
def commands() -> dict[str, tuple[str, str]]:
    """Return the commands of all installed packages of netlab: by name, the line of help and the name of the module.

    Returns
    -------
    dict
        By name the command's line in the help, and the module where `main(options)` runs it and returns the exit status, and
        `add_arguments(parser)` adds its options, if it has any.
    """
    return {name: row for module in contributions.modules("command_table") for name, row in module.COMMANDS.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `netlab` with these words (None: the process's), print any error, and return exit status 0, 1, 2 or 130.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `netlab`; None means those of the process.

    Returns
    -------
    int
        0 for success, 2 for a mistake in a scenario or in the options, 130 after Ctrl-C, else 1.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(errors="replace")  # the code page of a redirected output on Windows has no ✓
    try:
        options = _options(words)
        with signals_raise_system_exit():
            status: int = importlib.import_module(commands()[options.command][1]).main(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except NetlabError as error:
        print(f"netlab: {error}", file=sys.stderr)
        return EXIT_MISTAKE if isinstance(error, ScenarioError) else EXIT_FAILED
    except ImportError as error:
        if NOT_MAPPED_TEXT not in str(error):
            raise
        print(
            f"netlab: The Python packages in {sys.prefix} cannot be loaded, because programs may not be executed there (a file "
            "system mounted noexec). Install netlab in a directory where they may: python3 -m venv DIRECTORY.",
            file=sys.stderr,
        )
        return EXIT_FAILED
    except KeyboardInterrupt as interrupted:
        # An interrupt raised by netlab says what is kept; for any other interrupt this is unknown.
        print(f"\nnetlab: {str(interrupted) or 'stopped.'}", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of the output (`| head`) has closed it; prevent a second error when the interpreter flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    return status


def _options(words: Sequence[str]) -> argparse.Namespace:
    """Return the options in `words`, words after `netlab`; for an unknown command or option exit with status 2."""
    parser = argparse.ArgumentParser(prog="netlab", description="Learn how networks perform by running them.")
    parser.add_argument("--version", action="version", version=f"netlab {VERSION}")
    table = commands()
    parsers = parser.add_subparsers(dest="command", metavar="|".join(table), required=True)
    for name, (summary, home) in table.items():
        own = parsers.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name in words[:1] and hasattr(module := importlib.import_module(home), "add_arguments"):
            module.add_arguments(own)
    for word in words[:1]:
        if word not in table and word in contributions.NOT_IN_THE_WHEEL:
            parser.error(f"`netlab {word}` {contributions.NOT_IN_THE_WHEEL[word]}.")
        if word not in table and not word.startswith("-"):
            parser.error(f"unknown command: {one_of(word, list(table))}")
    options, unknown = parser.parse_known_args(words)
    if unknown:
        # The parser of the command shows its own usage; argparse would show that of `netlab`.
        hint = getattr(options, "hint_on_unknown", "")
        parsers.choices[options.command].error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return options


if __name__ == "__main__":
    sys.exit(main())
