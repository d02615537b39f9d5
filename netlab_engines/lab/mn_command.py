"""`netlab mn`: Mininet's own mn without root."""

import argparse
import shutil
import sys
from pathlib import Path

from netlab.base.errors import NetlabError
from netlab_engines.lab.script import run_script


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `netlab mn` to its parser: all words, in `arguments`, which are passed on to
    Mininet's mn (`main` handles a single --help); the parser itself is in `parser` of the options.
    """
    # All words after `netlab mn` belong to mn, except a single --help.
    parser.prefix_chars = "\0"
    parser.set_defaults(parser=parser)
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="the options of mn, such as --topo linear,3 --test pingall"
    )


def main(options: argparse.Namespace) -> int:
    """Run Mininet's own mn with the words `options.arguments` in a pocket kernel and return its exit status; files that
    it writes to the system's directories are copied to mn.files in the current directory. If the only word is -h or
    --help, print the help of `netlab mn` and exit. Raises NetlabError if mn is not installed.
    """
    if options.arguments in (["-h"], ["--help"]):
        options.parser.print_help()
        options.parser.exit()
    own = Path(sys.executable).parent / "mn"
    found = str(own) if own.is_file() else shutil.which("mn")
    if found is None:
        raise NetlabError("Mininet's mn is missing; install netlab's requirements, which include the package mininet.")
    return run_script([found, *options.arguments], copies_next_to=Path("mn").absolute()).code
