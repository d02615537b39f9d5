"""`netlab mininet`: a Mininet script without root."""

import argparse
from pathlib import Path

from netlab.base.errors import NetlabError
from netlab.lab.script import run_script


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `netlab mininet`."""
    parser.add_argument("--seed", type=int, default=1, help="fixes all that is random (default: 1)")
    parser.add_argument("script", help="a Mininet script in Python")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its own arguments")


def main(options: argparse.Namespace) -> int:
    """Run a Mininet script."""
    path = Path(options.script)
    if not path.is_file():
        raise NetlabError(
            f"There is no script {path.absolute()}; give the path of a Python file, such as one that Topology.to_mininet() writes."
        )
    return run_script([str(path.absolute()), *options.arguments], options.seed).code
