"""A Mininet script's files are there however it ends."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from netlab.base.errors import RunError
from netlab_engines.lab import stopping
from netlab_engines.lab.script import run_script
from tests.lab import test_terminal
from tests.lab.running_scripts import LONG_S, Running, command, environment
from tests.lab.test_terminal import Person

pytestmark = pytest.mark.pocket

ROUNDS = """
    import atexit
    from mininet.net import Mininet
    net = Mininet()
    h1, h2 = net.addHost("h1"), net.addHost("h2")
    net.addLink(h1, h2)
    net.start()
    atexit.register(lambda: open("atexit.txt", "w").write("at exit"))
    growing = open("growing.txt", "w", buffering=1)
    try:
        for number in range(10**6):
            growing.write("%d\\n" % number)
            h1.cmd("ping -c 2 -i 0.2 10.0.0.2 > ping_%d.txt" % number)
            print("round", number)
    finally:
        open("finally.txt", "w").write(h1.cmd("ping -c 1 10.0.0.2"))
        net.stop()
"""
"""A study of many rounds, which uses its network while it cleans up, and the host whose command is interrupted."""


def assert_rounds(directory: Path) -> None:
    numbers = [int(line) for line in (directory / "growing.txt").read_text().splitlines()]
    assert numbers == list(range(len(numbers))) and len(numbers) > 1
    for number in numbers[:-1]:
        assert "2 packets transmitted, 2 received" in (directory / f"ping_{number}.txt").read_text()


def assert_cleaned_up(directory: Path) -> None:
    assert "1 packets transmitted, 1 received" in (directory / "finally.txt").read_text()
    assert (directory / "atexit.txt").read_text() == "at exit"


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_a_script_clean_up_and_keeps_its_files(ending: signal.Signals, tmp_path: Path) -> None:
    running = Running(tmp_path, ROUNDS)
    running.wait_for_text("round 1\n")
    running.send(ending)
    if ending == signal.SIGTERM:
        # timeout(1) signals its own process group too.
        running.send(ending)
    assert running.end() == 128 + ending, running.printed
    assert_rounds(tmp_path)
    assert_cleaned_up(tmp_path)
    assert "netlab_engines/agent" not in running.printed
    assert "\nKeyboardInterrupt\n" in running.printed


EARLY = "h1.sendCmd('echo early'); time.sleep(0.1); os.kill(os.getpid(), signal.SIGINT)"
LATE = "h1.monitor = lambda *words, **more: (time.sleep(0.1), os.kill(os.getpid(), signal.SIGINT)); h1.cmd('echo late')"


@pytest.mark.parametrize("interrupted", [EARLY, LATE])
def test_a_command_that_ended_before_the_interrupt_does_not_answer_for_the_next_one(
    interrupted: str, tmp_path: Path
) -> None:
    """The interrupt comes when the prompt of the finished command is there and Mininet has not read it yet."""
    script = f"""
        import os, signal, time
        from mininet.net import Mininet
        net = Mininet()
        h1 = net.addHost("h1")
        net.start()
        try:
            {interrupted}
        finally:
            h1.__dict__.pop("monitor", None)
            open("clean.txt", "w").write(h1.cmd("sleep 1; echo first") + h1.cmd("echo second"))
            net.stop()
    """
    running = Running(tmp_path, script)
    assert running.end() != 0
    assert running.lines("clean.txt") == ["first", "second"], running.printed


def test_a_killed_netlab_loses_nothing_that_was_written(tmp_path: Path) -> None:
    running = Running(tmp_path, ROUNDS)
    running.wait_for_text("round 1\n")
    running.process.kill()
    assert running.end() == -signal.SIGKILL
    assert_rounds(tmp_path)
    assert not (tmp_path / "finally.txt").exists()


def test_ctrl_c_on_a_terminal_lets_a_script_clean_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_terminal, "PATIENCE_S", LONG_S)
    (tmp_path / "case.py").write_text(ROUNDS.replace("\n    ", "\n"))
    person = Person(command("case.py"), tmp_path)
    person.sees("round 1\r\n")
    person.type("\x03")
    assert person.leave() == 128 + signal.SIGINT
    assert_rounds(tmp_path)
    assert_cleaned_up(tmp_path)


def test_a_terminal_that_is_closed_lets_a_script_clean_up(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(ROUNDS.replace("\n    ", "\n"))
    ours, other = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "-c", *command("case.py")],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=other,
        stdout=other,
        stderr=other,
    )
    os.close(other)
    seen = b""
    try:
        while b"round 1\r\n" not in seen:
            seen += os.read(ours, 4096)
        os.close(ours)
        process.wait()
    finally:
        process.kill()
    assert_rounds(tmp_path)
    assert_cleaned_up(tmp_path)


def test_a_script_whose_output_is_no_longer_read_can_clean_up(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(ROUNDS.replace("\n    ", "\n"))
    process = subprocess.Popen(command("case.py"), cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        while process.stdout.readline() != b"round 1\n":
            pass
        process.stdout.close()
        process.wait()
    finally:
        process.kill()
    assert_rounds(tmp_path)
    assert_cleaned_up(tmp_path)


def test_a_second_ctrl_c_ends_a_script_at_once(tmp_path: Path) -> None:
    script = """
        import time
        open("/etc/of-the-guest.conf", "w").write("kept")
        try:
            print("begins")
            time.sleep(1e6)
            while True: pass
        finally:
            open("cleaning.txt", "w").write("began")
            print("cleans up")
            while True: pass
    """
    running = Running(tmp_path, script)
    running.wait_for_text("begins\n")
    running.send(signal.SIGINT)
    running.wait_for_text("cleans up\n")
    running.wait_for_text("press Ctrl-C to end it at once")
    running.send(signal.SIGINT)
    assert running.end() == 128 + signal.SIGINT
    assert "was killed at the second Ctrl-C; its files are kept" in running.printed
    assert running.lines("cleaning.txt") == ["began"]
    assert running.lines("case.files/etc/of-the-guest.conf") == ["kept"]


def test_a_clean_up_that_does_not_end_is_ended(tmp_path: Path) -> None:
    script = """
        import time
        try:
            print("begins")
            while True: pass
        finally:
            open("cleaning.txt", "w").write("began")
            time.sleep(1)
            while True: pass
    """
    running = Running(tmp_path, script, grace_s=3)
    running.wait_for_text("begins\n")
    running.send(signal.SIGTERM)
    assert running.end() == 128 + signal.SIGTERM
    assert "was killed 3 s after SIGTERM" in running.printed
    assert running.lines("cleaning.txt") == ["began"]


def test_a_script_handles_the_signal_that_netlab_gets(tmp_path: Path) -> None:
    script = """
        import signal, sys, time
        def leave(number, frame):
            open("handled.txt", "w").write(signal.Signals(number).name)
            sys.exit(7)
        signal.signal(signal.SIGTERM, leave)
        print("begins")
        while True:
            time.sleep(1)
    """
    running = Running(tmp_path, script)
    running.wait_for_text("begins\n")
    running.send(signal.SIGTERM)
    assert running.end() == 7
    assert running.lines("handled.txt") == ["SIGTERM"]


def test_a_limit_of_wall_clock_time_lets_a_script_clean_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of this test jumps over the limit when the script has begun."""
    begun = False

    def show(text: str) -> None:
        nonlocal begun
        begun |= "begins" in text

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 2000 * begun)
    monkeypatch.setattr(stopping, "time", clock)
    monkeypatch.setattr(stopping, "GRACE_S", LONG_S)
    (tmp_path / "case.py").write_text(
        "import os\ntry:\n    print('begins')\n    while True: os.system('sleep 1')\n"
        "finally:\n    open('cleaned.txt', 'w').write('up')\n"
    )
    with pytest.raises(RunError, match=r"stopped after 1000 s of wall-clock time, .*Its files are kept"):
        run_script(["case.py"], write=show, directory=tmp_path, wall_limit_s=1000)
    assert (tmp_path / "cleaned.txt").read_text() == "up"
