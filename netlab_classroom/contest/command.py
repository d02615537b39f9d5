"""`netlab contest`: a class's congestion controls or video rules in trials that nobody has seen, and the board of scores."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from netlab.base.errors import NetlabError

if TYPE_CHECKING:
    from netlab_classroom.contest.contest import Contest

EXIT_INCOMPLETE = 1
EXIT_INTERRUPTED = 130
DEFAULT_SEED = "1"
GAMES = ("controls", "videos")
"""The keys of `Controls` and `Videos`, whose modules are imported only when a contest is held."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options of `netlab contest` to its parser."""
    parser.add_argument(
        "submissions",
        metavar="SUBMISSIONS",
        nargs="+",
        type=Path,
        help="files with a class (.py, or notebooks), directories of them, or a platform's ZIP archive",
    )
    parser.add_argument("-o", "--output", metavar="BOARD", type=Path, required=True, help="where the board goes")
    parser.add_argument(
        "--game",
        choices=GAMES,
        default=GAMES[0],
        help="what competes: congestion controls of chapter 15, or rules for adaptive video of chapter 18 "
        f"(default: {GAMES[0]})",
    )
    parser.add_argument("--roster", metavar="CSV", type=Path, help="the class list, as `netlab grade` takes it")
    parser.add_argument(
        "--seed",
        metavar="WORD",
        default=DEFAULT_SEED,
        help=f"what the trials are drawn from: a word that the class does not know (default: {DEFAULT_SEED})",
    )
    parser.add_argument("--pseudonyms", action="store_true", help="names on the page that only scores.csv explains")
    parser.add_argument(
        "--ladder", action="store_true", help="race what is new, keep the other scores, and write down the history"
    )
    parser.add_argument(
        "--allow-missing", action="store_true", help="drop the scores of submissions that are no longer there"
    )
    parser.add_argument("-j", "--jobs", metavar="N", type=int, help="hand-ins side by side (default: one for each CPU)")


def main(options: argparse.Namespace) -> int:
    """Hold the contest by the options of `netlab contest`, write the board (and with `options.ladder` the history),
    print a summary, and return the exit status: 0 if every submission raced or failed by its own fault, EXIT_INCOMPLETE
    if not, EXIT_INTERRUPTED after Ctrl-C. New files are only for this user. Raises NetlabError when something other
    than a submission is at fault, such as an option or the output directory.
    """
    from netlab_classroom.contest import board, contest, ladder
    from netlab_classroom.contest.controls import Controls
    from netlab_classroom.contest.videos import Videos
    from netlab_classroom.grading import roster
    from netlab_classroom.grading.claim import claim_output

    if options.jobs is not None and options.jobs < 1:
        raise NetlabError(f"--jobs must be 1 or more, got {options.jobs}.")
    entries = roster.read_roster(options.roster, report_remark=print) if options.roster else []
    output: Path = options.output
    os.umask(0o077)
    try:
        with claim_output(output, allow_missing=options.allow_missing) as claim:
            before = ladder.last_scores(output, options.seed) if options.ladder else {}
            result = contest.run_contest(
                options.submissions,
                output,
                game={game.key: game for game in (Controls(), Videos())}[options.game],
                entries=entries,
                seed=options.seed,
                keep=options.ladder,
                claim=claim,
                jobs=options.jobs,
            )
            board.write(result, output, pseudonyms=options.pseudonyms, before=before)
            if options.ladder:
                ladder.write_down(result, output)
    except OSError as error:
        raise NetlabError(f"{output} cannot be written: {error.strerror}. Choose another --output.") from None
    except contest.ContestInterrupted:
        print("\nStopped. Finished races are kept; run the same command with --ladder to continue.")
        return EXIT_INTERRUPTED
    return _print_summary(result, output, options.seed)


def _print_summary(contest: Contest, output: Path, seed: str) -> int:
    """Print the remarks, the submissions that did not race and why, the best one and the files in `output` of a
    contest, and a warning if `seed` is the default; return the exit status: EXIT_INCOMPLETE if a submission did not
    race although it is not at fault, else 0.
    """
    from netlab_classroom.contest import board, race
    from netlab_classroom.grading.text import one_line

    for note in contest.notes:
        print(one_line(note, 1000))
    for row in contest.rows:
        if row["status"] != race.RACED:
            print(one_line(f"{row['student']}: {row['status']}: {row['sentence']}", 1000))
    best = contest.rows[0] if contest.rows else None
    print(
        f"{len(contest.rows)} submissions, {len(contest.trials)} trials"
        + (f"; best: {one_line(best['student'])} with {best['total']:.2f} of 100." if best else ".")
    )
    if seed == DEFAULT_SEED:
        print("These are the trials of --seed 1, which anyone can generate; for a graded contest choose a secret word.")
    print(f"The board: {output / board.PAGE}; for the instructor: {output / board.SCORES}")
    return EXIT_INCOMPLETE if any(row["status"] == race.NOT_RACED for row in contest.rows) else 0
