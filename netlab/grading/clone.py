"""Where the instructor's clone of netlab is: it has the solutions and the examiners, which no package contains."""

import argparse
from pathlib import Path

from netlab.base.location import PACKAGE


def add_root(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where the instructor's clone is."""
    parser.add_argument(
        "--root", metavar="DIR", type=Path, help="the clone with solutions/ (default: this one, or netlab's own)"
    )


def root_of(options: argparse.Namespace) -> Path:
    """The instructor's clone."""
    if options.root is not None:
        return Path(options.root)
    here = Path.cwd()
    return here if (here / "solutions").is_dir() else PACKAGE.parent
