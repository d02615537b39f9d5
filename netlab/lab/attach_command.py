"""`netlab attach`: join a terminal that a notebook offers."""

import argparse

from netlab.base.errors import NetlabError
from netlab.lab import terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `netlab attach`."""
    parser.add_argument("host", nargs="?", help="whose terminal (default: the one that was offered last)")


def main(options: argparse.Namespace) -> int:
    """Join a terminal that a notebook offers."""
    found = terminal.offered(options.host)
    if not found:
        which = f"of {options.host} " if options.host else ""
        raise NetlabError(f"No terminal {which}is offered; in a notebook, lab['h1'].terminal() offers one.")
    return terminal.attach(found[-1])
