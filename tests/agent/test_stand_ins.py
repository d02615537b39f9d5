"""The small replacements of sudo, sysctl and hostname, run here as they are."""

import subprocess
from pathlib import Path

import pytest

from netlab_engines.agent import stand_ins

SETTING = "net.ipv4.ip_forward"


def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    line = ["sh", "-c", stand_ins.text_of(name, name), name, *words]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=20)


def value_of(setting: str) -> str:
    return Path("/proc/sys", setting.replace(".", "/")).read_text().strip()


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["echo", "-n", "x"], "x"),
        (["-E", "-n", "-H", "echo", "x"], "x\n"),
        (["-u", "root", "echo", "x"], "x\n"),
        (["-uroot", "--", "echo", "-u"], "-u\n"),
        (["WHO=me", "sh", "-c", "echo $WHO"], "me\n"),
        (["-s", "echo", "x"], "x\n"),
    ],
)
def test_sudo_runs_the_command_and_prints_nothing_else(words: list[str], printed: str) -> None:
    done = run("sudo", *words)
    assert (done.stdout, done.stderr, done.returncode) == (printed, "", 0)


def test_sudo_ends_with_the_status_of_the_command() -> None:
    assert run("sudo", "sh", "-c", "exit 7").returncode == 7


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-x", "true"], "sudo: the option -x is not known"),
        (["no-such-program"], "sudo: no-such-program: command not found"),
        ([], "sudo: a command is missing"),
    ],
)
def test_sudo_rejects_what_it_does_not_know(words: list[str], says: str) -> None:
    done = run("sudo", *words)
    assert done.returncode == 1 and says in done.stderr


def test_sysctl_prints_a_setting_as_the_real_one_does() -> None:
    """The forms of sysctl(8): name = value, -n the value alone, -N the name alone."""
    value = value_of(SETTING)
    assert run("sysctl", SETTING).stdout == f"{SETTING} = {value}\n"
    assert run("sysctl", "net/ipv4/ip_forward").stdout == f"{SETTING} = {value}\n"
    assert run("sysctl", "-n", SETTING).stdout == f"{value}\n"
    assert run("sysctl", "-N", SETTING).stdout == f"{SETTING}\n"
    assert f"{SETTING} = {value}\n" in run("sysctl", "net.ipv4").stdout


def test_sysctl_says_what_is_not_there() -> None:
    missing = run("sysctl", "net.no.such")
    assert missing.returncode == 1 and "cannot stat /proc/sys/net/no/such: No such file or directory" in missing.stderr
    assert run("sysctl", "-w", "net.no.such=1").returncode == 1
    assert run("sysctl", "-e", "net.no.such").returncode == 0


def test_hostname_is_the_kernels() -> None:
    assert run("hostname").stdout.strip() == value_of("kernel.hostname")


@pytest.mark.parametrize("words", [["sysctl", "--pattern", "x"], ["hostname", "--no-such"]])
def test_options_that_a_replacement_lacks_are_rejected(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{words[0]}: netlab's replacement does not support '{words[1]}'. It supports ")
