"""A host's terminal and Mininet's prompt, on a pty as a person has it."""

import json
import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest

import netlab as nl
from netlab_engines.lab import terminal as terminals

pytestmark = pytest.mark.pocket

NETLAB = Path(sys.executable).parent / "netlab"
NETWORK = {"hosts": ["h1", "h2"], "links": [{"a": "h1", "b": "h2", "rate_mbps": 5, "delay_ms": 10}]}
PATIENCE_S = 60


class Person:
    """Types, and reads until what is expected has come."""

    def __init__(self, command: list[str], directory: Path) -> None:
        self.seen = ""
        self.pid, self._screen = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execv(command[0], command)  # noqa: S606 (a pty's child becomes what it runs)

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def sees(self, text: str) -> None:
        """Wait for a text behind all that was seen before."""
        end_s = time.monotonic() + PATIENCE_S
        while text not in self.seen:
            assert time.monotonic() < end_s, f"{text!r} has not come, only {self.seen!r}"
            if select.select([self._screen], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self._screen, 1 << 16).decode(errors="replace")
                except OSError:
                    assert text in self.seen, f"it ended with {self.seen!r}"
        self.seen = self.seen.partition(text)[2]

    def leave(self) -> int:
        """Wait for the program's end; returns its exit code."""
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self._screen)
                return os.waitstatus_to_exitcode(status)
            if select.select([self._screen], [], [], 0.1)[0]:
                try:
                    os.read(self._screen, 1 << 16)
                except OSError:
                    time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError("it does not end")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "network.json").write_text(json.dumps(NETWORK))
    return tmp_path


def test_shell_in_a_host_follows_the_wall_clock_and_pauses_when_left(tmp_path: Path) -> None:
    with nl.live(NETWORK) as lab:
        terminal = lab["h1"].terminal()
        assert terminal.command.endswith("netlab attach h1")
        person = Person([*terminal.command.split()], tmp_path)
        person.sees("h1:~#")
        person.type("ping -c2 h2\n")
        person.sees("2 packets transmitted, 2 received")
        person.type("ping h2\n")
        person.sees("icmp_seq=2")
        person.type("\x03")
        person.sees("packet loss")
        person.sees("h1:~#")
        person.type("exit\n")
        assert person.leave() == 0
        # A request waits for the last turn, which may still be at work.
        assert lab["h1"].run("true").exit_code == 0
        stands_at_s = lab.now_s
        time.sleep(0.5)
        assert lab.now_s == stands_at_s
        assert lab["h1"].run("echo usable") == "usable\n"
        assert terminal.path.is_relative_to(lab.session.guest.directory), "what clears a killed run clears it too"
    assert not terminal.path.exists()


def test_an_idle_terminal_waits_for_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminals, "IDLE_S", 2.0)
    with nl.live(NETWORK) as lab:
        person = Person(lab["h1"].terminal().command.split(), tmp_path)
        person.sees("h1:~#")
        person.type("ping h2\n")
        person.sees("is paused until you press one")
        stands_at_s = lab.now_s
        time.sleep(0.5)
        assert lab.now_s == stands_at_s, "also while a program prints"
        person.type("\x03")
        person.sees("packet loss")
        person.type("exit\n")
        assert person.leave() == 0


def test_mininets_prompt_answers_on_a_terminal(place: Path) -> None:
    person = Person([str(NETLAB), "live", "network.json"], place)
    person.sees("mininet>")
    person.type("h1 ping -c1 h2\n")
    person.sees("1 packets transmitted, 1 received")
    person.sees("mininet>")
    person.type("xterm h9 h2\n")
    person.sees("There is no node h9; there are h1, h2.")
    person.sees("attach h2")
    other = Person([str(NETLAB), "attach", "h2"], place)
    other.sees("h2:~#")
    other.type("ping -c1 h1\n")
    other.sees("1 packets transmitted, 1 received")
    other.type("exit\n")
    assert other.leave() == 0
    person.type("pingall\n")
    person.sees("0% dropped (2/2 received)")
    person.sees("mininet>")
    person.type("link h1 h2 down\n")
    person.sees("mininet>")
    person.type("h1 ping -c1 -W1 h2\n")
    person.sees("mininet>")
    person.type("exit\n")
    assert person.leave() == 0


def test_mininets_mn_opens_its_prompt_on_a_terminal(tmp_path: Path) -> None:
    person = Person([str(NETLAB), "mn", "--topo", "linear,2"], tmp_path)
    person.sees("mininet>")
    person.type("h1 ping -c1 h2\n")
    person.sees("1 packets transmitted, 1 received")
    person.type("exit\n")
    person.sees("*** Done")
    assert person.leave() == 0
