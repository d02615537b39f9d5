"""`netlab grade`: grade the submissions of a class for one chapter, and write points, reasons and pages."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from netlab.base.errors import NetlabError

if TYPE_CHECKING:
    from netlab_classroom.grading.grade import GradedClass

EXIT_INCOMPLETE = 1
EXIT_INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options of `netlab grade` to its parser."""
    from netlab_classroom.grading.sandbox import CPU_S

    parser.add_argument("chapter", metavar="CHAPTER", help="1, udp_loss or 01_udp_loss; or project")
    parser.add_argument(
        "submissions", metavar="SUBMISSION", nargs="+", type=Path, help="notebooks, or directories of them"
    )
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="where the reports go")
    parser.add_argument(
        "--roster",
        metavar="CSV",
        type=Path,
        help="the class list: a column `student`, others as in docs/how-to/grade.md",
    )
    parser.add_argument(
        "-j", "--jobs", metavar="N", type=int, help="submissions side by side (default: one for each CPU)"
    )
    parser.add_argument(
        "--allow-missing", action="store_true", help="drop the marks of submissions that are no longer there"
    )
    parser.add_argument("--resume", action="store_true", help="reuse stored results that are still valid")
    parser.add_argument(
        "--review",
        metavar="CSV",
        type=Path,
        help="a person's points for answers in words (default: those in the output's own review.csv)",
    )
    parser.add_argument("--show-expected", action="store_true", help="show students the right numbers")
    parser.add_argument(
        "--unreviewed",
        action="store_true",
        help="write moodle.csv and canvas.csv although answers wait for review; their points are without those answers",
    )
    parser.add_argument("--seed", default="1", help="what hidden cases follow from (default: 1)")
    parser.add_argument(
        "--cpu-seconds", metavar="S", type=float, default=CPU_S, help=f"for each exercise (default: {CPU_S:g})"
    )
    parser.add_argument(
        "--root", metavar="DIR", type=Path, help="the clone with solutions/ (default: this one, or netlab's own files)"
    )


def main(options: argparse.Namespace) -> int:
    """Grade a class by the options of `netlab grade`, write all reports and the merged notebooks to `options.output`,
    for this user only, and print a summary; a reviewer's points come from `options.review` or else the output's
    review.csv. Return the exit status: 0 if every submission was judged, EXIT_INCOMPLETE if one was not,
    EXIT_INTERRUPTED after Ctrl-C. Raises NetlabError for any error that is not in a submission.
    """
    from netlab_classroom.grading import grade, master, merged, reports, roster, sandbox
    from netlab_classroom.grading.claim import claim_output

    if options.jobs is not None and options.jobs < 1:
        raise NetlabError(f"--jobs must be 1 or more, got {options.jobs}.")
    if not options.cpu_seconds > 0:
        raise NetlabError(f"--cpu-seconds must be above 0, got {options.cpu_seconds:g}.")
    sandbox.require_isolation()
    chapter = master.find(options.chapter, options.root)
    entries = roster.read_roster(options.roster, report_remark=print) if options.roster else []
    output: Path = options.output
    os.umask(0o077)
    # Points that a reviewer wrote there must not be overwritten by a grading without --review.
    own = output / "review.csv"
    try:
        with claim_output(output, allow_missing=options.allow_missing) as claim:
            given = options.review or (own if own.is_file() else None)
            points = grade.read_review(given) if given else {}
            graded = grade.grade(
                chapter,
                options.submissions,
                output,
                entries=entries,
                seed=options.seed,
                cpu_s=options.cpu_seconds,
                resume=options.resume,
                claim=claim,
                jobs=options.jobs,
            )
            if points and not options.review:
                submission_cells = {
                    (result["student"], mark["key"]) for result in graded.results for mark in result["exercises"]
                }
                points = {place: each for place, each in points.items() if place in submission_cells}
                print(f"Taken from {own}: points for {len(points)} answers in words.")
            if points:
                graded = grade.with_review(graded, points)
            reports.write(graded, output, show_expected=options.show_expected, unreviewed=options.unreviewed)
            merged.write(graded, output / "merged")
    except OSError as error:
        raise NetlabError(f"{output} cannot be written: {error.strerror}. Choose another --output.") from None
    except grade.GradingInterrupted:
        print("\nStopped. Finished results are kept; run the same command with --resume to continue.")
        return EXIT_INTERRUPTED
    _print_summary(graded, output, unreviewed=options.unreviewed)
    return EXIT_INCOMPLETE if graded.failures else 0


def _print_summary(graded: GradedClass, output: Path, *, unreviewed: bool) -> None:
    """Print a summary of the graded class: notes, numbers of answers by status, the number of flags, what waits for a
    reviewer, and the paths of the reports in `output`; with `unreviewed`, the platforms' files were written although
    answers wait for review.
    """
    from netlab_classroom.grading import marking, report_pages, report_tables
    from netlab_classroom.grading.text import one_line

    for note in report_pages.notes(graded):
        print(one_line(note, 1000))
    marks = [mark for result in graded.results for mark in result["exercises"]]
    shown = [marking.shown_status(mark) for mark in marks]
    counts = {status: shown.count(status) for status in marking.SHOWN_STATUSES}
    print(
        f"{len(graded.results)} students, {len(marks)} answers: "
        + ", ".join(f"{n} {s}" for s, n in counts.items() if n)
        + "."
    )
    if graded.flags:
        print(f"Flags: {len(graded.flags)}, in {output / 'flags.csv'}. They take no points.")
    if counts[marking.REVIEW]:
        print(
            f"Answers that wait for a person: {counts[marking.REVIEW]}. Read {output / 'review.html'}, write points into "
            f"{output / 'review.csv'}, and run the same command with --resume. Totals are without them."
        )
        if not unreviewed:
            print(
                f"{report_tables.MOODLE} and {report_tables.CANVAS} are written when nothing waits any more, or with --unreviewed."
            )
    if graded.failures:
        print("Run the same command with --resume to try those that failed again.")
    print(
        f"Points: {output / report_tables.GRADES}; the class: {output / 'class.html'}; pages for students: {output / 'feedback'}"
    )
