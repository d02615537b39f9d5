"""`netlab reset CHAPTER`: put a new copy of a chapter in place; the old one is kept under another name."""

import argparse

from netlab_course import catalogue, copies


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument `chapter` and the option --folder of `netlab reset` to its parser."""
    parser.add_argument("chapter", help="its number, topic or name: 1, udp_loss or 01_udp_loss")
    copies.add_folder(parser)


def main(options: argparse.Namespace) -> int:
    """Replace the student's copy of a chapter by a new one and print where the old one is kept, if it had changes;
    return the exit status 0. Raises NetlabError for an unknown chapter, and OSError when the folder cannot be written.
    """
    entry = catalogue.find(options.chapter)
    folder = options.folder or copies.folder()
    kept = copies.reset(entry, folder)
    print(f"{folder / entry.path.name} is fresh.")
    if kept is not None:
        print(f"Your work is kept in {kept}.")
    print(
        "Is it open in JupyterLab? There: File > Reload Notebook from Disk. What you passed stays passed (netlab progress)."
    )
    return 0
