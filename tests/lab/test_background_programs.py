"""Background programs of scripts and live hosts that fail within a second are reported; all others are not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import netlab as nl
from netlab_engines.agent.early_exits import UNREPORTED_EXITS
from netlab_engines.lab.live import Lab
from netlab_engines.lab.script import run_script

pytestmark = pytest.mark.pocket

START = """
    import sys
    import time
    from subprocess import PIPE, STDOUT
    from mininet.net import Mininet
    net = Mininet()
    h1, h2 = net.addHost("h1"), net.addHost("h2")
    net.addLink(h1, h2)
    net.start()
"""
FAILS = "def serve():\n    raise OSError('the port is taken')\n\nserve()\n"
CATCHES = """\
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_words: sys.exit(3))
print("ready", flush=True)
time.sleep(100)
"""
SEGFAULTS = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"
LATE = "import sys, time\ntime.sleep(1.5)\nsys.exit(4)\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, text in {"fails": FAILS, "catches": CATCHES, "segfaults": SEGFAULTS, "late": LATE}.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "start.sh").write_text("./nothing -p 80 &\nsleep 0.1\n")
    return tmp_path


def reported(text: str, place: Path, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], str]:
    """Return the lines on the standard error output of a script's run, and what the script printed."""
    (place / "case.py").write_text(textwrap.dedent(START) + textwrap.dedent(text))
    printed: list[str] = []
    assert run_script(["case.py"], write=printed.append, directory=place).code == 0, "".join(printed)
    return capsys.readouterr().err.splitlines(), "".join(printed)


def test_programs_of_popen_that_fail_are_reported_with_the_reason(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, _ = reported(
        """
        h2.popen("iperf3 -s --bogus")
        h2.popen(["nosuch", "-s"])
        h2.popen("python3 fails.py")
        h1.popen("python3 fails.py", stderr=STDOUT)
        h1.popen("cat /nothing", shell=True)
        h1.popen("python3 fails.py > log 2>&1", shell=True)
        h1.popen("python3 segfaults.py")
        h1.popen("sleep 0.9; ./nothing", shell=True)
        h2.popen("sh -c 'echo on port 1; echo no such port >&2; exit 3'", shell=True)
        kept = h1.popen("false")
        time.sleep(2)
        """,
        place,
        capsys,
    )
    assert sorted(lines) == [
        "h1: cat /nothing exited with status 1: /nothing: No such file or directory",
        "h1: false exited with status 1",
        "h1: python3 fails.py > log 2>&1 exited with status 1: OSError: the port is taken",
        "h1: python3 fails.py exited with status 1: OSError: the port is taken",
        "h1: python3 segfaults.py was ended by SIGSEGV",
        "h1: sleep 0.9; ./nothing exited with status 127: /bin/bash: line 1: ./nothing: No such file or directory",
        "h2: echo on port 1; echo no such port >&2; exit 3 exited with status 3: no such port",
        "h2: iperf3 -s --bogus exited with status 1: unrecognized option '--bogus'",
        "h2: nosuch -s exited with status 1: command not found",
        "h2: python3 fails.py exited with status 1: OSError: the port is taken",
    ]


def test_commands_with_an_ampersand_that_fail_are_reported_with_the_reason(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, _ = reported(
        """
        h2.cmd("nosuch -s &")
        h2.cmd("ping -Z &")
        h2.cmd("python3 fails.py &")
        h2.cmd("python3 fails.py > log 2>&1 &")
        h1.cmd("(cd /tmp; python3 %s/fails.py) &" % __import__("os").getcwd())
        h1.cmd("cat < /nothing &")
        h1.cmd("bash start.sh")
        h2.cmd("sh -c './nothing & sleep 0.1' &")
        h2.cmd("iperf3 -s -D")
        time.sleep(0.5)
        h2.cmd("iperf3 -s -D")
        h1.sendCmd("ping -Z")
        time.sleep(2)
        """,
        place,
        capsys,
    )
    assert sorted(lines) == [
        "h1: a command in the background exited with status 127: start.sh: line 1: ./nothing: No such file or directory",
        "h1: a command in the background exited with status 1: /nothing: No such file or directory",
        "h1: ping -Z exited with status 2: invalid option -- 'Z'",
        f"h1: python3 {place}/fails.py exited with status 1: OSError: the port is taken",
        "h2: ./nothing exited with status 127: command not found",
        "h2: iperf3 -s -D exited with status 1: error - unable to start listener for connections: Address already in use",
        "h2: nosuch exited with status 127: command not found",
        "h2: ping -Z exited with status 2: invalid option -- 'Z'",
        "h2: python3 fails.py exited with status 1: OSError: the port is taken",
        "h2: python3 fails.py exited with status 1: OSError: the port is taken",
    ]


@pytest.mark.slow
def test_a_loop_in_the_background_is_reported_by_the_program_that_failed(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, _ = reported(
        """
        h1.cmd("for n in 1 2; do nosuch $n; done &")
        h2.cmd("for n in 1; do (cd /tmp; nosuch) | sort; nosuch $n; done > log 2>&1 &")
        time.sleep(2)
        """,
        place,
        capsys,
    )
    assert sorted(lines) == [
        "h1: nosuch exited with status 127: command not found",
        "h2: nosuch exited with status 127: command not found",
    ]


def test_the_line_comes_while_the_script_runs(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "case.py").write_text(
        textwrap.dedent(START) + 'kept = h2.popen("./nothing")\ntime.sleep(1)\nprint("late")\n'
    )
    seen: list[str] = []
    run_script(["case.py"], write=lambda text: seen.append(capsys.readouterr().err + text), directory=place)
    assert "h2: ./nothing exited with status 1: command not found\nlate" in "".join(seen)


def test_programs_that_wait_end_well_fail_late_or_are_stopped_are_not_reported(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, _ = reported(
        """
        h1.cmd("false")
        h1.cmd("nosuch")
        h1.cmd("false; true &")
        h1.cmd("x=$(false); echo $(grep -q x /dev/null); false | true")
        h1.cmd("bash -c 'exit 4'; sh -c 'ping -Z'")
        h1.popen("true")
        h1.popen("sh -c 'exit 0'", shell=True)
        h1.popen("python3 late.py")
        h1.cmd("python3 late.py &")
        for end in ("terminate", "kill"):
            getattr(h1.popen("sleep 100"), end)()
        process = h1.popen("python3 catches.py")
        process.stdout.readline()
        process.terminate()
        h1.cmd("sleep 100 &")
        h1.cmd("kill $!")
        h1.cmd("bash -c 'sleep 100; exit 1' &")
        h1.cmd("pkill -f 'sleep 100'")
        h2.cmd("touch ready; python3 catches.py > ready &")
        while not open("ready").read():
            time.sleep(0.01)
        h2.cmd("kill $!")
        h1.sendCmd("sleep 100")
        time.sleep(0.1)
        h1.sendInt()
        time.sleep(2)
        """,
        place,
        capsys,
    )
    assert lines == []


def test_a_script_that_reads_the_error_output_gets_no_report(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, printed = reported(
        """
        print(h1.pexec("cat /nothing1"))
        print(h1.popen("cat /nothing2").communicate())
        process = h1.popen("cat /nothing3", stderr=STDOUT)
        print(process.wait(), process.stdout.read())
        process = h1.popen("cat /nothing4")
        print(process.wait(), process.stderr.read())
        h1.sendCmd("cat /nothing5")
        print(h1.waitOutput())
        # These two were not read.
        process = h1.popen("cat /nothing6")
        print(process.wait(), process.stdout.read())
        process = h1.popen("cat /nothing7")
        time.sleep(0.1)
        print(process.stderr.read())
        time.sleep(1)
        """,
        place,
        capsys,
    )
    assert [printed.count(f"/nothing{number}: No such") for number in range(1, 8)] == [1, 1, 1, 1, 1, 0, 1]
    assert [line.partition(" exited")[0] for line in lines] == ["h1: cat /nothing6", "h1: cat /nothing7"]


def test_ten_programs_are_reported_and_that_more_failed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, _ = reported(
        """
        for number in range(15):
            h1.cmd("./nothing%d &" % number)
        time.sleep(1)
        """,
        place,
        capsys,
    )
    assert len(lines) == 11
    assert lines[-1] == UNREPORTED_EXITS


@pytest.fixture(scope="module")
def lab() -> Lab:
    return nl.live(nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2")]))


def test_a_program_of_a_live_host_that_fails_is_reported(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab["h2"].write("fails.py", FAILS)
    failed = lab["h2"].start("python3 fails.py")
    lab.advance(1)
    assert failed.exit_code == 1
    lab["h1"].run("nosuch -s &")
    lab["h1"].run("false")
    lab["h1"].run("sleep 1")
    lab["h1"].start("sleep 100").stop()
    assert capsys.readouterr().err.splitlines() == [
        "h2: python3 fails.py exited with status 1: OSError: the port is taken",
        "h1: nosuch exited with status 127: command not found",
    ]
