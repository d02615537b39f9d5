"""`netlab mininet`: a Mininet script without root."""

import argparse
from pathlib import Path

from netlab.base.errors import ScenarioError
from netlab_engines.lab.script import run_script
from netlab_engines.lab.script_check import check
from netlab_engines.lab.script_input import read_script_input
from netlab_engines.lab.stopping import print_notice

EXIT_WARNINGS = 1
EPILOG = """The script is checked first: Python 2, missing modules, programs and features of the kernel, what Linux bridges lack
of Open vSwitch. If it cannot run, the exit status is 2 and no part of it runs; other problems are warnings.

The script writes directly to your files, with your permissions: next to itself, to .., to ~, to /tmp and to every other
directory that you may write to. So its files remain however it ends. It sees private copies of the system's directories (/etc,
/usr, /var, ...), where it is root; files that it writes there are copied to a directory SCRIPT.files next to it at the end, and
their names are printed.

Ctrl-C, SIGTERM (as from timeout) and SIGHUP interrupt the script. Its own finally and atexit then have 10 s and can use the
network; a second Ctrl-C ends it at once. Handlers of these signals in the script are called instead.

A standard input that is no terminal is read to its end before the script starts, if the script uses it; input() and
Mininet's prompt take its lines in turn."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `netlab mininet` and its help to its parser."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("--seed", type=int, default=1, help="the seed of all random draws (default: 1)")
    parser.add_argument(
        "--check",
        action="store_true",
        help="check the script and do not run it; the exit status is 0 without problems, 1 with warnings, 2 if it cannot run",
    )
    parser.add_argument("script", help="a Mininet script in Python")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's arguments")


def main(options: argparse.Namespace) -> int:
    """Check the Mininet script `options.script`, print its problems as warnings, and run it with `options.arguments`
    unless `options.check` (or the only argument is --check, and the script does not contain that word). Return the script's
    exit status, or after a check alone 0 without problems and EXIT_WARNINGS with some. Raises ScenarioError with those
    that stop the script, and runs nothing, if there are any.
    """
    path = Path(options.script)
    if options.arguments == ["--check"] and not _may_have_check_option(path):
        options.check = True
    problems = check(path, Path.cwd())
    for problem in problems:
        if not problem.stops:
            print_notice(problem.sentence())
    if stops := [problem.sentence() for problem in problems if problem.stops]:
        raise ScenarioError(stops)
    if options.check:
        if not problems:
            print(f"Found no problems in {path}.")
        return EXIT_WARNINGS if problems else 0
    input_text = read_script_input(path, Path.cwd())
    return run_script([options.script, *options.arguments], options.seed, input_text=input_text).code


def _may_have_check_option(path: Path) -> bool:
    """Return whether the file of a script exists and contains "--check" anywhere, so that it may have an option of this
    name of its own.
    """
    return path.is_file() and b"--check" in path.read_bytes()
