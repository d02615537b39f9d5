"""`netlab live`: Mininet's prompt for a live network."""

import argparse
import json
import sys
from pathlib import Path

from netlab.base.errors import ScenarioError
from netlab_engines.lab.live import live
from netlab_engines.lab.player import NO_LIMIT_S, connect_terminal, size, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `netlab live` to its parser."""
    parser.add_argument("topology", help="a topology or scenario file in JSON")
    parser.add_argument("--seed", type=int, default=1, help="the seed of all random draws (default: 1)")


def main(options: argparse.Namespace) -> int:
    """Open Mininet's prompt for the live network that the JSON file `options.topology` describes, with the seed
    `options.seed`, close the network afterwards, and return the prompt's exit code. Commands come from the terminal, or
    from the standard input if that is not a terminal. Raises ScenarioError for a bad file.
    """
    try:
        words = json.loads(Path(options.topology).read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioError([f"{options.topology} cannot be read: {error.strerror}"]) from None
    except ValueError as error:
        raise ScenarioError([f"{options.topology} is not JSON: {error}"]) from None
    with live(words, options.seed, wall_limit_s=NO_LIMIT_S) as lab:
        if not sys.stdin.isatty():
            return lab.session.request(write).prompt_lines(lines=sys.stdin.read())["code"]
        rows, columns = size()
        pid = lab.session.request().prompt(rows=rows, columns=columns)["pid"]
        return connect_terminal(lab.session, pid, paced=True)
