"""The small replacements of programs, run here as they are."""

import os
import subprocess
from pathlib import Path

import pytest

from netlab_engines.agent import replacements

SETTING = "net.ipv4.ip_forward"


def run(name: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    line = ["sh", "-c", replacements.script_text(name, name), name, *words]
    return subprocess.run(line, env=os.environ | variables, capture_output=True, text=True, check=False, timeout=20)


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
        (["-k"], ""),
        (["-k", "echo", "x"], "x\n"),
        (["-nE", "echo", "x"], "x\n"),
        (["-su", "root", "echo", "x"], "x\n"),
        (["-Hnuroot", "echo", "x"], "x\n"),
    ],
)
def test_sudo_runs_the_command_and_prints_nothing_else(words: list[str], printed: str) -> None:
    done = run("sudo", *words)
    assert (done.stdout, done.stderr, done.returncode) == (printed, "", 0)


@pytest.fixture
def accounts(tmp_path: Path) -> str:
    """A search path with a `getent` that knows two accounts, whose homes are ./root and ./missing."""
    (tmp_path / "root").mkdir()
    lines = f"""#!/bin/sh
    case $2 in
        root|0) echo "root:x:0:0:root:{tmp_path}/root:/bin/sh" ;;
        lost) echo "lost:x:7:7::{tmp_path}/missing:/bin/sh" ;;
        *) exit 2 ;;
    esac
    """
    (tmp_path / "getent").write_text(lines)
    (tmp_path / "getent").chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("words", "home", "directory"),
    [
        (["-i"], "{root}", "{root}"),
        (["--login", "-u", "#0"], "{root}", "{root}"),
        (["-H", "sh", "-c"], "{root}", "{here}"),
        (["-nH", "-s"], "{root}", "{here}"),
        (["sh", "-c"], "/elsewhere", "{here}"),
        (["-s"], "/elsewhere", "{here}"),
    ],
)
def test_sudo_sets_the_home_and_a_login_begins_there(
    words: list[str], home: str, directory: str, accounts: str, tmp_path: Path
) -> None:
    """sudo(8): -H sets HOME to the user's home directory, and -i also makes it the working directory."""
    done = run("sudo", *words, "echo $HOME; pwd", PATH=accounts, HOME="/elsewhere", SHELL="/bin/sh")
    home, directory = (text.format(root=tmp_path / "root", here=Path.cwd()) for text in (home, directory))
    assert (done.stdout, done.stderr) == (f"{home}\n{directory}\n", "")


def test_sudo_names_a_home_that_it_cannot_enter_and_an_unknown_user(accounts: str, tmp_path: Path) -> None:
    shell = f"{tmp_path}/setpriv"
    Path(shell).write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    Path(shell).chmod(0o755)
    done = run("sudo", "-iu", "lost", "echo $USER", PATH=accounts, SHELL="/bin/sh")
    assert (done.stdout, done.stderr) == ("lost\n", f"sudo: unable to change directory to {tmp_path}/missing\n")
    done = run("sudo", "-i", "-u", "nobody-knows", "true", PATH=accounts)
    assert (done.returncode, done.stderr) == (1, "sudo: unknown user nobody-knows\n")


def test_sudo_ends_with_the_status_of_the_command() -> None:
    assert run("sudo", "sh", "-c", "exit 7").returncode == 7


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-x", "true"], "sudo: the option -x is not known"),
        (["-nx", "true"], "sudo: the option -x is not known"),
        (["no-such-program"], "sudo: no-such-program: command not found"),
        ([], "sudo: a command is missing"),
    ],
)
def test_sudo_rejects_unknown_options(words: list[str], says: str) -> None:
    done = run("sudo", *words)
    assert done.returncode == 1 and says in done.stderr


def test_sysctl_prints_a_setting_as_the_real_one_does() -> None:
    """The forms of sysctl(8): name = value, -n the value alone, -N the name alone."""
    value = value_of(SETTING)
    assert run("sysctl", SETTING).stdout == f"{SETTING} = {value}\n"
    assert run("sysctl", "net/ipv4/ip_forward").stdout == f"{SETTING} = {value}\n"
    assert run("sysctl", "-n", SETTING).stdout == f"{value}\n"
    assert run("sysctl", "-N", SETTING).stdout == f"{SETTING}\n"
    directory = "net.ipv4.neigh.lo"
    below = f"{directory}.base_reachable_time_ms"
    assert f"{below} = {value_of(below)}\n" in run("sysctl", directory).stdout


def test_sysctl_names_a_missing_setting() -> None:
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


@pytest.mark.parametrize(
    ("name", "script"), [pair for programs in replacements.PLACES.values() for pair in programs.items()]
)
def test_a_shell_can_read_every_program(name: str, script: str) -> None:
    text = replacements.script_text(name, script)
    shell = text.partition("\n")[0].removeprefix("#!")
    read = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=False, timeout=20)
    assert (read.returncode, read.stderr) == (0, "")


@pytest.fixture
def path_with_ip(tmp_path: Path) -> str:
    """Return a search path with an `ip` that prints its words."""
    own = tmp_path / "ip"
    own.write_text("#!/bin/sh\necho ip $*\n")
    own.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ifconfig d 10.0.0.1", "addr add 10.0.0.1/8 brd + dev d"),
        ("ifconfig d 172.16.0.1", "addr add 172.16.0.1/16 brd + dev d"),
        ("ifconfig d 192.168.0.1", "addr add 192.168.0.1/24 brd + dev d"),
        ("ifconfig d 10.0.0.1 netmask 255.255.240.0", "addr add 10.0.0.1/20 brd + dev d"),
        ("route add -net 9.0.0.0 gw 10.0.0.2", "route add 9.0.0.0/8 via 10.0.0.2"),
        ("route add -net 9.0.0.0 netmask 255.240.0.0 gw 10.0.0.2", "route add 9.0.0.0/12 via 10.0.0.2"),
        ("brctl setfd b 2.5", "link set dev b type bridge forward_delay 250"),
        ("brctl setageing b 30", "link set dev b type bridge ageing_time 3000"),
    ],
)
def test_lengths_and_times_are_those_of_ip(line: str, message: str, path_with_ip: str) -> None:
    done = run(*line.split(), PATH=path_with_ip)
    assert done.returncode == 0 and f"ip {message}" in done.stdout.splitlines()


@pytest.mark.parametrize(
    "line", ["ifconfig d 10.0.0.1 netmask 255.x.0.0", "route add -net 9.0.0.0 netmask 255.x.0.0", "brctl setfd b 1s"]
)
def test_a_mask_or_a_time_that_is_none_is_rejected_before_anything_changes(line: str, path_with_ip: str) -> None:
    done = run(*line.split(), PATH=path_with_ip)
    assert (done.returncode, done.stdout) == (2, "") and "does not support" in done.stderr


def test_ifconfig_ignores_a_variable_with_the_name_of_one_of_its_own(path_with_ip: str) -> None:
    output = run("ifconfig", "d", "10.0.0.1", PATH=path_with_ip, state="down").stdout.splitlines()
    assert output[-1] == "ip link set dev d up"


def test_routes_are_shown_with_masks(tmp_path: Path) -> None:
    own = tmp_path / "ip"
    own.write_text("#!/bin/sh\necho 'default via 10.0.0.2 dev d'\necho '10.0.0.0/20 dev d proto kernel metric 7'\n")
    own.chmod(0o755)
    shown = run("route", "-n", PATH=f"{tmp_path}:{os.environ['PATH']}").stdout.splitlines()
    assert [" ".join(line.split()) for line in shown[2:]] == [
        "0.0.0.0 10.0.0.2 0.0.0.0 UG 0 0 0 d",
        "10.0.0.0 0.0.0.0 255.255.240.0 U 7 0 0 d",
    ]


@pytest.mark.parametrize("name", ["iptables", "iptables-restore"])
def test_a_missing_variant_of_iptables_is_named_with_its_package(name: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", replacements.script_text(name, "iptables"), name],
        env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False, timeout=20,
    )  # fmt: skip
    own = name.replace("iptables", "iptables-nft")
    packages = "iptables (Debian, Ubuntu, openSUSE, Alpine) or iptables-nft (Fedora, Arch)"
    assert (done.returncode, done.stderr) == (1, f"{name}: this machine has no {own}; its package is {packages}.\n")


@pytest.mark.root
def test_tcpdump_is_no_root_so_that_it_can_write_to_an_ordinary_users_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tcpdump(1), -Z: as root it changes to another user. Debian's 4.99 then ends with "Couldn't change ownership of
    savefile" if root cannot give the file away, as in a guest on the files of an ordinary user.
    """
    machine = tmp_path / "machine's own"
    machine.mkdir()
    (machine / "tcpdump").write_text(
        "#!/bin/sh\necho $(id -u) $(grep CapEff /proc/self/status)\nprintf '%s\\n' \"$@\"\nexit 3\n"
    )
    (machine / "tcpdump").chmod(0o755)
    monkeypatch.setenv("PATH", f"{machine}:/usr/bin:/bin")
    path = f"{tmp_path}/filter:{replacements.install(str(tmp_path))}"
    words = ["sh", "-c", "tcpdump -i any -w 'my file'"]
    done = subprocess.run(words, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=20)
    # linux/capability.h: DAC_OVERRIDE is 1, NET_ADMIN 12, NET_RAW 13.
    assert done.stdout.splitlines() == [
        f"65534 CapEff: {1 << 1 | 1 << 12 | 1 << 13:016x}",
        "-i",
        "any",
        "-w",
        "my file",
    ]
    assert (done.stderr, done.returncode) == ("", 3)


def test_a_machine_without_tcpdump_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    replacements.install(str(tmp_path))
    assert (tmp_path / "filter" / "sudo").exists() and not (tmp_path / "filter" / "tcpdump").exists()
