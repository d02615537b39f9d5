"""netlab's own mnexec does what Mininet asks of it, as far as an ordinary user can see."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from netlab_kernel.edit import RECIPE

pytestmark = [
    pytest.mark.skipif(not shutil.which("gcc"), reason="gcc compiles mnexec"),
]


@pytest.fixture(scope="module")
def mnexec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("mnexec") / "mnexec"
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-o", str(target), str(RECIPE / "mnexec.c")]
    subprocess.run(command, check=True)
    return target


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, timeout=20, check=False, **options)


def test_the_process_id_is_that_of_the_command(mnexec: Path) -> None:
    done = run(mnexec, "-p", "sh", "-c", "echo $$")
    first, second = done.stdout.splitlines()
    assert first == "\x01" + second


def test_options_after_the_command_are_the_commands(mnexec: Path) -> None:
    assert run(mnexec, "echo", "-n", "-c", "x").stdout == "-c x"


def test_every_inherited_descriptor_is_closed(mnexec: Path) -> None:
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(40)]
    script = "for fd in /proc/self/fd/*; do readlink $fd; done | grep -c null"
    try:
        kept = run("sh", "-c", script, pass_fds=files)
        closed = run(mnexec, "-c", "sh", "-c", script, pass_fds=files, stdin=subprocess.PIPE)
    finally:
        for fd in files:
            os.close(fd)
    assert int(kept.stdout) >= 40 and closed.stdout == "0\n"


def test_detached_the_command_leads_a_session_of_its_own(mnexec: Path) -> None:
    script = "import os; print(os.getsid(0), os.getpid())"
    for leader in (False, True):
        done = run(mnexec, "-d", "python3", "-c", script, start_new_session=leader)
        session, process = done.stdout.split()
        assert session == process and session != str(os.getsid(0))


def test_a_missing_group_is_accepted(mnexec: Path) -> None:
    assert run(mnexec, "-g", "no-such-group", "echo", "on").stdout == "on\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "usage:"),
        (["-x", "true"], "usage:"),
        (["-a", "x", "true"], "pid must be a number, got 'x'"),
        (["-a", "999999999", "true"], "/proc/999999999/ns/net: No such file"),
        (["no-such-program"], "no-such-program: No such file"),
    ],
)
def test_mistakes_are_reported_with_exit_code_1(mnexec: Path, arguments: list[str], says: str) -> None:
    done = run(mnexec, *arguments)
    assert done.returncode == 1 and says in done.stderr


NEW_NETWORK = """
    mount -t sysfs sysfs /sys
    {mnexec} -n sleep 20 & child=$!
    for _ in $(seq 200); do [ "$(cat /proc/$child/comm)" = sleep ] && break; sleep 0.05; done
    ip link add kept type dummy 2>/dev/null || ip link add kept type veth peer name kept2
    echo "$(readlink /proc/self/ns/net) $(readlink /proc/$child/ns/net) $(readlink /proc/$child/ns/mnt)"
    cat /proc/net/dev
    for show in 'readlink /proc/self/ns/net /proc/self/ns/mnt' 'cat /proc/net/dev' 'ls /sys/class/net' pwd; do
        echo --
        {mnexec} -a $child $show
    done
    kill $child
"""


@pytest.mark.slow
def test_a_new_network_has_no_interface_of_the_hosts_and_can_be_joined(mnexec: Path) -> None:
    namespaces = ["unshare", "--map-root-user", "--net", "--mount"]
    can = run(*namespaces, "unshare", "--net", "--mount", "mount", "-t", "sysfs", "sysfs", "/sys")
    if can.returncode != 0:
        pytest.skip(f"this machine lets no user have namespaces: {can.stderr.strip()}")
    done = run(*namespaces, "sh", "-c", NEW_NETWORK.format(mnexec=mnexec))
    assert done.stderr == ""
    outside, joined, devices, links, directory = done.stdout.split("--\n")
    own, network, mounts, *seen_outside = outside.split()
    assert network != own
    assert joined.split() == [network, mounts]
    assert "kept:" in seen_outside and "kept:" not in devices.split() and "lo:" in devices.split()
    assert "kept" not in links.split() and "lo" in links.split()
    assert directory.strip() == str(Path.cwd())
