"""The output of a contest: a page for everybody and tables for the instructor."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netlab.base.errors import NetlabError
from netlab_classroom.contest import race
from netlab_classroom.contest.contest import Contest
from netlab_classroom.contest.drawing import Plane, place_labels
from netlab_classroom.contest.game import Game
from netlab_classroom.grading import result_store
from netlab_classroom.grading.helper import GaveUpError, helper
from netlab_classroom.grading.text import escape_formula

KINDS = ("student", "linux", "netlab", "winner")
PAGE, SCORES, MANIFEST = "board.html", "scores.csv", "manifest.json"


def write(
    contest: Contest, output: Path, *, pseudonyms: bool = False, before: Mapping[str, float] | None = None
) -> None:
    """Write the page board.html and the tables scores.csv and manifest.json of a contest into the directory `output`.
    With `pseudonyms` the page has no student's name, no class's name and no text of students; `before` has earlier
    scores by student, relative to which changes are shown (None: no changes). Raises NetlabError when the page cannot
    be made; the tables are written then.
    """
    words = _words(contest, pseudonyms=pseudonyms, before=before or {})
    result_store.write_whole(output / SCORES, scores_csv(contest))
    result_store.write_whole(output / MANIFEST, json.dumps(contest.manifest, indent=1, sort_keys=True) + "\n")
    try:
        page = helper().ask("page", template="board.html.j2", words=words, package="netlab_classroom.contest")
    except GaveUpError as error:
        raise NetlabError(
            f"The page could not be made: {error} Was netlab changed while the contest ran? Then hold it again. The scores are in "
            f"{output / SCORES}."
        ) from None
    result_store.write_whole(output / PAGE, page)


def scores_csv(contest: Contest) -> str:
    """Return the text of a CSV file for the instructor with a row for each submission, best first, then one for each
    reference competitor (without a place); columns are place, student, pseudonym, score, the points in each trial,
    class (which one competed), status and sentence. A cell that a spreadsheet would take for a formula begins with an
    apostrophe.
    """
    keys = [trial.key for trial in contest.trials]
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["place", "student", "pseudonym", "score", *keys, "class", "status", "sentence"])
    for row in [*contest.rows, *contest.reference_rows]:
        points = [f"{row['scores'][key]['points']:.2f}" for key in keys]
        remarks = [row.get("class_text", ""), row["status"], row["sentence"]]
        names = [row.get("place", ""), row["student"], row.get("pseudonym", "")]
        cells = [*names, f"{row['total']:.2f}", *points, *remarks]
        table.writerow([escape_formula(str(cell).replace("\n", " ")) for cell in cells])
    return out.getvalue()


def _words(contest: Contest, *, pseudonyms: bool, before: Mapping[str, float]) -> dict[str, Any]:
    """Return the values of the page's template for a contest, by name: "trials" and "notes" (lists), "hand_ins" (their
    number), "changes" (whether there are earlier scores), "wording", the figures "plane" and "series", and the rows
    "table". With `pseudonyms` they have neither names nor texts of students. `before` has earlier scores by student.
    """
    names = {row["student"]: row["pseudonym"] if pseudonyms else row["student"] for row in contest.rows}
    first = next((row for row in contest.rows if row["status"] == race.RACED), None)
    return {
        "trials": [{"key": trial.key, "title": trial.title} for trial in contest.trials],
        "notes": [] if pseudonyms else contest.notes,
        "hand_ins": len(names),
        "changes": bool(before),
        "wording": vars(contest.game.wording),
        "plane": _plane(contest, names, first),
        "series": _series(contest, names, first),
        "table": _table(contest, names, pseudonyms, before),
    }


def _table(
    contest: Contest, names: Mapping[str, str], pseudonyms: bool, before: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Return the rows of the page's table, students and reference competitors, best first, as values for the template:
    "is_reference", "place", "name" (`names` has the one to be shown by student), "score", its
    "change" since the score in `before` ("new" if it has none, "" for no change), the "points" in each trial, and a
    "remark", which has no text of students if `pseudonyms` is set.
    """
    found = []
    ordered = sorted([*contest.rows, *contest.reference_rows], key=lambda row: (-row["total"], "place" not in row))
    for row in ordered:
        is_student = "place" in row
        remark = row["sentence"] or (row.get("class_text") and f"class {row['class_text']}") or ""
        if pseudonyms and is_student:
            remark = "" if row["status"] == race.RACED else row["status"]
        change = row["total"] - before[row["student"]] if is_student and row["student"] in before else None
        found.append(
            {
                "is_reference": not is_student,
                "place": row.get("place", ""),
                "name": names[row["student"]] if is_student else _kind(contest.game, row["student"]) + row["student"],
                "score": f"{row['total']:.2f}",
                "change": "new" if change is None and is_student else f"{change:+.2f}" if change else "",
                "points": [f"{row['scores'][trial.key]['points']:.1f}" for trial in contest.trials],
                "remark": remark,
            }
        )
    return found


def _kind(game: Game, reference: str) -> str:
    """Return "netlab's " or "Linux's ", the owner of the game's reference competitor of this name."""
    return "netlab's " if game.is_own(reference) else "Linux's "


def _plane(contest: Contest, names: Mapping[str, str], first: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the figure with a dot for each competitor that has a result, in the game's two measures, as values for the
    page's template: those of `Plane.frame`, and "dots" with position, kind, label and title of each. `names` has the
    shown names by student, `first` is the row of the winner (None: nobody has raced), whose dot is marked.
    """
    game, rows = contest.game, [*contest.rows, *contest.reference_rows]
    found = [(row, spot) for row in rows if (spot := game.spot(contest.trials, row["scores"])) is not None]
    plane = game.plane([spot for _, spot in found])
    dots = []
    for row, spot in found:
        is_student = "place" in row
        name = names[row["student"]] if is_student else row["student"]
        kind = "student" if is_student else "netlab" if game.is_own(name) else "linux"
        is_first = first is not None and row is first
        x, y = plane.at(*spot)
        dots.append(
            {
                "x": x,
                "y": y,
                "kind": "winner" if is_first else kind,
                "label": name if is_first or not is_student else "",
                "title": f"{name}: {game.spot_in_words(*spot)}",
            }
        )
    # Draw named dots above the others.
    return {**plane.frame(), "dots": place_labels(sorted(dots, key=lambda dot: KINDS.index(dot["kind"])))}


def _series(contest: Contest, names: Mapping[str, str], first: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the figure of the winner's value over time, next to the one of the game's reference competitor, as values
    for the page's template: those of `Plane.frame`, the lines "own" and "comparison", and the texts "winner", "other"
    and "title"; None if there is no winner or it has no values. `names` has the shown names by student, `first` is the row
    of the winner or None.
    """
    game = contest.game
    reference = next(row for row in contest.reference_rows if row["student"] == game.reference)
    if first is None or not first["series"]:
        return None
    both: Sequence[Sequence[float]] = [*first["series"], *reference["series"]]
    plane = Plane((0.0, max(t_s for t_s, _ in both)), (0.0, max(1.0, *(value for _, value in both)) * 1.05), height=320)
    title = next(trial.title for trial in contest.trials if trial.key == game.displayed_trial)
    lines = {"own": plane.line(first["series"]), "comparison": plane.line(reference["series"])}
    words = {"winner": names[first["student"]], "other": game.reference, "title": title}
    return {**plane.frame(), **lines, **words}
