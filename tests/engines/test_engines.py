"""Engines: scratch directories, CPU slots, events, choosing one, and what `run` does with whatever engine it has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab import engines
from netlab.agent import files
from netlab.engines import native, scratch
from netlab.engines.base import EventTail, OnEvent, Requirement, cancelled, read_result, require
from netlab.errors import EngineError, KernelError, RunCancelled, RunError, ScenarioError

PAIR = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5)])


@pytest.fixture
def tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """$TMPDIR is a directory of the test's own."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def abandoned(tmp: Path) -> Path:
    """The directory of a run whose process was killed."""
    program = (
        "from netlab.engines import scratch\n"
        "import os\n"
        "with scratch.run_directory() as directory:\n"
        "    (directory / 'memory').write_text('x')\n"
        "    print(directory, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    root = Path(nl.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root)
    assert done.returncode == -9, done.stderr
    return Path(done.stdout.strip())


# Scratch directories ----------------------------------------------------------------------------------------


def test_a_run_directory_is_private_and_goes_with_the_run(tmp: Path) -> None:
    with scratch.run_directory() as directory:
        assert directory.parent.parent == tmp
        assert directory.parent.stat().st_mode & 0o777 == 0o700
        (directory / "out").mkdir()
    assert not directory.exists()


def test_a_run_directory_goes_when_the_run_fails(tmp: Path) -> None:
    with pytest.raises(KeyboardInterrupt), scratch.run_directory() as directory:
        raise KeyboardInterrupt
    assert not directory.exists()


def test_directories_of_killed_runs_are_cleared_and_those_of_others_kept(abandoned: Path) -> None:
    assert (abandoned / "memory").exists()
    with scratch.run_directory() as one:
        assert not abandoned.exists()
        with scratch.run_directory() as other:
            assert one.exists()
            assert other != one
        assert one.exists()


def test_a_directory_without_a_lock_is_a_killed_runs_too(tmp: Path) -> None:
    with scratch.run_directory() as directory:
        left = directory.parent / "run-left"
        left.mkdir()
    with scratch.run_directory():
        assert not left.exists()


def test_many_runs_may_begin_at_once(tmp: Path) -> None:
    """None clears another's directory away while it is being made."""
    begun = threading.Barrier(8)
    missing: list[Path] = []

    def one() -> None:
        begun.wait()
        for _ in range(10):
            with scratch.run_directory() as directory:
                if not (directory / scratch.LOCK).exists():
                    missing.append(directory)

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missing == []


def test_somebody_elses_directory_is_refused(tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a link to a directory of ours that they put there: what lies behind it would be cleared away."""
    ours = tmp / "documents"
    (ours / "run-marathon").mkdir(parents=True)
    (tmp / f"netlab-{os.getuid()}").symlink_to(ours)
    for take in (scratch.run_directory, scratch.cpu_slot):
        with (
            pytest.raises(EngineError, match="belongs to somebody else; set TMPDIR to a directory of your own"),
            take(),
        ):
            pass
    assert (ours / "run-marathon").exists()


def test_a_file_in_the_directorys_place_is_a_sentence(tmp: Path) -> None:
    (tmp / f"netlab-{os.getuid()}").write_text("")
    with pytest.raises(EngineError, match="cannot be made .* remove it or set TMPDIR"), scratch.run_directory():
        pass


def test_a_path_that_a_kernels_command_line_cannot_carry(tmp_path: Path) -> None:
    for name in ("two words", "a:b", 'a"b'):
        (tmp_path / name).mkdir()
        reason = scratch.usable(tmp_path / name)
        assert reason is not None
        assert "a space, a colon or a quote" in reason


def test_where_no_directory_will_do_each_is_named_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "file"))
    assert scratch.usable(tmp_path / "file") == "it is not writable or forbids programs (Not a directory)"
    assert scratch.usable(tmp_path / "none") == "it is not writable or forbids programs (No such file or directory)"
    real = scratch.usable
    monkeypatch.setattr(scratch, "usable", lambda directory, *more: real(tmp_path / "file", *more))
    with pytest.raises(EngineError) as caught:
        scratch.base()
    lines = str(caught.value).splitlines()
    assert len([line for line in lines if line.startswith("  ")]) == len(
        {str(tmp_path / "file"), "/tmp", "/var/tmp", "cache"}
    )
    assert lines[1] == f"  {tmp_path / 'file'}: it is not writable or forbids programs (Not a directory)"
    assert lines[-1].startswith("Set TMPDIR to a writable directory")


def test_a_full_disk_is_told_with_what_is_needed(tmp: Path) -> None:
    reason = scratch.usable(tmp, 1 << 60)
    assert reason is not None
    assert "are free there" in reason


# CPU slots --------------------------------------------------------------------------------------------------


def test_each_cpu_is_given_to_one_run(tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3})
    with scratch.cpu_slot() as (first, lock), scratch.cpu_slot() as (second, _), scratch.cpu_slot() as (third, none):
        assert {first, second} == {0, 3}
        assert lock is not None
        assert (third, none) == (-1, None)
    with scratch.cpu_slot() as (again, _):
        assert again == 3


# Events and results -----------------------------------------------------------------------------------------


def test_lines_are_handed_on_whole_and_once(tmp_path: Path) -> None:
    """The agent may be in the middle of a line when it is read."""
    heard: list[dict[str, Any]] = []
    tail = EventTail(tmp_path, heard.append)
    tail.poll()
    with (tmp_path / files.EVENTS).open("wb", buffering=0) as file:
        file.write(b'{"event": "agent"}\n{"event": "prog')
        tail.poll()
        tail.poll()
        assert [event["event"] for event in heard] == ["agent"]
        file.write('ress", "t_s": 1, "word": "ü'.encode()[:-1])
        tail.poll()
        file.write("ü".encode()[-1:] + b'"}\n')
        tail.poll()
    tail.poll()
    assert heard == [{"event": "agent"}, {"event": "progress", "t_s": 1, "word": "ü"}]


def test_an_error_event_is_kept_for_the_end(tmp_path: Path) -> None:
    tail = EventTail(tmp_path, lambda event: None)
    (tmp_path / files.EVENTS).write_text(json.dumps({"event": "error", "message": "The setting was refused."}) + "\n")
    tail.poll()
    with pytest.raises(RunError, match=r"^The setting was refused\.$"):
        read_result(tmp_path, tail, tmp_path / "log")


def test_a_traceback_follows_the_agents_words(tmp_path: Path) -> None:
    tail = EventTail(tmp_path, lambda event: None)
    tail.failure = {"message": "KeyError: 'x'", "traceback": "Traceback ..."}
    with pytest.raises(RunError, match=r"KeyError: 'x'\nTraceback"):
        read_result(tmp_path, tail, tmp_path / "log")


def test_without_a_result_the_last_words_are_shown(tmp_path: Path) -> None:
    tail = EventTail(tmp_path, lambda event: None)
    log = tmp_path / "log"
    with pytest.raises(RunError, match=r"ended without a result\. Its last words were:\n\(nothing\)"):
        read_result(tmp_path, tail, log)
    log.write_bytes(b"old\n" * 50 + b"Kernel panic \xff\n")
    with pytest.raises(RunError, match="Kernel panic"):
        read_result(tmp_path, tail, log)
    (tmp_path / files.CRASH).write_text("The overlay could not be mounted.")
    with pytest.raises(RunError, match="result. The overlay could not be mounted"):
        read_result(tmp_path, tail, log)


def test_a_result_is_read(tmp_path: Path) -> None:
    (tmp_path / files.RESULT).write_text('{"flows": []}')
    assert read_result(tmp_path, EventTail(tmp_path, lambda event: None), tmp_path / "log") == {"flows": []}


# Choosing ---------------------------------------------------------------------------------------------------


class Fake:
    """An engine that delivers every datagram, and half-way tells what it is doing."""

    name = "fake"
    clock = "virtual"

    def __init__(self, missing: tuple[Requirement, ...] = ()) -> None:
        self.missing = missing
        self.plan: dict[str, Any] = {}

    def requirements(self) -> list[Requirement]:
        return [Requirement("tc", True, "/sbin/tc"), *self.missing]

    def execute(
        self, plan: dict[str, Any], *, on_event: OnEvent, cancel: threading.Event | None = None
    ) -> dict[str, Any]:
        require(self.requirements())
        self.plan = plan
        on_event({"event": "agent"})
        on_event({"event": "progress", "t_s": plan["duration_s"] / 2})
        if cancel is not None and cancel.is_set():
            raise cancelled()
        on_event({"event": "progress", "t_s": plan["duration_s"]})
        echoes = [{"seq": 1, "t_s": 0.0, "rtt_ms": 20.0}]
        return {
            "flows": [{"flow": item["label"], "echoes": echoes, "error": None} for item in plan["traffic"]],
            "streams": [],
            "datagrams": [],
            "queues": [],
            "kernel": "7.0",
            "python": "3.11",
            "tc": {"h1": ["qdisc ..."]},
            "hosts_without_offload": [],
            "engine": {"engine": self.name, "clock": self.clock},
        }


def test_an_engine_object_is_taken_as_it_is() -> None:
    fake = Fake()
    assert engines.choose(fake) is fake


@pytest.mark.parametrize("wanted", ["docker", "Pocket", 5, Fake, object()])
def test_what_is_no_engine_is_a_sentence(wanted: Any) -> None:
    with pytest.raises(EngineError, match="^engine: got .*; allowed: pocket, pocket-real, native"):
        engines.choose(wanted)


def test_the_environment_chooses_when_nobody_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_ENGINE", "native")
    assert engines.choose().name == "native"
    monkeypatch.setenv("NETLAB_ENGINE", "nativ")
    with pytest.raises(EngineError, match="got 'nativ'"):
        engines.choose()


def test_without_a_kernel_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    monkeypatch.setenv("NETLAB_KERNEL", str(tmp_path / "linux"))
    with pytest.raises(KernelError, match="Set .NETLAB_KERNEL to a User-Mode Linux binary"):
        engines.choose()


def test_preflight_is_one_sentence_or_every_remedy() -> None:
    assert engines.preflight(Fake()) == "Ready: experiments run with the fake engine in virtual time."
    missing = (
        Requirement("ip", False, "not found", "Install iproute2."),
        Requirement("Landlock", False, "none", "Never mind.", required=False),
        Requirement("root", False, "no", "Run as root."),
    )
    with pytest.raises(EngineError) as caught:
        engines.preflight(Fake(missing))
    assert str(caught.value) == "ip: not found. Install iproute2.\nroot: no. Run as root."


def test_without_root_or_sudo_the_native_engine_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "privilege", lambda: None)
    requirement = next(each for each in native.NativeEngine().requirements() if each.name == "root")
    assert not requirement.ok
    assert "use the pocket engine" in requirement.remedy


# Running ----------------------------------------------------------------------------------------------------


def test_a_run_keeps_its_scenario_and_what_ran_it(capsys: pytest.CaptureFixture[str]) -> None:
    fake = Fake()
    run = nl.run(PAIR, [nl.Ping("h1", "h2", count=1)], duration_s=2, seed=9, engine=fake)
    assert fake.plan["seed"] == 9
    assert run.flows.rtt_ms[0] == 20
    words = {key: run.settings[key] for key in ("engine", "clock", "kernel", "netlab", "network_s", "tc")}
    assert words == {
        "engine": "fake",
        "clock": "virtual",
        "kernel": "7.0",
        "netlab": nl.__version__,
        "network_s": 2.0,
        "tc": {"h1": ["qdisc ..."]},
    }
    assert nl.Scenario.from_dict(json.loads(json.dumps(run.scenario))).seed == 9
    assert {"wall_s", "date", "sysctls", "python"} <= set(run.settings)
    assert capsys.readouterr() == ("", ""), "no bar where nobody looks"


def test_a_run_of_a_file_is_the_run_of_its_words() -> None:
    scenario = nl.Scenario(PAIR, [nl.Ping("h1", "h2")], duration_s=3, seed=4, interval_s=0.5)
    one, other = Fake(), Fake()
    nl.run(scenario, engine=one)
    nl.run(json.loads(json.dumps(scenario.to_dict())), engine=other)
    assert one.plan == other.plan == scenario.plan()


def test_progress_is_told_in_network_time() -> None:
    told: list[tuple[float, float]] = []
    nl.run(
        PAIR,
        [nl.Ping("h1", "h2")],
        duration_s=4,
        engine=Fake(),
        progress=lambda done, whole: told.append((done, whole)),
    )
    assert told == [(2.0, 4), (4.0, 4)]


def test_a_cancelled_run_is_no_run() -> None:
    cancel = threading.Event()
    told: list[float] = []

    def half_way(done_s: float, _: float) -> None:
        told.append(done_s)
        cancel.set()

    with pytest.raises(RunCancelled, match="stopped before its end; nothing of it is kept"):
        nl.run(PAIR, [nl.Ping("h1", "h2")], duration_s=4, engine=Fake(), progress=half_way, cancel=cancel)
    assert told == [2.0]


def test_an_unsound_scenario_reaches_no_engine() -> None:
    fake = Fake()
    with pytest.raises(ScenarioError):
        nl.run(PAIR, [nl.Ping("h1", "h9")], engine=fake)
    assert fake.plan == {}
