"""A contest that is held again and again: who got what, and when."""

import csv
import io
from datetime import datetime, timezone
from pathlib import Path

from netlab.base.errors import NetlabError
from netlab_classroom.contest.contest import Contest
from netlab_classroom.grading import result_store
from netlab_classroom.grading.text import escape_formula, unescape_formula

HISTORY = "history.csv"
COLUMNS = ("date", "seed", "student", "score", "sha256")


def last_scores(output: Path, seed: str) -> dict[str, float]:
    """Return the last score (0 to 100) of each student for this seed, by student, from the file history.csv in the
    directory `output`; {} if there is none. Raises NetlabError when the file is there and cannot be read.
    """
    return {row["student"]: float(row["score"]) for row in _rows(output / HISTORY) if row["seed"] == seed}


def write_down(contest: Contest, output: Path, now: datetime | None = None) -> None:
    """Add a row (date, seed, student, score and the file's SHA-256) to the file history.csv in the directory `output`
    for each student of a contest whose file or score differs from the student's last row for the same seed; `now`
    replaces the present time (None) as the date. Raises NetlabError when the file cannot be read.
    """
    path = output / HISTORY
    rows = _rows(path)
    seed = contest.manifest["seed"]
    last = {(row["seed"], row["student"]): (row["score"], row["sha256"]) for row in rows}
    date = (now or datetime.now(timezone.utc)).strftime("%Y-%m-%dT%H:%MZ")
    for row in sorted(contest.rows, key=lambda each: str(each["student"])):
        result = (f"{row['total']:.2f}", row.get("digest", ""))
        if last.get((seed, row["student"])) != result:
            rows.append(dict(zip(COLUMNS, (date, seed, row["student"], *result), strict=True)))
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows({name: escape_formula(text) for name, text in row.items()} for row in rows)
    result_store.write_whole(path, out.getvalue())


def _rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a history file in its order, each a dict of the texts by name in COLUMNS; [] if there is no
    file. Raises NetlabError when it cannot be read, lacks a column, or a score is not a number.
    """
    if not path.exists():
        return []
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
        found = [{name: unescape_formula(row[name]) for name in COLUMNS} for row in rows]
        for row in found:
            float(row["score"])
    except (OSError, ValueError, KeyError, AttributeError, csv.Error) as error:
        raise NetlabError(
            f"{path} is not a history of a ladder ({type(error).__name__}): move it away, and the ladder begins anew."
        ) from None
    return found
