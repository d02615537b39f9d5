"""The command line: exit codes, sentences, and what is written where."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netlab import cli, demo
from netlab.results import Run
from netlab.tables import text_table

SCENARIO = {
    "topology": {"hosts": ["h1", "h2"], "links": [{"a": "h1", "b": "h2", "rate_mbps": 5, "delay_ms": 10}]},
    "traffic": [{"kind": "ping", "src": "h1", "dst": "h2", "count": 2}],
    "duration_s": 2,
}

# A netlab whose engine needs no kernel: it answers every ping after 20 ms, or hangs, or fails, as told.
STAND_IN = """
import os, sys, time
from netlab import engines
from netlab.errors import EngineError

class StandIn:
    name, clock = "stand-in", "virtual"

    def requirements(self):
        return []

    def execute(self, plan, *, on_event, cancel=None):
        open(os.environ["STARTED"], "w").close()
        behaviour = os.environ.get("BEHAVIOUR")
        if behaviour == "hang":
            try:
                time.sleep(60)
            finally:
                open(os.environ["STARTED"] + ".cleaned", "w").close()
        if behaviour == "missing":
            raise EngineError("pocket kernel: none is built. Build one.")
        error = "nobody answers" if behaviour == "flow" else None
        echoes = [{"t_s": 0.0, "seq": 1, "rtt_ms": 20.0}, {"t_s": 0.2, "seq": 2, "rtt_ms": 20.0}]
        flows = [{"flow": item["label"], "echoes": echoes, "error": error} for item in plan["traffic"]]
        return {"flows": flows, "streams": [], "datagrams": [], "queues": [], "tc": [], "kernel": "7.3", "python": "3",
                "engine": {"engine": self.name, "clock": self.clock}}

engines.choose = lambda wanted=None: StandIn()
from netlab.cli import main
sys.exit(main())
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(SCENARIO))
    return path


def environment(tmp_path: Path, behaviour: str = "") -> dict[str, str]:
    return {**os.environ, "STARTED": str(tmp_path / "started"), "BEHAVIOUR": behaviour}


def netlab(tmp_path: Path, *words: object, behaviour: str = "", text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", STAND_IN, *map(str, words)],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(tmp_path, behaviour),
    )


def test_a_run_prints_its_flows_and_writes_its_result(tmp_path, scenario):
    result = tmp_path / "result.json"
    done = netlab(tmp_path, "run", scenario, "--output", result)
    assert (done.returncode, done.stderr) == (0, "")
    assert "h1-h2 ping" in done.stdout and "20.000" in done.stdout and "stand-in engine" in done.stdout
    written = json.loads(result.read_text())
    assert {"flows", "intervals", "queues", "settings"} <= set(written)
    assert written["flows"][0]["rtt_ms"] == 20.0
    assert Run.from_json(result).settings["scenario"]["duration_s"] == 2


def test_a_dash_reads_the_standard_input_and_writes_nothing_but_json_to_the_standard_output(tmp_path):
    done = netlab(tmp_path, "run", "-", "-o", "-", text=json.dumps(SCENARIO))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["flows"][0]["flow"] == "h1-h2 ping"


def test_every_mistake_in_a_scenario_is_told_and_nothing_starts(tmp_path):
    words = {**SCENARIO, "duration_s": -1, "seed": "x", "interval_s": 0}
    done = netlab(tmp_path, "run", "-", text=json.dumps(words))
    assert done.returncode == 2
    assert done.stdout == ""
    for word in ("duration_s", "seed", "interval_s"):
        assert f"  - {word} must be" in done.stderr
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"h1"'])
def test_what_is_no_scenario_is_said_in_a_sentence(tmp_path, text):
    done = netlab(tmp_path, "run", "-", text=text)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_missing_engine_names_its_remedy(tmp_path, scenario):
    done = netlab(tmp_path, "run", scenario, behaviour="missing")
    assert done.returncode == 1
    assert done.stderr == "netlab: pocket kernel: none is built. Build one.\n"


def test_a_flow_that_failed_fails_the_command_but_keeps_the_result(tmp_path, scenario):
    result = tmp_path / "result.json"
    done = netlab(tmp_path, "run", scenario, "-o", result, behaviour="flow")
    assert done.returncode == 1
    assert done.stderr == "netlab: h1-h2 ping: nobody answers\n"
    assert result.exists()


def test_an_output_that_cannot_be_written_stops_before_the_run(tmp_path, scenario):
    (tmp_path / "pipe").mkdir()
    places = {
        tmp_path / "nowhere" / "result.json": "there is no directory",
        tmp_path / "pipe": "no ordinary file",
        Path("/dev/null"): "no ordinary file",
        scenario: "it is the scenario",
    }
    for place, reason in places.items():
        done = netlab(tmp_path, "run", scenario, "-o", place)
        assert done.returncode == 1
        assert reason in done.stderr and "Nothing was run" in done.stderr
        assert not (tmp_path / "started").exists()
    assert json.loads(scenario.read_text()) == SCENARIO


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_stops_before_the_run(tmp_path, scenario):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    done = netlab(tmp_path, "run", scenario, "-o", closed / "result.json")
    assert done.returncode == 1
    assert "you may not write" in done.stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_cleanly(tmp_path, scenario, number, status):
    result = tmp_path / "result.json"
    process = subprocess.Popen(
        [sys.executable, "-c", STAND_IN, "run", str(scenario), "-o", str(result)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path, "hang"),
    )
    while not (tmp_path / "started").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == status
    assert "Traceback" not in said
    assert (tmp_path / "started.cleaned").exists()
    assert not result.exists()
    if number == signal.SIGINT:
        assert said.strip() == "netlab: stopped; nothing of it is kept."


def test_a_full_standard_output_is_told(tmp_path, scenario):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", STAND_IN, "run", str(scenario)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(tmp_path),
        )
    assert done.returncode == 1
    assert done.stderr == "netlab: The standard output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("words", [[], ["walk"], ["run"], ["perf"], ["kernel"], ["run", "x", "--engine", "steam"]])
def test_a_wrong_command_line_shows_the_usage(capsys, words):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert "usage: netlab" in capsys.readouterr().err


def test_an_unknown_command_names_what_is_allowed_and_the_nearest(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["rum", "scenario.json"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "unknown command: got 'rum'; allowed: run, demo, doctor, kernel, perf, replicate" in said
    assert said.endswith("; did you mean run?\n")


def test_an_unknown_command_that_is_near_to_none_gets_no_guess(capsys):
    with pytest.raises(SystemExit):
        cli.main(["xyz"])
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself(capsys, name):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: netlab {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_no_command_imports_another(name):
    others = [command.module for other, command in cli.COMMANDS.items() if other != name]
    program = (
        f"import sys\nfrom netlab import cli\ntry:\n    cli.main([{name!r}, '--help'])\nexcept SystemExit:\n    pass\n"
        f"print([module for module in {others!r} if module in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_perf_starts_without_the_large_packages():
    program = (
        "import sys\nfrom netlab import cli\n"
        "try:\n    cli.main(['perf', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('pandas', 'numpy', 'plotly', 'networkx', 'mininet') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_doctor_names_what_is_missing_and_the_remedy(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    monkeypatch.delenv("NETLAB_KERNEL", raising=False)
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    assert cli.main(["doctor"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "pocket kernel MISSING" in said
    assert "netlab kernel build" in said
    assert "Not ready: pocket kernel" in said


def test_the_demos_figures_have_a_theory_within_its_network():
    items = demo.traffic()
    assert [item.kind for item in items] == ["ping", "udp", "udp", "udp", "tcp"]
    ends = [item.start_s + (getattr(item, "duration_s", None) or 0) for item in items]
    assert all(end + 1 <= later.start_s for end, later in zip(ends[1:], items[2:], strict=False))
    assert ends[-1] < demo.DURATION_S


def test_a_table_is_as_wide_as_its_longest_cells():
    lines = text_table(["flow", "a\nb"], [["x", "1.5"], ["longer one", "12345.678"]]).splitlines()
    assert len({len(line) for line in lines[2:]}) == 1
    assert lines[-1] == "longer one  12345.678"
