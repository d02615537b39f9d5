"""`netlab assign`: write the notebooks of a chapter for a class, each student's with own numbers."""

import argparse
from pathlib import Path

from netlab.base.errors import NetlabError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `netlab assign` to its parser."""
    parser.add_argument("chapter", metavar="CHAPTER", help="1, udp_loss or 01_udp_loss; or project")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="where the notebooks go")
    parser.add_argument(
        "--roster", metavar="CSV", type=Path, help="the class list; everybody gets numbers of their own"
    )
    parser.add_argument(
        "--solved",
        metavar="DIR",
        type=Path,
        help="also write notebooks with all answers here, to try the grading",
    )
    parser.add_argument("--salt", default="", help="with another salt the same class gets other numbers")
    parser.add_argument(
        "--root", metavar="DIR", type=Path, help="the clone with solutions/ (default: this one, or netlab's own files)"
    )


def main(options: argparse.Namespace) -> int:
    """Write the notebooks that the options of `netlab assign` ask for (`chapter`, `output`, `roster`, `salt`, `solved`,
    `root`), print where they are, and return the exit status 0. Raises NetlabError when they cannot be written, or
    would publish an answer.
    """
    from netlab_classroom.grading import assign, master, roster

    chapter = master.find(options.chapter, options.root)
    entries = roster.read_roster(options.roster, report_remark=print) if options.roster else []
    try:
        written = assign.assign(chapter, options.output, entries=entries, salt=options.salt, solved=options.solved)
    except OSError as error:
        raise NetlabError(f"{options.output} cannot be written: {error.strerror}. Choose another --output.") from None
    if entries:
        print(f"Notebooks in {options.output / assign.NOTEBOOKS}, one for each student: {len(entries)}.")
        print(f"Grade with --roster {options.output / assign.CLASS_LIST}: it has everybody's token, so keep it.")
    else:
        print("Written: " + ", ".join(str(path) for path in written))
    if options.solved is not None:
        print(f"Notebooks with all answers, not for students, in {options.solved}.")
    return 0
