"""`netlab progress`: print the table of contents with the passed exercises."""

import argparse

from netlab_course import catalogue


def main(options: argparse.Namespace) -> int:  # noqa: ARG001 - every command is called with its options
    """Print the table of contents with the number of passed exercises; return the exit status 0. There are no options.
    Raises NetlabError when there are no chapters.
    """
    catalogue.progress()
    return 0
