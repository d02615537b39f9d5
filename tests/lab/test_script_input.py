"""A Mininet script reads its standard input and handles signals as it would without netlab."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from netlab.commands.cli import main
from netlab_engines.lab import script_input
from netlab_engines.lab.script import run_script
from netlab_engines.lab.script_input import read_script_input
from tests.lab.running_scripts import Running, command, environment
from tests.lab.test_terminal import Person

ASKS = "print('heard', input('rate? '))\n"
PROMPTS = """
from mininet.cli import CLI
from mininet.net import Mininet
net = Mininet()
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2)
net.start()
print("first", input())
CLI(net)
print("between", input())
CLI(net)
net.stop()
"""
COMMANDS = "ten\nh1 echo one\nexit # or quit\nh1 echo never\nh1 ping -c 1 10.0.0.2\n"
MANY = 3_000_000


def script_at(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "case.py"
    path.write_text(textwrap.dedent(text))
    return path


def printed_by(tmp_path: Path, text: str, input_text: str = "") -> str:
    parts: list[str] = []
    finished = run_script(
        [str(script_at(tmp_path, text))], write=parts.append, directory=tmp_path, input_text=input_text
    )
    assert finished.code == 0, parts
    return "".join(parts)


@pytest.mark.pocket
def test_lines_go_to_whoever_reads_first(tmp_path: Path) -> None:
    """`input` and the prompt take lines from the same file, as on Linux, and `exit` closes one prompt."""
    printed = printed_by(tmp_path, PROMPTS, COMMANDS)
    assert "first ten" in printed
    assert "\none\r\n" in printed or "\none\n" in printed
    assert "between h1 echo never" in printed
    assert "1 packets transmitted, 1 received" in printed
    assert "\nnever" not in printed


@pytest.mark.pocket
def test_an_input_at_its_end_raises_in_the_script(tmp_path: Path) -> None:
    script = f"""
        import subprocess, sys
        try:
            {ASKS.strip()}
        except EOFError:
            print("no answer")
        print(repr(sys.stdin.read()), subprocess.run(["cat"], capture_output=True).stdout)
    """
    assert "no answer\n'' b''\n" in printed_by(tmp_path, script)


@pytest.mark.pocket
@pytest.mark.parametrize(("data", "heard"), [(b"10\n", "heard 10"), (b"no newline", "heard no newline")])
def test_a_pipe_is_the_scripts_input(data: bytes, heard: str, tmp_path: Path) -> None:
    script_at(tmp_path, ASKS)
    done = subprocess.run(
        command("case.py"), input=data, capture_output=True, cwd=tmp_path, env=environment(tmp_path), check=True
    )
    assert done.stdout.decode() == f"rate? {heard}\n"


@pytest.mark.pocket
def test_a_large_binary_input_arrives_unchanged(tmp_path: Path) -> None:
    script_at(tmp_path, "import hashlib, sys\nprint(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())\n")
    data = bytes(range(256)) * (MANY // 256)
    done = subprocess.run(
        command("case.py"), input=data, capture_output=True, cwd=tmp_path, env=environment(tmp_path), check=True
    )
    expected = subprocess.run(["sha256sum"], input=data, capture_output=True, check=True).stdout.split()[0]
    assert done.stdout.split() == [expected]


@pytest.mark.pocket
def test_a_closed_input_is_empty(tmp_path: Path) -> None:
    script_at(tmp_path, "import sys\nprint(repr(sys.stdin.read()))\n")
    words = ["sh", "-c", 'exec "$@" <&-', "sh", *command("case.py")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment(tmp_path), check=False)
    assert (done.returncode, done.stdout) == (0, "''\n"), done.stderr


@pytest.mark.parametrize(
    ("script", "left"),
    [
        ("print('nothing is read')\n", b"b\nc\n"),
        ("import helper\n", b""),
        (ASKS, b""),
        ("import sys\nfor line in sys.stdin: print(line)\n", b""),
        ("from mininet.cli import CLI\nCLI(net)\n", b""),
        ("def broken(:\n", b""),
    ],
)
def test_a_shells_loop_keeps_the_lines_that_no_script_reads(script: str, left: bytes, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def ask():\n    return input()\n")
    (tmp_path / "list").write_bytes(b"b\nc\n")
    descriptor = os.open(tmp_path / "list", os.O_RDONLY)
    try:
        assert read_script_input(script_at(tmp_path, script), tmp_path, descriptor) == "b\nc\n"
        assert os.read(descriptor, 99) == left
    finally:
        os.close(descriptor)


def test_a_script_that_reads_nothing_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        assert read_script_input(script_at(tmp_path, "print(1)\n"), tmp_path, reading) == ""
    finally:
        os.close(reading)
        os.close(writing)


def test_waiting_for_a_pipe_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script_input, "NOTICE_AFTER_S", 0.05)
    with subprocess.Popen(["sh", "-c", "sleep 0.5; echo late"], stdout=subprocess.PIPE) as late:
        assert late.stdout is not None
        assert read_script_input(script_at(tmp_path, ASKS), tmp_path, late.stdout.fileno()) == "late\n"
    assert capsys.readouterr().err.count("press Ctrl-D, or start the command with </dev/null") == 1


def test_ctrl_c_ends_the_wait_for_a_pipe(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    script_at(tmp_path, ASKS)
    with os.fdopen(writing), os.fdopen(reading) as pipe:
        process = subprocess.Popen(
            command("case.py"), stdin=pipe, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment(tmp_path)
        )
        assert process.stderr is not None
        assert "reading the script's input" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 128 + signal.SIGINT


PROMPT = """
from mininet.cli import CLI
from mininet.net import Mininet
net = Mininet()
net.addHost("h1")
net.start()
print("name", input("name? "))
CLI(net)
net.stop()
print("end")
"""


@pytest.mark.pocket
def test_the_prompt_works_while_the_output_goes_to_a_pipe(tmp_path: Path) -> None:
    script_at(tmp_path, PROMPT)
    person = Person(["/bin/sh", "-c", f"{shlex.join(command('case.py'))} | tee log"], tmp_path)
    person.sees("name? ")
    person.type("anna\n")
    person.sees("mininet> ")
    person.type("h1 echo a$((1+1))c\n")
    person.sees("a2c")
    person.sees("mininet> ")
    person.type("exit\n")
    assert person.leave() == 0
    log = (tmp_path / "log").read_bytes().decode()
    assert "name? anna\nname anna\n" in log and log.endswith("\nend\n")


def test_check_reads_no_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["netlab"])
    script_at(tmp_path, ASKS)
    reading, writing = os.pipe()
    saved = os.dup(0)
    try:
        os.dup2(reading, 0)
        assert main(["mininet", "--check", "case.py"]) == 0
    finally:
        os.dup2(saved, 0)
        for descriptor in (reading, writing, saved):
            os.close(descriptor)


HANDLERS = """
import signal, time
def note(number, frame):
    print("got", signal.Signals(number).name, flush=True)
    raise SystemExit(7)
for name in {names}:
    assert signal.signal(getattr(signal, name), note) in {before}
    assert signal.getsignal(getattr(signal, name)) is note
print("ready", flush=True)
while True:
    time.sleep(1)
"""


@pytest.mark.pocket
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_each_signal_goes_to_its_own_handler(number: signal.Signals, tmp_path: Path) -> None:
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    running = Running(tmp_path, HANDLERS.format(names=names, before="(signal.default_int_handler, signal.SIG_DFL)"))
    running.wait_for_text("ready\n")
    running.send(number)
    assert running.end() == 7, running.printed
    assert running.printed == f"ready\ngot {number.name}\n"


@pytest.mark.pocket
def test_sigterm_without_a_handler_runs_the_handler_of_ctrl_c(tmp_path: Path) -> None:
    running = Running(tmp_path, HANDLERS.format(names=("SIGINT",), before="(signal.default_int_handler,)"))
    running.wait_for_text("ready\n")
    running.send(signal.SIGTERM)
    assert running.end() == 7, running.printed
    assert running.printed == "ready\ngot SIGINT\n"


@pytest.mark.pocket
def test_nohup_lets_a_script_run_on(tmp_path: Path) -> None:
    script = """
        import os, time
        print("ready", flush=True)
        while not os.path.exists("signalled"):
            time.sleep(1)
        print("done")
    """
    running = Running(tmp_path, script, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    running.wait_for_text("ready\n")
    running.send(signal.SIGHUP)
    (tmp_path / "signalled").touch()
    assert running.end() == 0, running.printed
    assert running.printed == "ready\ndone\n"
