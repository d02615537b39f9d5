"""`netlab attach`: connect this terminal to a host of a notebook's live network."""

import argparse

from netlab.base.errors import NetlabError
from netlab_engines.lab import terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `netlab attach` to its parser."""
    parser.add_argument("host", nargs="?", help="the host (default: the host of the newest terminal)")


def main(options: argparse.Namespace) -> int:
    """Connect this terminal to the newest waiting terminal of the host with the name `options.host` (None: of any host)
    until its shell ends, and return the exit code 0. Raises NetlabError if none waits or it cannot be reached.
    """
    found = terminal.waiting_sockets(options.host)
    if not found:
        which = f" of {options.host}" if options.host else ""
        name = options.host or "h1"
        raise NetlabError(
            f"There is no terminal{which} to attach to; in a notebook, lab[{name!r}].terminal() makes one."
        )
    return terminal.attach(found[-1])
