"""A contest: what each hand-in gets, and what a cheat does not."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netlab.base.errors import NetlabError
from netlab_classroom.contest import board, contest, controls, ladder, networks, race
from netlab_classroom.contest.command import DEFAULT_SEED
from netlab_classroom.grading.helper import stop_requested
from netlab_classroom.grading.roster import RosterEntry

HONEST_CONTROL = """
class Honest:
    def on_start(self, flow):
        flow.cwnd_segments = {window}

    def on_ack(self, ack):
        {line}
"""
LOOKS = """
import glob, os, socket
seen = 0
for place in ("/proc/*/environ", "/tmp/*", "/work/*", "/home/*", "/root/*", os.path.expanduser("~/*"), "/usr/**/netlab*/contest/*"):
    for path in glob.glob(place):
        try:
            seen += "trace" in open(path, errors="replace").read(100_000) and os.path.isfile(path)
        except OSError:
            pass
try:
    import netlab_classroom.contest.networks
    seen += 1
except ImportError:
    pass
seen += len(socket.if_nameindex()) > 1
"""
COUNTS = """
import ctypes, os
seen = 0
for place in ("/tmp/n", "/dev/shm/n", "/var/tmp/n", os.path.expanduser("~/n"), "n"):
    try:
        seen += os.path.exists(place)
        open(place, "a").write("x")
    except OSError:
        pass
libc = ctypes.CDLL(None)
seen += libc.shmget(4711, 4096, 0o666) >= 0
libc.shmget(4711, 4096, 0o1666)
import time
seen += int(time.time()) - 1_700_000_000 > 60
time.sleep(50)
"""
SLEEPS = "import time; time.sleep(0.5)"
CLASS = {
    "anna": HONEST_CONTROL.format(window=9, line="pass"),
    "ben": HONEST_CONTROL.format(window=4, line="pass"),
    "looks": LOOKS + HONEST_CONTROL.format(window="9 if not seen else 4", line="pass"),
    "counts": COUNTS + HONEST_CONTROL.format(window="9 if not seen else 4", line="pass"),
    "sleeps": HONEST_CONTROL.format(window=9, line=SLEEPS),
    "raises": HONEST_CONTROL.format(window=9, line="return 1 / 0"),
    "loops": HONEST_CONTROL.format(window=9, line="while True: pass"),
    "exits": HONEST_CONTROL.format(window=9, line="import os; os._exit(0)"),
    "nonsense": HONEST_CONTROL.format(window="'wide'", line="pass"),
    "empty": "",
    "prose": "My control is the best.",
}


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the contest to a short network."""
    drawn = networks.draw(DEFAULT_SEED)
    monkeypatch.setattr(networks, "DURATION_S", 2.0)
    monkeypatch.setattr(networks, "draw", lambda _seed: [each for each in drawn if each.key == "walk"])
    monkeypatch.setattr(controls, "REFERENCES", ("cubic",))
    monkeypatch.setattr(controls, "OPPONENTS", {})
    monkeypatch.setattr(race, "CPU_S", 4.0)


def hand_in(folder: Path, sources: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    return folder


@pytest.mark.pocket
@pytest.mark.library
@pytest.mark.usefixtures("short")
def test_failing_submission_affects_its_own_row_and_cheating_gains_nothing(tmp_path: Path) -> None:
    """A class looks for traces, counts networks, sleeps: its points are to the digit those of the class that does not."""
    stored = contest.run_contest([hand_in(tmp_path / "in", CLASS)], tmp_path / "out", progress=False)
    rows = {row["student"]: row for row in stored.rows}
    honest = rows["anna"]["scores"]
    assert all(score["points"] > 10 for score in honest.values()) and honest != rows["ben"]["scores"]
    assert {name: rows[name]["scores"] for name in ("looks", "counts", "sleeps")} == dict.fromkeys(
        ("looks", "counts", "sleeps"), honest
    )
    message = {name: (row["status"], row["total"], row["sentence"]) for name, row in rows.items() if not row["total"]}
    assert set(message) == {"raises", "loops", "exits", "nonsense", "empty", "prose"}
    for name, status, sentence in (
        ("raises", "failed", "division by zero. In line 7"),
        ("loops", "failed", "more than 4 s of processor time"),
        ("exits", "failed", "its process ended with status 0"),
        ("nonsense", "failed", "cwnd_segments must be a number of segments"),
        ("empty", "not taken", "No class with on_start"),
        ("prose", "not taken", "mistake in line 1: invalid syntax."),
    ):
        assert message[name][0] == status and sentence in message[name][2], message[name]
    assert not stop_requested.is_set() and not list((tmp_path / "out" / "results").glob(".new-*"))


def pretend(game: Any, entrant: Any, trials: Any, tell: Any) -> dict[str, Any]:
    """Points without a race: as many as the code has lines."""
    if "error" in entrant.code:
        return entered(game, entrant, trials, tell)
    for _ in trials:
        tell()
    points = float(entrant.code["answer"].count("\n"))
    scores = {trial.key: {"points": points, "rate": 0.5, "delay": 1.5, "fairness": 1.0} for trial in trials}
    raced.append(entrant.student)
    return {
        "student": entrant.student, "status": race.RACED, "sentence": "", "class": entrant.code["name"], "scores": scores,
        "total": points, "series": [[0.1, 4.0], [0.2, 5.0]],
    }  # fmt: skip


raced: list[str] = []
entered = race.enter


@pytest.mark.library
@pytest.mark.usefixtures("short")
def test_ladder_races_new_submissions_and_keeps_a_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "enter", pretend)
    raced.clear()
    folder, output = hand_in(tmp_path / "in", {"anna": CLASS["anna"], "ben": CLASS["ben"]}), tmp_path / "out"
    for _ in range(2):
        ladder.write_down(contest.run_contest([folder], output, keep=True, progress=False), output)
    assert sorted(raced) == ["anna", "ben"]
    hand_in(folder, {"ben": CLASS["ben"] + "\n# better\n", "cleo": CLASS["anna"]})
    before = ladder.last_scores(output, DEFAULT_SEED)
    stored = contest.run_contest([folder], output, keep=True, progress=False)
    ladder.write_down(stored, output)
    assert sorted(raced) == ["anna", "ben", "ben", "cleo"]
    history = list(csv.DictReader((output / ladder.HISTORY).open()))
    assert [row["student"] for row in history] == ["anna", "ben", "ben", "cleo"]
    assert before == {"anna": 7.0, "ben": 7.0} and ladder.last_scores(output, DEFAULT_SEED)["ben"] == 9.0
    board.write(stored, output, before=before)
    page = (output / board.PAGE).read_text()
    assert "+2.00" in page and "new" in page and "<script" not in page


@pytest.mark.library
@pytest.mark.usefixtures("short")
def test_with_pseudonyms_the_page_has_no_names_and_the_table_explains_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race, "enter", pretend)
    folder = hand_in(
        tmp_path / "in", {"annika": CLASS["anna"].replace("Honest", "AnnikasOwn"), "benedikt": "class Ben("}
    )
    stored = contest.run_contest(
        [folder], tmp_path / "out", entries=[RosterEntry("annika"), RosterEntry("benedikt")], progress=False
    )
    board.write(stored, tmp_path / "out", pseudonyms=True)
    page, table = ((tmp_path / "out" / name).read_text() for name in (board.PAGE, board.SCORES))
    assert "annika" not in page.lower() and "benedikt" not in page.lower() and "not taken" in page
    names = {row["student"]: row["pseudonym"] for row in csv.DictReader(table.splitlines())}
    assert names["annika"] in page and names["benedikt"] in page and "AnnikasOwn (line 2)" in table
    # The page of results asks for values that are missing, as after an update of netlab during a contest.
    (tmp_path / "out" / board.SCORES).unlink()
    monkeypatch.setattr(board, "_words", lambda *_held, **_how: {})
    with pytest.raises(NetlabError, match="Was netlab changed while the contest ran"):
        board.write(stored, tmp_path / "out")
    assert (tmp_path / "out" / board.SCORES).read_text() == table


def test_pseudonyms_hardly_change_when_others_join() -> None:
    some = [f"student {number}" for number in range(40)]
    first, second = (contest.pseudonyms(each, "word") for each in (some, [*some, "late"]))
    assert len(set(second.values())) == 41
    assert sum(first[name] != second[name] for name in some) <= 1
    assert len(set(contest.pseudonyms([str(number) for number in range(1000)], "w").values())) == 1000


SHORT_CONTEST = f"""
import sys
from netlab.commands import cli
from netlab_classroom.contest import controls, networks
networks.DURATION_S = 2.0
drawn = networks.draw({DEFAULT_SEED!r})
networks.draw = lambda _seed: [each for each in drawn if each.key == "walk"]
controls.REFERENCES, controls.OPPONENTS = ("cubic",), {{}}
run = controls.run_control
def announce_and_run(trial, control):
    print("racing", flush=True)
    return run(trial, control)
controls.run_control = announce_and_run
sys.exit(cli.main(["contest", *sys.argv[1:]]))
"""


@pytest.mark.pocket
@pytest.mark.library
def test_ctrl_c_in_a_race_keeps_finished_races_only(tmp_path: Path) -> None:
    """A signal while a class loops: a sentence, status 130, no process and no file; with --ladder the others need not race again."""
    hand_in(tmp_path / "in", {"anna": CLASS["anna"], "zoe": CLASS["loops"]})
    (tmp_path / "tmp").mkdir()

    def started_contest() -> subprocess.Popen[str]:
        words = [
            sys.executable,
            "-c",
            SHORT_CONTEST,
            str(tmp_path / "in"),
            "--output",
            str(tmp_path / "out"),
            "--jobs",
            "1",
            "--ladder",
        ]
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(tmp_path / "tmp"), "NETLAB_PROGRESS": "0"},
        )

    stopped = started_contest()
    assert stopped.stdout is not None
    # CUBIC, anna, zoe.
    assert [stopped.stdout.readline() for _ in range(3)] == ["racing\n"] * 3
    stopped.send_signal(signal.SIGINT)
    text, complaint = stopped.communicate(timeout=60)
    assert stopped.returncode == 130, complaint
    assert text.strip() == "Stopped. Finished races are kept; run the same command with --ladder to continue."
    assert "Traceback" not in complaint
    with pytest.raises(ProcessLookupError):
        os.killpg(stopped.pid, 0)
    # Only the user's scratch directory stays, with its lock.
    assert {path.name for path in (tmp_path / "tmp").rglob("*")} <= {f"netlab-{os.getuid()}", "lock"}
    found = {path: path.read_text()[:400] for path in (tmp_path / "out" / "results").iterdir()}
    assert len(found) == 1, found
    (kept,) = found
    assert "anna" in kept.read_text() and not (tmp_path / "out" / board.PAGE).exists()

    hand_in(tmp_path / "in", {"zoe": CLASS["ben"]})
    text, complaint = started_contest().communicate(timeout=60)
    assert text.count("racing") == 2, text + complaint
    assert kept.exists() and "zoe" in (tmp_path / "out" / board.PAGE).read_text()
