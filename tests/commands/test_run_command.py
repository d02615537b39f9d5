"""`netlab run`: exit codes, sentences, and what is written where."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from netlab import engines
from netlab.commands import cli
from netlab.measure.results import Run
from tests.commands.stand_in import StandIn
from tests.waiting import wait_for

SCENARIO = {
    "topology": {"hosts": ["h1", "h2"], "links": [{"a": "h1", "b": "h2", "rate_mbps": 5, "delay_ms": 10}]},
    "traffic": [{"kind": "ping", "src": "h1", "dst": "h2", "count": 2}],
    "duration_s": 2,
}


# The command as a process of its own, for what only a process shows: signals, a closed output, the whole standard input.
PROGRAM = """
import sys
from netlab import engines
from netlab.commands.cli import main
from tests.commands.stand_in import StandIn
engines.choose = lambda wanted=None, plans=(): StandIn()
sys.exit(main())
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(SCENARIO))
    return path


def environment(tmp_path: Path, behaviour: str = "") -> dict[str, str]:
    root = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": root, "STARTED": str(tmp_path / "started"), "BEHAVIOUR": behaviour}


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def netlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """`netlab WORDS`, in this process; `text` is its standard input."""
    monkeypatch.setattr(engines, "choose", lambda wanted=None, plans=(): StandIn())

    def run(*words: object, behaviour: str = "", text: str = "") -> Done:
        for name in ("STARTED", "BEHAVIOUR"):
            monkeypatch.setenv(name, environment(tmp_path, behaviour)[name])
        (tmp_path / "input").write_text(text)
        kept = os.dup(0)
        try:
            with (tmp_path / "input").open() as given:
                os.dup2(given.fileno(), 0)
            status = cli.main([str(word) for word in words])
        finally:
            os.dup2(kept, 0)
            os.close(kept)
        return Done(status, *capfd.readouterr())

    return run


def test_a_run_prints_its_flows_and_writes_its_result(netlab, tmp_path, scenario):
    result = tmp_path / "result.json"
    done = netlab("run", scenario, "--output", result)
    assert (done.returncode, done.stderr) == (0, "")
    assert "h1-h2 ping" in done.stdout and "20.000" in done.stdout and "stand-in engine" in done.stdout
    written = json.loads(result.read_text())
    assert {"flows", "intervals", "queues", "settings"} <= set(written)
    assert written["flows"][0]["rtt_ms"] == 20.0
    assert Run.from_json(result).settings["scenario"]["duration_s"] == 2


def test_dash_reads_standard_input_and_writes_only_json(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "run", "-", "-o", "-"],
        input=json.dumps(SCENARIO),
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(tmp_path),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["flows"][0]["flow"] == "h1-h2 ping"


def test_every_mistake_in_a_scenario_is_reported_before_anything_starts(netlab, tmp_path):
    words = {**SCENARIO, "duration_s": -1, "seed": "x", "interval_s": 0}
    done = netlab("run", "-", text=json.dumps(words))
    assert done.returncode == 2
    assert done.stdout == ""
    for word in ("duration_s", "seed", "interval_s"):
        assert f"  - {word} must be" in done.stderr
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"h1"'])
def test_object_that_is_no_scenario_is_reported_in_a_sentence(netlab, text):
    done = netlab("run", "-", text=text)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_missing_engine_names_its_remedy(netlab, scenario):
    done = netlab("run", scenario, behaviour="missing")
    assert done.returncode == 1
    assert done.stderr == "netlab: pocket kernel: none is built. Build one.\n"


def test_a_flow_that_delivered_nothing_is_a_result_with_a_warning(netlab, tmp_path, scenario):
    result = tmp_path / "result.json"
    done = netlab("run", scenario, "-o", result, behaviour="flow")
    assert done.returncode == 0
    assert done.stderr == "netlab: warning: h1-h2 ping: nobody answers\n"
    assert result.exists()


def test_an_output_that_cannot_be_written_stops_before_the_run(netlab, tmp_path, scenario):
    (tmp_path / "pipe").mkdir()
    places = {
        tmp_path / "nowhere" / "result.json": "there is no directory",
        tmp_path / "pipe": "not an ordinary file",
        Path("/dev/null"): "not an ordinary file",
        scenario: "it is the scenario",
    }
    for place, reason in places.items():
        done = netlab("run", scenario, "-o", place)
        assert done.returncode == 1
        assert reason in done.stderr and "Nothing was run" in done.stderr
        assert not (tmp_path / "started").exists()
    assert json.loads(scenario.read_text()) == SCENARIO


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_stops_before_the_run(netlab, tmp_path, scenario):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    done = netlab("run", scenario, "-o", closed / "result.json")
    assert done.returncode == 1
    assert "you may not write" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_cleanly(tmp_path, scenario, number, status):
    result = tmp_path / "result.json"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "run", str(scenario), "-o", str(result)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path, "hang"),
    )
    assert wait_for(lambda: process.poll() is not None or (tmp_path / "started").exists())
    process.send_signal(number)
    _, text = process.communicate(timeout=30)
    assert process.returncode == status
    assert "Traceback" not in text
    assert (tmp_path / "started.cleaned").exists()
    assert not result.exists()
    if number == signal.SIGINT:
        assert text.strip() == "netlab: the run was stopped, and nothing of it is kept."


def test_full_standard_output_is_reported(tmp_path, scenario):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "run", str(scenario)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(tmp_path),
        )
    assert done.returncode == 1
    assert done.stderr == "netlab: The standard output cannot be written: No space left on device.\n"
