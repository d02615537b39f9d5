"""`netlab replicate`: measure every published number that the chapters cover, and write a report with all of them."""

import argparse
import sys
from pathlib import Path

from netlab.base.errors import NetlabError

DEFAULT_DIRECTORY = "replication"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options --output and --only of `netlab replicate` to its parser."""
    from netlab_replication.rows import references

    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default=DEFAULT_DIRECTORY,
        help=f"where report.md and report.html go (default: {DEFAULT_DIRECTORY})",
    )
    parser.add_argument(
        "--only", metavar="SOURCE", choices=list(references()), help="one source: " + ", ".join(references())
    )


def main(options: argparse.Namespace) -> int:
    """Measure the published numbers that the options ask for (`only`: a source, or None for all), write report.md and
    report.html to the directory `output`, which is made, print a summary, and return the exit status 0. Raises
    NetlabError when the directory cannot be made, a run fails, or this machine lacks a requirement.
    """
    from netlab_replication import report, rows

    directory = Path(options.output)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NetlabError(f"{directory} cannot be made: {error.strerror}. Choose another --output.") from None
    result = rows.replicate(options.only)
    for name, text in (("report.md", report.markdown(result)), ("report.html", report.html(result))):
        (directory / name).write_text(text)
    sys.stdout.write(report.summary(result) + f"\nThe whole report: {directory / 'report.md'} and report.html\n")
    return 0
