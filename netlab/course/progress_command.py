"""`netlab progress`: what there is to learn, and what is passed."""

import argparse

from netlab.course import catalogue


def main(options: argparse.Namespace) -> int:  # noqa: ARG001 - every command is called with its options
    """Print the table; returns the exit status."""
    catalogue.progress()
    return 0
