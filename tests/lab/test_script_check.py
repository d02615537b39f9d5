"""Scripts are checked before they run: what is found, what is not, and what stops a script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import mininet
import pytest

from netlab.base.errors import KernelError
from netlab.commands import cli
from netlab_engines.kernels import pocket_kernel
from netlab_engines.kernels.pocket_kernel import PocketKernel
from netlab_engines.lab.script_check import Problem, check
from tests.programs import ROOT

EXAMPLES = Path(mininet.__file__ or "").parent / "examples"


def found(directory: Path, text: str, name: str = "case.py") -> list[Problem]:
    """The problems of a script with this text."""
    (directory / name).write_text(textwrap.dedent(text))
    return check(directory / name, directory)


def sentences(problems: list[Problem], *, stops: bool) -> str:
    return "\n".join(problem.sentence() for problem in problems if problem.stops is stops)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('print "started"', "print without parentheses"),
        ("print 1, 2,", "print without parentheses"),
        ("print >>out, 'x'", "print >> is Python 2"),
        ("print >>out, 'x'; print 'y'", "print without parentheses"),
        ("print ('%d') % 1", "print(...) with an operator behind it"),
        ("if 1: print 'one'", "print without parentheses"),
        ("exec 'x = 1'", "exec without parentheses"),
        ("try: pass\nexcept ValueError, error: pass", "`except A, b` is Python 2"),
        ("try: pass\nexcept (ValueError, TypeError), error: pass", "`except A, b` is Python 2"),
        ("print `1`", "backticks are Python 2"),
        ("import os\nif 1 <> 2: print 3", "<> is Python 2"),
        ("print 0777", "a number that begins with 0 is octal"),
        ("print 10L", "a number with an L"),
        ("raise ValueError, 'x'; print 1", "`raise A, b` is Python 2"),
        ("f = lambda (a, b): a; print f", "parentheses around parameters"),
        ("print ur'x'", 'ur"..." is Python 2'),
        ("x = [str(a) for a in 3, 4]", "`[... for a in b, c]` is Python 2"),
        ("x = [(a, b) for a, b in [(1, 2)], [(3, 4)] if a for b in 1, 2]", "`[... for a in b, c]` is Python 2"),
    ],
)
def test_python_2_is_named_and_the_command_that_converts_it(line: str, words: str, tmp_path: Path) -> None:
    problems = found(tmp_path, f"import sys\n{line}\n")
    assert words in sentences(problems, stops=True)
    assert problems[-1].text.startswith("this is written for Python 2; this command converts it")
    assert "-m fissix -w " in problems[-1].text


def test_all_problems_of_a_script_for_python_2_are_found(tmp_path: Path) -> None:
    script = """
    #!/usr/bin/python
    import commands
    from mininet.net import Mininet
    from mininet.node import RemoteController
    net = Mininet(controller=RemoteController)
    net.start()
    print "started"
    for number in xrange(3):
        print net.get('h1').cmd('no-such-program -s %d' % number)
    """
    text = sentences(problems := found(tmp_path, script), stops=True)
    assert "line 3: module commands is Python 2; Python 3 has subprocess.getoutput." in text
    assert "lines 8, 10: print without parentheses is Python 2." in text
    assert "line 9: xrange is Python 2; Python 3 has range." in text
    text = sentences(problems, stops=False)
    assert "line 6: RemoteController has no effect" in text
    assert "line 10: no-such-program is not installed on this machine" in text


def test_tabs_among_spaces_are_named_with_a_command_that_mends_them(tmp_path: Path) -> None:
    script = "import os\nif True:\n        first = 1\n\tsecond = 2\nopen('done.txt', 'w').write('done')\n"
    (tmp_path / "case.py").write_text(script)
    problems = check(tmp_path / "case.py", tmp_path)
    assert "tabs and spaces are mixed" in sentences(problems, stops=True)
    command = problems[-1].text.partition(".bak: ")[2]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)  # noqa: S602 (it is what a person types)
    assert check(tmp_path / "case.py", tmp_path) == []
    assert (tmp_path / "case.py.bak").read_text() == script


@pytest.mark.parametrize(
    "line", ["file('a')", "print(cmp(1, 2))", "string.join(['a'])", "sys.setdefaultencoding('utf8')"]
)
def test_no_command_is_proposed_that_leaves_the_script_as_it_is(line: str, tmp_path: Path) -> None:
    """These names have no fixer in https://docs.python.org/3.11/library/2to3.html#fixers."""
    problems = found(tmp_path, f"import string, sys\n{line}\n")
    assert "line 2:" in sentences(problems, stops=True) and "is Python 2" in sentences(problems, stops=True)
    assert "fissix" not in sentences(problems, stops=True)
    problems = found(tmp_path, f"import string, sys\n{line}\nxrange(3)\n")
    assert "-m fissix -w " in sentences(problems, stops=True), "it helps with the other line"


def test_a_script_beside_a_file_of_a_package_still_runs_after_its_conversion(tmp_path: Path) -> None:
    """Copies of CS 244's scripts have an __init__.py next to them; there, `from util.monitor import` must stay as it is."""
    (tmp_path / "util").mkdir()
    for name in ("__init__.py", "util/__init__.py"):
        (tmp_path / name).touch()
    (tmp_path / "util/monitor.py").write_text("import other\nword = other.word\nprint word\n")
    (tmp_path / "util/other.py").write_text("word = 'monitored'\n")
    script = "import sys\nfrom util.monitor import word\nprint word\n"
    commands = {
        problem.path.name: problem.text.partition("fissix && ")[2]
        for problem in found(tmp_path, script)
        if "fissix" in problem.text
    }
    assert " -w -x import " in commands["case.py"] and "-x" not in commands["monitor.py"].split()


def test_a_relative_import_in_a_script_is_named_with_what_runs(tmp_path: Path) -> None:
    """Python: "attempted relative import with no known parent package"."""
    (tmp_path / "monitor.py").write_text("word = 1\n")
    (problem,) = found(tmp_path, "import sys\nfrom .monitor import word\n")
    assert "line 2: a relative import" in problem.sentence() and problem.stops


def test_the_module_tcp_probe_which_linux_lost_is_named_with_what_prints_windows_now(tmp_path: Path) -> None:
    """The module was removed by commit 6987990c3d38 of Linux 4.16; scripts of CS 244 load it in this way."""
    script = """
    import os
    os.system("rmmod tcp_probe 1>/dev/null 2>&1; modprobe tcp_probe port=5001 full=1")
    """
    (problem,) = found(tmp_path, script)
    assert "line 3: the module tcp_probe was removed from Linux" in problem.sentence()
    assert "ss -tin" in problem.text and not problem.stops


@pytest.mark.parametrize(("module", "package"), [("paho.mqtt.client", "paho-mqtt"), ("grpc", "grpcio")])
def test_pip_is_given_the_name_of_the_package_not_of_the_module(module: str, package: str, tmp_path: Path) -> None:
    """Both packages' own pages on PyPI: `pip install paho-mqtt`, `pip install grpcio`."""
    (problem,) = found(tmp_path, f"import {module}\n")
    assert problem.text.endswith(f"-m pip install {package}")


@pytest.mark.parametrize(
    "text",
    [
        "print('a'); print('%d' % 1); print\nprint(1, end='')\nprint = 3\n",
        "import sys\nif sys.version_info[0] == 2:\n    import commands\n    xrange(3)\n",
        "try:\n    import Queue\nexcept ImportError:\n    import queue as Queue\n",
        "try:\n    raw_input\nexcept NameError:\n    raw_input = input\nraw_input\n",
        "unicode = str\nunicode('x')\n",
        "def f(file, reload): return file, reload\n",
        "from functools import reduce\nreduce(max, [1])\n",
        "import string\ndef f(string): return string.upper()\n",
        "match = 1\nprint(match)\nx = 0.005 + .005 + 0 + 00 + 1e-5\n",
        "import numpy, pandas, json, os.path\nfrom mininet.log import setLogLevel, info\nfrom mininet.util import dumpNodeConnections\n",
        "h.cmd('echo a; cd /tmp && ls > x 2>&1 &'); h.cmd('for i in 1 2; do ping -c 1 $i; done')\n",
        "h.cmd('for ((i=0;i<3;i++)); do ping -c $((i+1)) h2; let i=i+1; done; mapfile x < y')\n",
        "h.cmd('look() { ls; }; alias see=\"ls -l\"'); h.cmd('look; see')\n",
        "h.popen(['grep', '-E', 'one|two', f]); h.pexec('awk', '{print($1); x}', 'f'); quietRun([])\n",
        "h.cmd('[[ a < b ]] && x=(1 2 3); case $1 in start|stop) ls;; esac; cat <<END\\nwords; here\\nEND')\n",
        "h.cmd('tc qdisc add dev %s root netem delay 10ms' % name); h.cmd(f'{program} -c'); h.popen(['ping', x])\n",
        "h.cmd('ifconfig h1-eth0 10.0.0.1'); h.cmd('curl -w %{time_total} x' if 0 else 'ls'); h.cmd('sudo ip link')\n",
        "from mininet.node import OVSSwitch, Controller\nOVSSwitch('s1'); Controller('c0')\n",
    ],
)  # fmt: skip
def test_a_correct_script_has_no_problem(text: str, tmp_path: Path) -> None:
    assert [problem.sentence() for problem in found(tmp_path, text)] == []


KNOWN = {
    "consoles": "Tkinter",
    "cluster": "ovs-vsctl",
    "controllers": "RemoteController",
    "miniedit": "ovs-vsctl",
    "mobility": "ovs-vsctl",
    "numberedports": "ovs-vsctl",
    "scratchnet": "ovs-vsctl",
    "scratchnetuser": "ofdatapath",
}
"""Mininet's examples that ask for what netlab does not have, with what."""


@pytest.mark.parametrize(
    "path",
    [*sorted(EXAMPLES.glob("*.py")), *sorted((ROOT / "benchmarks/mininet").glob("*.py"))],
    ids=lambda path: path.stem,
)
def test_mininets_examples_give_no_false_alarm(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The result does not depend on what this machine has installed.
    monkeypatch.setattr(shutil, "which", lambda *_words, **_more: "/bin/true")
    problems = check(path, path.parent)
    if path.stem in KNOWN:
        assert KNOWN[path.stem] in "".join(problem.text for problem in problems)
    else:
        assert [problem.sentence() for problem in problems] == []


def test_modules_and_names_that_are_missing(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import not_there_either\nprint 'x'\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "below.py").write_text("")
    script = """
    import own, sys
    from mininet.node import Hots
    from mininet.nodes import Host
    import no_such_module
    def later():
        import another_module
    """
    problems = found(tmp_path, script)
    text = sentences(problems, stops=True)
    assert "case.py, line 5: module no_such_module is not installed" in text
    assert f"{sys.executable} -m pip install no_such_module" in text
    assert "line 3: mininet.node of Mininet has no Hots." in text
    assert "line 4: Mininet has no module mininet.nodes." in text
    assert "own.py, line 1: module not_there_either is not installed" in text
    assert "own.py, line 2: print without parentheses" in text
    assert "line 7: module another_module" in sentences(problems, stops=False)
    assert found(tmp_path, "import sys\nsys.path.append('lib')\nimport below\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "sys.path.append('..')",
        "here = os.path.dirname(__file__)\nup = os.path.join(here, '..')\nsys.path.append(up)",
        "sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))",
        "sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(sys.argv[0]), os.pardir)))",
        "sys.path += [str(pathlib.Path(__file__).resolve().parent.parent)]",
        "root = pathlib.Path(__file__).resolve().parents[1]\nsys.path.append(str(root / 'core' / '..'))",
        "from os.path import abspath, dirname\nsys.path.append(dirname(abspath(__file__)) + '/..')",
    ],
)
def test_a_package_in_a_directory_that_a_script_adds_is_found(line: str, tmp_path: Path) -> None:
    """Experiments are often in a folder beside the package that they share."""
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("")
    (tmp_path / "core" / "topologies.py").write_text("import not_there_either\n")
    (tmp_path / "experiments").mkdir()
    script = f"import os, pathlib, sys\n{line}\nfrom core.topologies import *\n"
    problems = found(tmp_path / "experiments", script)
    assert ["module not_there_either" in problem.text for problem in problems] == [True]


def test_mistakes_in_code_that_may_not_run_are_warnings(tmp_path: Path) -> None:
    script = """
    import sys
    if len(sys.argv) > 1:
        import no_such_module
    def main():
        options = parser.parse_args()
        xrange(3)
    main()
    """
    problems = found(tmp_path, script)
    assert sentences(problems, stops=True) == ""
    assert "no_such_module" in sentences(problems, stops=False)
    assert "xrange" in sentences(problems, stops=False)


def test_switches_without_open_vswitch_are_named(tmp_path: Path) -> None:
    script = """
    s1.cmd('ovs-ofctl add-flow s1 actions=normal')
    s1.cmd('sudo ovs-vsctl set port s1-eth1 qos=@newqos')
    s1.dpctl('dump-flows')
    net.addSwitch('s1', protocols='OpenFlow13')
    net.addController('c0', controller=RemoteController, ip='127.0.0.1')
    """
    text = sentences(found(tmp_path, script), stops=False)
    assert "line 2: ovs-ofctl has no effect, so its flows are missing: netlab's switches are Linux bridges" in text
    assert "line 3: ovs-vsctl has no effect, so its queues are missing" in text
    assert "line 4: .dpctl() has no effect" in text
    assert "line 5: protocols='OpenFlow13' has no effect" in text
    assert "line 6: RemoteController has no effect" in text


def test_programs_that_are_missing_are_named_with_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_words, **_more: None)
    script = """
    import os, subprocess
    server = 'iperf3 -s -w 16m'
    h2.popen(server)
    h1.cmd('cd /tmp; n=$((n+1)); (tcpdump -w x.pcap &) ; nohup ./mine &', 'x')
    os.system('sudo timeout 5 iperf3 -c %s | tee out' % h2.IP())
    subprocess.run(['bash', '-c', 'A=1 hping3 x'])
    subprocess.Popen('ls', shell=True)
    h1.pexec(['sh', '-c', 'true;nping'])
    h1.cmd('true;', 'fping')
    h1.popen(['true', '|', 'mtr'], shell=True)
    """
    text = sentences(found(tmp_path, script), stops=False)
    assert "lines 4, 6: iperf3 is not installed on this machine; its package is iperf3 (Debian, Ubuntu" in text
    for line, program in (
        (5, "tcpdump"),
        (6, "tee"),
        (7, "hping3"),
        (8, "ls"),
        (9, "nping"),
        (10, "fping"),
        (11, "mtr"),
    ):
        assert f"line {line}: {program} is not installed" in text
    assert "mine" not in text and "nohup" not in text


@pytest.mark.parametrize(
    "command",
    [
        "h1.popen('python server.py', shell=True)",
        "h1.cmd('python3 -u server.py 80 &')",
        "h1.sendCmd('sudo', 'python', 'server.py')",
    ],
)
def test_a_program_for_python_2_that_a_host_starts_is_a_warning(command: str, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("import SimpleHTTPServer\nserver = SimpleHTTPServer\n")
    problems = found(tmp_path, command)
    text = sentences(problems, stops=False)
    assert f"{tmp_path}/server.py, line 1: module SimpleHTTPServer is Python 2" in text
    assert f"-m fissix -w {tmp_path}/server.py" in text
    assert not any(problem.stops for problem in problems)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("missing.py", None, "there is no such script"),
        ("data.py", b"\x7fELF\0\0", "this is not a Python file"),
        ("tool.sh", b"#!/bin/bash\necho x\n", "a program for /bin/bash"),
        ("notebook.ipynb", b'{"cells": []}', "this is a notebook"),
        ("broken.py", b"def f(:\n", "invalid syntax, in `def f(:`"),
        ("latin.py", b"x = '\xe9'\n", "a letter here is not UTF-8"),
    ],
)
def test_file_that_is_no_script_is_reported_and_nothing_runs(
    name: str,
    data: bytes | None,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["mininet", name]) == cli.EXIT_MISTAKE
    printed = capsys.readouterr()
    assert words in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_a_script_from_a_pipe_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A script cannot come from the standard input (`netlab mininet /dev/stdin`), and its reading must not wait."""
    os.mkfifo(tmp_path / "pipe.py")
    assert cli.main(["mininet", str(tmp_path / "pipe.py")]) == cli.EXIT_MISTAKE
    printed = capsys.readouterr()
    assert "this is a pipe or a device" in printed.err and "save the script as a file" in printed.err
    assert printed.out == ""


def test_a_directory_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["mininet", str(tmp_path)]) == cli.EXIT_MISTAKE
    assert "this is a directory" in capsys.readouterr().err


def test_check_alone_tells_by_its_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "case.py"
    for text, status in (("import os  # check it\n", 0), ("s1.dpctl('x')\n", 1), ("print 'x'\n", 2)):
        path.write_text(text)
        assert cli.main(["mininet", "--check", str(path)]) == status
        assert cli.main(["mininet", str(path), "--check"]) == status, (
            "also behind the script, where it is none of its options"
        )
    assert capsys.readouterr().out == f"Found no problems in {path}.\n" * 2


def test_warnings_are_printed_before_the_problems_that_stop_a_script_and_not_counted_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "case.py"
    path.write_text("import no_such_module\ns1.dpctl('x')\n")
    assert cli.main(["mininet", str(path)]) == cli.EXIT_MISTAKE
    warning, *rest = capsys.readouterr().err.splitlines()
    assert warning.startswith(f"netlab: {path}, line 2: .dpctl() has no effect")
    assert rest[0] == "netlab: This cannot run:"
    assert len(rest) == 2 and "no_such_module is not installed" in rest[1]


@pytest.mark.slow
def test_the_printed_command_converts_a_script(tmp_path: Path) -> None:
    """The test is skipped if no registry of packages answers; the converter is not part of netlab."""
    text = "import commands\nprint 'started', commands.getoutput('echo x')\nopen('done.txt', 'w').write(`3`)\n"
    problems = found(tmp_path, text)
    place = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    command = problems[-1].text.partition(".bak: ")[2].replace(sys.executable, str(place / "bin/python"))
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S602 (it is what a person types)
    if "No matching distribution" in done.stderr or "Could not find a version" in done.stderr:
        pytest.skip("no registry of packages answers")
    assert done.returncode == 0, done.stderr
    assert check(tmp_path / "case.py", tmp_path) == []
    assert (tmp_path / "case.py.bak").read_text() == text
    ran = subprocess.run([sys.executable, "case.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == "started x\n"


def test_features_that_the_kernel_lacks_are_warnings_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "linux").touch()
    (tmp_path / "config").write_text("CONFIG_NET_SCH_PRIO=y\nCONFIG_NET_CLS_U32=y\n")
    kernel = PocketKernel(tmp_path / "linux", "7.3.4", (7, 3, 4), frozenset())
    monkeypatch.setattr(pocket_kernel, "find", lambda: kernel)
    text = """
        def limit(h, port):
            h.cmd('tc qdisc add dev %s-eth0 root handle 1: prio' % h.name)
            h.cmd(f'tc filter add dev {h.name}-eth0 parent 1: u32 match ip dport {port} 0xffff action ct')
            h.cmd('tc filter add dev h1-eth0 parent 1: protocol ip cgroup')
            h.cmd(f'iptables -A INPUT -m physdev --physdev-in {port} -j DROP')
    """
    problems = found(tmp_path, text)
    assert [(problem.lines, problem.stops) for problem in problems] == [([4], False), ([5], False), ([6], False)]
    said = sentences(problems, stops=False)
    assert "no `tc action ct` (CONFIG_NET_ACT_CT): use iptables with -m conntrack" in said
    assert "no `tc filter cgroup` (CONFIG_NET_CLS_CGROUP): mark packets with `iptables" in said
    assert "no `iptables match physdev` (CONFIG_NETFILTER_XT_MATCH_PHYSDEV): use ebtables" in said

    def find_none() -> PocketKernel:
        raise KernelError("There is no pocket kernel.")

    monkeypatch.setattr(pocket_kernel, "find", find_none)
    assert found(tmp_path, text) == []


@pytest.mark.parametrize(
    ("command", "is_flood"),
    [
        ("iperf3 -u -c 10.0.0.2 -b 1000g", True),
        ("iperf3 -uc 10.0.0.2 -b 10G -t 5", True),
        ("iperf -c 10.0.0.2 -u -b10000m", True),
        ("iperf3 --udp --client 10.0.0.2 --bitrate=1t", True),
        ("iperf3 -u -c 10.0.0.2 -b 1g", False),
        ("iperf3 -c 10.0.0.2 -b 1000g", False),
        ("iperf3 -u -c 10.0.0.2 -b {rate}", False),
    ],
)
def test_a_flood_of_udp_is_a_warning_with_its_cost(command: str, is_flood: bool, tmp_path: Path) -> None:
    problems = [
        each for each in found(tmp_path, f"h1.cmd(f'{command}')") if "at most about 9 Gbit/s of UDP" in each.text
    ]
    assert [(each.lines, each.stops) for each in problems] == ([([1], False)] if is_flood else [])


@pytest.mark.parametrize(
    "start",
    [
        "os.system('python inner.py -q %d' % q)",
        "os.system('sudo python3 inner.py')",
        "subprocess.call([sys.executable, 'inner.py', 'x'])",
    ],
)
def test_a_mininet_script_that_another_starts_is_named(start: str, tmp_path: Path) -> None:
    (tmp_path / "inner.py").write_text("from mininet.net import Mininet\n")
    (tmp_path / "case.py").write_text(f"import os, subprocess, sys\nq = 20\n{start}\nos.system('python3 plot.py')\n")
    (tmp_path / "plot.py").write_text("print('no network')\n")
    (problem,) = check(tmp_path / "case.py", tmp_path)
    assert (problem.lines, problem.stops) == ([3], False)
    assert problem.text.endswith("run it by itself, as in `netlab mininet inner.py`.")
