"""Find programs that a script starts and this machine lacks, those of Open vSwitch, which netlab does not have, and
commands for which the pocket kernel lacks a feature.
"""

from __future__ import annotations

import ast
import itertools
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from netlab.base.errors import KernelError
from netlab_engines.agent import replacements
from netlab_engines.distributions import PACKAGES, not_installed
from netlab_engines.kernels import features, pocket_kernel
from netlab_engines.kernels.versions import read_config
from netlab_engines.lab.script_check.commands import StartedProgram, started_programs
from netlab_engines.lab.script_check.execution import last_name
from netlab_engines.lab.script_check.imports import imported_modules
from netlab_engines.lab.script_check.problem import Problem
from netlab_engines.lab.script_check.reading import Source, read_source
from netlab_engines.lab.script_check.shell import HOLE
from netlab_engines.paths import system_path

BUILT_IN = frozenset([
    ".", ":", "alias", "bg", "bind", "break", "caller", "cd", "command", "compgen", "complete", "compopt", "continue",
    "declare", "dirs", "disown", "echo", "enable", "eval", "exec", "exit", "export", "false", "fc", "fg", "getopts",
    "hash", "help", "history", "jobs", "kill", "let", "local", "logout", "mapfile", "popd", "printf", "pushd", "pwd",
    "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "test", "times", "trap",
    "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
])  # fmt: skip
"""Commands of the shell."""
NOT_NEEDED = frozenset(["modprobe", "rmmod", "insmod", "lsmod", "depmod", "mn", "service", "systemctl", "mnexec"])
"""Programs that load kernel modules, start services or clear up after Mininet: a guest needs none of them."""
OPENFLOW_PROGRAMS = frozenset([*replacements.PLACES["first"], "ofctl", "ofdatapath", "ofprotocol"])
OPENFLOW_METHODS = frozenset(["dpctl", "vsctl"])
CONTROLLERS = frozenset(["RemoteController", "Ryu", "NOX", "POX"])
BRIDGES = "netlab's switches are Linux bridges, which have no flow tables and ask no controller"
LEARNING = "They learn where hosts are, as Mininet's own controller lets switches learn; what another controller decides is missing."
TCP_PROBE = (
    "the module tcp_probe was removed from Linux in 4.16, so there is no /proc/net/tcpprobe; `ss -tin` in a host prints the "
    "congestion windows."
)
MAX_SENT_GBPS = 9
"""A host's rate of UDP in datagrams of 1448 bytes where no link limits it: each takes 1.3 us (netlab_kernel/recipe/count_calls.c)."""
FLOOD = (
    f"a host sends at most about {MAX_SENT_GBPS} Gbit/s of UDP, and on a link without a rate each second of it takes up to a minute; "
    "a rate of 1.1 times the link's shows the same loss."
)
INNER_SCRIPT = (
    "{0} is a Mininet script of its own, and the Python that starts it there has no Mininet: run it by itself, as in "
    "`netlab mininet {0}`."
)
RATE_OPTIONS = ("-b", "--bitrate", "--bandwidth")
NOT_INSTALLED_SCRIPT = "not_installed"
PYTHONS = frozenset(["python", "python3"])


def problems(source: Source) -> list[Problem]:
    """Return a problem for each start of a program that this machine lacks, and for each use of a feature of Open
    vSwitch, or of Linux that the pocket kernel lacks, and each flood of UDP, in a script; none of them stops the script.
    """
    found = (*_programs(source.tree), *_openflow(source.tree), *_features(source.tree), *_floods(source.tree))
    return [Problem(source.path, text, [line]) for text, line in found]


def inner_scripts(source: Source, directories: Sequence[Path]) -> list[Problem]:
    """Return a problem for each Mininet script that the script starts by a Python of its own, in which Mininet is not
    installed; `directories` are those of `python_programs`.
    """
    return [
        Problem(source.path, INNER_SCRIPT.format(shlex.quote(path.name)), [line])
        for path, line in python_programs(source, directories)
        if any(name.partition(".")[0] == "mininet" for name, _ in imported_modules(read_source(path).tree))
    ]


def python_programs(source: Source, directories: Sequence[Path]) -> Iterator[tuple[Path, int]]:
    """Yield the path of each Python file that a script starts as `python FILE` or `python3 FILE`, as found in the first
    of `directories` that has it, with the line number (from 1) of its start; files that are in none, or whose names
    only the running script knows, are left out.
    """
    for command in started_programs(source.tree):
        if command.program in PYTHONS:
            name = next((word for word in command.words if not word.startswith("-")), "")
            paths = (directory / name for directory in directories if name.endswith(".py") and HOLE not in name)
            path = next(filter(Path.is_file, paths), None)
            if path is not None:
                yield path, command.line


def _programs(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield a sentence and the line number (from 1) for each start of a program, in a parsed script, that this machine
    lacks and netlab does not replace, or that belongs to Open vSwitch; commands of the shell and programs that a guest
    does not need are left out.
    """
    path = ":".join(system_path())
    replaced = {
        name
        for programs in replacements.PLACES.values()
        for name, script in programs.items()
        if script != NOT_INSTALLED_SCRIPT
    }
    defined = BUILT_IN | NOT_NEEDED | replaced
    for command in started_programs(tree):
        if command.program in ("modprobe", "insmod") and "tcp_probe" in command.words:
            yield TCP_PROBE, command.line
        elif command.program in OPENFLOW_PROGRAMS:
            yield _openflow_program(command), command.line
        elif command.program not in defined and shutil.which(command.program, path=path) is None:
            is_packaged = command.program in PACKAGES
            text = (
                not_installed(command.program)
                if is_packaged
                else f"{command.program} is not installed on this machine."
            )
            yield text, command.line


def _features(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield a sentence and the line number (from 1) for each feature that a command in a parsed script asks for and
    that the pocket kernel lacks; nothing if there is no kernel yet.
    """
    try:
        config = read_config(pocket_kernel.find().path.with_name("config").read_text())
    except (KernelError, OSError):
        # The run says so.
        return
    for command in started_programs(tree):
        for sentence in features.missing(command.program, command.words, config):
            yield sentence, command.line


def _floods(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield FLOOD and the line number (from 1) for each start of iperf or iperf3, in a parsed script, that sends UDP
    faster than a host does.
    """
    for command in started_programs(tree):
        if command.program not in ("iperf", "iperf3"):
            continue
        options = " ".join(command.words).replace("=", " ").split()
        rates = [after for option, after in itertools.pairwise(options) if option in RATE_OPTIONS]
        rates += [word[2:] for word in options if re.match(r"-b\d", word)]
        is_udp = "--udp" in options or any(re.match(r"-[a-zA-Z]*u", word) for word in options)
        if is_udp and any(_gbps(rate) > MAX_SENT_GBPS for rate in rates):
            yield f"{command.program} {' '.join(command.words)}: {FLOOD}".replace(HOLE, "..."), command.line


def _gbps(rate: str) -> float:
    """Return a rate of iperf, such as "1000g", in Gbit/s; 0 if it has another form."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgtKMGT]?)(?:bps)?(?:/\d+)?", rate)
    return float(found[1]) * {"": 1e-9, "k": 1e-6, "m": 1e-3, "g": 1.0, "t": 1e3}[found[2].lower()] if found else 0.0


def _openflow_program(command: StartedProgram) -> str:
    """Return a sentence saying that a started program of Open vSwitch has no effect, and whether its queues or flows
    will be missing.
    """
    words = " ".join(command.words)
    what = "queues" if "qos" in words or "queue" in words else "flows" if "flow" in words else ""
    return f"{command.program} has no effect{what and f', so its {what} are missing'}: {BRIDGES}."


def _openflow(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield a sentence and the line number (from 1) for each call in a parsed script that uses OpenFlow: methods of
    switches, controllers and the option `protocols`.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = last_name(node.func)
        if name in OPENFLOW_METHODS and isinstance(node.func, ast.Attribute):
            yield f".{name}() has no effect: {BRIDGES}.", node.lineno
        operands = [node.func, *node.args, *(keyword.value for keyword in node.keywords)]
        for part in operands:
            used = last_name(part)
            if used in CONTROLLERS:
                yield f"{used} has no effect: {BRIDGES}. {LEARNING}", node.lineno
        for keyword in node.keywords:
            if keyword.arg == "protocols" and "openflow" in ast.unparse(keyword.value).lower():
                yield f"protocols={ast.unparse(keyword.value)} has no effect: {BRIDGES}.", node.lineno
