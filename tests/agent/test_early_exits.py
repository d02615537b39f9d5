"""The choice of the processes that are reported, and the words of a report."""

from __future__ import annotations

import re
import signal
import struct
from pathlib import Path

import pytest

from netlab_engines.agent import early_exits
from netlab_engines.agent.early_exits import (
    IN_BACKGROUND,
    NO_PROGRAM,
    RECORD,
    EarlyExit,
    EarlyExits,
    command_line,
    reason_in,
)
from netlab_engines.agent.replacements import BINARIES
from netlab_kernel.edit import RECIPE

SCRIPT, SHELL = 20, 30
NETWORK = 4026532001
MS = 1_000_000


class Kernel:
    """A device with records, a file with notes and a clock, in the place of a guest's."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 5000 * MS
        self._device, self._notes = folder / "device", folder / "starts"
        self._device.touch()
        monkeypatch.setattr(early_exits, "DEVICE", str(self._device))
        monkeypatch.setattr("time.monotonic_ns", lambda: self.now_ns)
        self.lines: list[str] = []
        self.reports = EarlyExits(self.lines.append, lambda: {NETWORK: "h2"})
        self.reports._starts = early_exits.Starts(str(self._notes))

    def note(self, text: str) -> None:
        """Write a note as a script's process does."""
        with self._notes.open("a") as file:
            file.write(text + "\n")

    def exits(
        self,
        pid: int,
        words: str,
        status: int = 1 << 8,
        *,
        parent: int = SHELL,
        flags: int = 0,
        error: str = "",
        printed: str = "",
    ) -> None:
        """Record a process that was started a moment ago and fails now."""
        command, text = ("\0".join(words.split()) + "\0").encode(), error.encode()
        sizes = (len(command), len(text), len(printed), 0)
        numbers = (RECORD.size, pid, parent, status, self.now_ns - MS, NETWORK, flags, *sizes)
        with self._device.open("ab") as file:
            file.write(RECORD.pack(*numbers, command, text, printed.encode()))

    def pass_time(self, ms: float) -> None:
        """Let network time pass, and report then."""
        self.now_ns += round(ms * MS)
        self.reports.report()


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(tmp_path, monkeypatch)


@pytest.fixture
def script(kernel: Kernel) -> Kernel:
    kernel.note(f'["shell", {SHELL}, "h1", {NETWORK}]')
    return kernel


def test_a_command_with_an_ampersand_is_reported_at_once(script: Kernel) -> None:
    script.exits(31, "iperf -s -w 16m", flags=IN_BACKGROUND, error="usage: iperf\nunrecognized arguments: -w 16m\n\n")
    script.reports.report()
    assert script.lines == ["h1: iperf -s -w 16m exited with status 1: unrecognized arguments: -w 16m"]


def test_a_command_that_a_node_waits_for_is_not_reported(script: Kernel) -> None:
    script.exits(31, "false")
    script.pass_time(0)
    script.pass_time(20)
    assert script.lines == []
    assert script.reports.wait_s() is None


def test_popen_is_reported_if_its_error_output_was_not_read(script: Kernel) -> None:
    script.exits(41, "mnexec -da 30 iperf3 -s --wrong", parent=SCRIPT, error="iperf3: unrecognized option '--wrong'\n")
    script.pass_time(0)
    assert script.lines == []
    assert script.reports.wait_s() == 0.01
    script.note(f'["popen", 41, {script.now_ns - MS}, "h1"]')
    script.pass_time(10)
    assert script.lines == ["h1: iperf3 -s --wrong exited with status 1: unrecognized option '--wrong'"]
    assert script.reports.wait_s() is None


def test_popen_is_not_reported_when_the_script_reads_its_error_output_at_once(script: Kernel) -> None:
    script.exits(41, "mnexec -da 30 iperf3 -s --wrong", parent=SCRIPT)
    script.note(f'["popen", 41, {script.now_ns - MS}, "h1"]')
    script.pass_time(9)
    script.note('["read", 41]')
    script.pass_time(9)
    assert script.lines == []


def test_a_process_with_the_number_of_an_earlier_popen_is_not_reported(script: Kernel) -> None:
    script.note(f'["popen", 41, {script.now_ns - 900 * MS}, "h1"]')
    script.exits(41, "grep -q x y")
    script.pass_time(0)
    script.pass_time(20)
    assert script.lines == []


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("iperf -s --wrong", ["h1: iperf -s --wrong exited with status 1"]),
        ("grep -q x y || iperf -s --wrong", []),
        ("cd /nothing; iperf -s --wrong", []),
    ],
)
def test_send_cmd_is_reported_if_it_is_one_command(script: Kernel, command: str, lines: list[str]) -> None:
    script.exits(30_001, "false")
    script.now_ns += MS
    script.note(f'["sent", {SHELL}, {script.now_ns}, "{command}"]')
    script.now_ns += MS
    script.exits(31, "iperf -s --wrong")
    script.pass_time(0)
    script.pass_time(20)
    assert script.lines == lines, "a command before it is none of its own"


def test_send_cmd_is_not_reported_when_the_script_reads_its_output(script: Kernel) -> None:
    script.note(f'["sent", {SHELL}, {script.now_ns - MS}, "iperf -s --wrong"]')
    script.exits(31, "iperf -s --wrong")
    script.note(f'["read", {SHELL}]')
    script.pass_time(20)
    assert script.lines == []


def test_the_end_of_a_script_decides_at_once(script: Kernel) -> None:
    script.note(f'["popen", 41, {script.now_ns - MS}, "h1"]')
    script.exits(41, "mnexec -da 30 nothing", parent=SCRIPT, error="mnexec: nothing: No such file or directory\n")
    script.reports.report(at_end=True)
    assert script.lines == ["h1: nothing exited with status 1: command not found"]


def test_a_command_that_is_not_found_is_named(script: Kernel) -> None:
    flags = IN_BACKGROUND | NO_PROGRAM
    script.exits(31, "bash -is mininet:h1", 127 << 8, flags=flags, error="bash: nothing: command not found\n")
    script.exits(32, "bash -is mininet:h1", 1 << 8, flags=flags, error="bash: /no/log: No such file or directory\n")
    script.reports.report()
    assert script.lines == [
        "h1: nothing exited with status 127: command not found",
        "h1: a command in the background exited with status 1: /no/log: No such file or directory",
    ]


def test_a_list_in_the_background_is_named_by_the_program_that_failed(script: Kernel) -> None:
    script.exits(33, "grep -q x y", parent=32)
    script.exits(32, "./server --port 1", 3 << 8, parent=31, error="no such port")
    script.exits(31, "bash -is mininet:h1", 3 << 8, flags=IN_BACKGROUND | NO_PROGRAM)
    script.reports.report()
    assert script.lines == ["h1: ./server --port 1 exited with status 3: no such port"]


@pytest.mark.parametrize(
    ("status", "lines"),
    [
        (signal.SIGKILL, []),
        (signal.SIGTERM, []),
        (signal.SIGHUP, []),
        ((128 + signal.SIGTERM) << 8, []),
        (signal.SIGSEGV, ["h1: server was ended by SIGSEGV"]),
        (signal.SIGSEGV | 0x80, ["h1: server was ended by SIGSEGV"]),
        ((128 + signal.SIGSEGV) << 8, ["h1: server exited with status 139"]),
    ],
)
def test_a_program_that_was_killed_is_not_reported_but_one_that_crashed_is(
    script: Kernel, status: int, lines: list[str]
) -> None:
    script.exits(31, "server", status, flags=IN_BACKGROUND)
    script.reports.report()
    assert script.lines == lines


def test_ten_reports_are_made_and_one_that_more_programs_failed(script: Kernel) -> None:
    for pid in range(31, 51):
        script.exits(pid, f"server {pid}", flags=IN_BACKGROUND)
        script.reports.report()
    assert script.lines == [
        *(f"h1: server {pid} exited with status 1" for pid in range(31, 41)),
        early_exits.UNREPORTED_EXITS,
    ]


def test_programs_of_a_live_host_are_reported_with_the_commands_as_given(kernel: Kernel) -> None:
    kernel.reports.note_start(33, "h2", "iperf3 -s -p x")
    kernel.exits(34, "iperf3 -s -p x", parent=33, error="iperf3: parameter error - bad port\n")
    kernel.exits(33, "bash -c ...", parent=1)
    kernel.exits(35, "false", parent=1)
    kernel.exits(36, "nc -l -Z", parent=1, flags=IN_BACKGROUND)
    kernel.reports.report()
    assert kernel.lines == [
        "h2: iperf3 -s -p x exited with status 1: parameter error - bad port",
        "h2: nc -l -Z exited with status 1",
    ]


def test_without_error_output_the_last_line_of_the_other_output_is_shown(script: Kernel) -> None:
    script.exits(31, "sh server.sh", flags=IN_BACKGROUND, printed="starting\nno such port\n")
    script.exits(32, "sh server.sh", flags=IN_BACKGROUND, printed="starting\n", error="sh: 1: Bad substitution\n")
    script.reports.report()
    assert script.lines == [
        "h1: sh server.sh exited with status 1: no such port",
        "h1: sh server.sh exited with status 1: 1: Bad substitution",
    ]


def test_a_daemon_that_fails_is_reported(script: Kernel) -> None:
    script.exits(41, "iperf3 -s -D", parent=1, flags=NO_PROGRAM, error="iperf3: error - in use\niperf3: exiting\n")
    script.reports.report()
    assert script.lines == ["h1: iperf3 -s -D exited with status 1: error - in use"]


def test_a_kernel_without_the_device_reports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_exits, "DEVICE", str(tmp_path / "nothing"))
    reports = EarlyExits(pytest.fail)
    reports.note_start(1, "h1", "false")
    reports.report(at_end=True)
    assert reports.descriptors() == []


def test_a_kernel_of_another_version_reports_nothing(kernel: Kernel, tmp_path: Path) -> None:
    kernel.exits(31, "false", flags=IN_BACKGROUND)
    data = (tmp_path / "device").read_bytes()
    (tmp_path / "device").write_bytes((RECORD.size + 512).to_bytes(4, "little") + data[4:] + bytes(512))
    kernel.reports.report()
    assert kernel.lines == []
    assert kernel.reports.descriptors() == []


def test_a_record_has_the_layout_of_the_kernels_structure() -> None:
    source = (RECIPE / "early_exits.c").read_text()
    fields = re.search(r"struct early_exit \{\n(.*?)\n\};", source, re.DOTALL)[1]  # type: ignore[index]
    kinds = {"__u64": "Q", "__s32": "i", "__u32": "I"}
    layout = ""
    for line in fields.splitlines():
        kind, *names = re.sub(r"/\*.*", "", line).replace(";", "").split()
        if kind in kinds:
            layout += kinds[kind] * len(names)
        else:
            named = re.search(r"\[(\w+)\]", line)[1]  # type: ignore[index]
            layout += re.search(rf"#define {named}\s+(\d+)", source)[1] + "s"  # type: ignore[index]
    assert struct.calcsize("@" + layout) == RECORD.size
    assert struct.Struct("=" + layout).size == RECORD.size
    assert re.sub(r"(\d)I", lambda found: int(found[1]) * "I", RECORD.format) == "=" + layout
    sizes = (7, 3, 4, 0)
    data = RECORD.pack(RECORD.size, 5, 4, 256, 2 * 10**9, 77, IN_BACKGROUND, *sizes, b"a\0b c\0\0", b"no\n", b"yes\n")
    assert EarlyExit.unpack(data, 8) == EarlyExit(
        8, 2 * 10**9, 5, 4, 256, 77, IN_BACKGROUND, ["a", "b c"], "no\n", "yes\n"
    )


@pytest.mark.parametrize(
    ("error", "program", "reason"),
    [
        ("Traceback (most recent call last):\n  File ...\nOSError: [Errno 98] in use\n", "python3", "OSError: [Errno 98] in use"),
        ("ping: invalid option -- 'Z'\n\nUsage\n  ping [options]\n\nFor more details see ping(8).\n", "ping", "invalid option -- 'Z'"),
        ("sh: 1: nothing: not found\n", "sh", "command not found"),
        (
            "bash: socat: command not found\n",
            "bash",
            "command not found; its package is socat (Debian, Ubuntu, Fedora, Arch, openSUSE, Alpine)",
        ),
        ("first\n\x1b[31mno\x07 way\n \n", "x", "[31mno way"),
        ("x" * 1000, "y", "x" * (early_exits.MAX_REASON - 3) + "..."),
        ("", "x", ""),
    ],
)  # fmt: skip
def test_reason_is_the_line_with_the_error(error: str, program: str, reason: str) -> None:
    assert reason_in(error, program) == reason


def test_commands_are_shown_without_the_prefix_of_mininet() -> None:
    assert command_line(["mnexec", "-d", "-a", "12", "ping", "-c", "1"]) == "ping -c 1"
    assert command_line(["mnexec", "-g", "h1", "-da", "12", "/bin/bash", "-c", "ping x > y"]) == "ping x > y"
    assert command_line(["mnexec", "-v"]) == "mnexec -v"
    assert command_line(["/bin/sh", f"{BINARIES}/filter/sudo", "-n", "x"]) == "sudo -n x"
