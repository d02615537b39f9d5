"""Student code in the sandbox: what it cannot read, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netlab.base import scratch
from netlab.base.errors import EngineError
from netlab.base.location import IMPORT_ROOT
from netlab_classroom.grading import sandbox
from netlab_classroom.grading.sandbox import Ending, ExerciseSandbox
from netlab_course import chapters
from netlab_engines import launcher
from tests.grading import classroom


@pytest.fixture(scope="module")
def package() -> Iterator[Path]:
    with sandbox.student_package() as place:
        yield place


def exercise(answer: str, name: str = "found") -> dict[str, Any]:
    return {
        "topic": "udp_loss", "token": "", "numbers": {"pairs": []}, "key": "k",
        "name": name, "given": ["import os"], "answer": answer, "calls": [],
    }  # fmt: skip


READ = """
def look(path):
    try:
        return open(path).read(40) if os.path.isfile(path) else "/".join(os.listdir(path))
    except OSError as error:
        return type(error).__name__
found = [look(path) for path in {paths!r}]
"""


@pytest.mark.pocket
def test_student_code_reads_no_files_of_others_and_leaves_none(package: Path, tmp_path: Path) -> None:
    """Nothing of the user, the grader or other exercises can be read; no network; nothing stays for the next exercise."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    checks = IMPORT_ROOT / "netlab_course" / "chapters" / "udp_loss" / "check.py"
    paths = [
        "/etc/passwd", "/etc/hostname", str(Path.home()), str(secret), str(tmp_path), str(checks),
        str(IMPORT_ROOT / "netlab_classroom" / "grading" / "judging.py"), str(IMPORT_ROOT / "solutions"), str(scratch.base()),
    ]  # fmt: skip
    box = ExerciseSandbox(package, cpu_s=10)
    found = box.work(
        [
            exercise(READ.format(paths=paths)),
            exercise("found = open('/tmp/left', 'w').write('x') and open('/dev/shm/left', 'w').write('x')"),
            exercise("found = [os.path.exists('/tmp/left'), os.path.exists('/dev/shm/left'), os.listdir('/tmp/home')]"),
            exercise("from netlab_course.chapters.udp_loss import check\nfound = [hasattr(check, '__file__')]"),
            exercise("import socket\nfound = [name for _, name in socket.if_nameindex()]"),
            exercise(
                "import netlab.runs.experiment\nnetlab.runs.experiment.run = None\nos.environ['MINE'] = '1'\nfound = 1"
            ),
            exercise(
                "import netlab.runs.experiment\nfound = [netlab.runs.experiment.run is None, 'MINE' in os.environ]"
            ),
        ],
        lambda *_asked: None,
    )
    assert [outcome.ending for outcome in found] == [Ending.ANSWERED] * 7
    values = [_message_fields(outcome.message) for outcome in found]
    # The scratch directory is seen, empty but for the packages; of all else not even whether it is there.
    assert set(values[0][:-1]) <= {"PermissionError", "FileNotFoundError", ""}
    assert "secret" not in str(found[0].message)
    assert values[2] == [False, False, []]
    assert values[3] == [False]
    assert values[4] == ["lo"]
    assert values[6] == [False, False]


def _message_fields(message: dict[str, Any]) -> list[Any]:
    from netlab_classroom.grading import plain

    value = plain.decode(message["value"])
    return value if isinstance(value, list) else [value]


@pytest.mark.pocket
def test_after_code_that_brings_its_guest_down_the_next_exercise_runs(package: Path) -> None:
    box = ExerciseSandbox(package, cpu_s=1.5)
    answers = [exercise("while True: pass"), exercise("import os\nos._exit(3)"), exercise("found = 1")]
    loop, missing, after = box.work(answers, lambda *_asked: None)
    assert loop.ending is Ending.TIMED_OUT and "processor time" in loop.reason
    assert missing.ending is Ending.CRASHED and missing.reason == "its process ended with status 3"
    assert after.ending is Ending.ANSWERED


@pytest.mark.pocket
def test_request_reaches_the_grader_as_plain_data(package: Path) -> None:
    calls: list[Any] = []
    ask = (
        "import netlab as nl\n"
        "def ask(seed):\n"
        "    try:\n"
        "        nl.run(nl.topologies.dumbbell(pairs=1), [nl.Ping('h1', 'h2')], duration_s=1, seed=seed)\n"
        "    except Exception as error:\n"
        "        return str(error)\n"
        "found = [ask(1), ask(2)]"
    )

    def answer(question: Any, _line: object) -> Any:
        calls.append(question)
        raise EngineError(f"not now: {len(calls)}")

    (outcome,) = ExerciseSandbox(package).work([exercise(ask)], answer)
    assert len(calls) == 2
    assert all(question["kind"] == "run" and question["graded"] is True for question in calls)
    assert _message_fields(outcome.message) == ["not now: 1", "not now: 2"]


@pytest.mark.parametrize("place", ["usr", "prefix", "link", "chapters", "clone"])
def test_grading_is_refused_if_student_code_could_read_the_answers(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "landlock_version", lambda: 1)
    home = tmp_path / "prefix" / "lib" / "python3" / "site-packages"
    (home / "netlab").mkdir(parents=True)
    monkeypatch.setattr("sys.base_prefix", str(tmp_path / "prefix"))
    package = {
        "usr": Path("/usr/local/lib/python3/site-packages/netlab"),
        "prefix": home / "netlab",
        "link": tmp_path / "netlab",
        "clone": home / "netlab",
    }.get(place)
    if place == "link":
        (tmp_path / "netlab").symlink_to(home / "netlab")
    if place == "chapters":
        monkeypatch.setattr("netlab_course.chapters.__path__", [*chapters.__path__, str(home)])
    if place == "clone":
        # Only the solutions, with a package in another place.
        monkeypatch.setattr(sandbox, "_answers", lambda: [home / "solutions"])
    elif package is not None:
        monkeypatch.setattr(sandbox, "package_directories", lambda: [package])
        monkeypatch.setattr("netlab_course.chapters.__path__", [str(package / "chapters")])
    with pytest.raises(EngineError, match=r"has the answers, and is in .*which student code may read.*venv"):
        sandbox.require_isolation()


def test_a_clone_with_its_own_environment_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "landlock_version", lambda: 1)
    assert (IMPORT_ROOT / "solutions") in sandbox._answers()
    sandbox.require_isolation()


def test_without_landlock_grading_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "landlock_version", lambda: 0)
    with pytest.raises(EngineError, match="Landlock"):
        sandbox.require_isolation()


@pytest.mark.slow
def test_a_chapter_that_is_added_later_is_in_the_package_too() -> None:
    without = sandbox.shared_package()
    with classroom.sample_chapter():
        assert (sandbox.shared_package() / "netlab_course" / "chapters" / "sample").is_dir()
    assert sandbox.shared_package() == without
    assert not (without / "netlab_course" / "chapters" / "sample").exists()


@pytest.mark.slow
def test_the_students_package_has_neither_checks_nor_the_grader(package: Path) -> None:
    names = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    assert "netlab_course/chapters/udp_loss/settings.py" in names
    assert not [name for name in names if "check" in Path(name).stem and "chapters" in name]
    assert {
        Path(name).name for name in names if name.startswith("netlab_classroom/grading/") and name.endswith(".py")
    } == set(sandbox.GUEST_MODULES)


@pytest.mark.pocket
def test_waiting_for_the_grader_costs_an_answer_no_processor_time(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The grader looks only every 2 s, more than an answer's limit."""
    monkeypatch.setattr(sandbox, "POLL_S", 2.0)
    ask = (
        "from netlab_classroom.grading import runner\n"
        "found = [runner.ask(runner.RemoteLaboratory.stream, {'kind': 'probe', 'number': n}) for n in range(3)]"
    )

    def answer(question: Any, _line: object) -> Any:
        return question["number"]

    (outcome,) = ExerciseSandbox(package, cpu_s=1.5).work([exercise(ask)], answer)
    assert _message_fields(outcome.message) == [0, 1, 2]
