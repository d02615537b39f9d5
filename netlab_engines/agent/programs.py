"""Programs in the nodes of a lab: shell commands, background processes, terminals and files.

While the lab waits for one program, other programs and all traffic go on.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from netlab.base.errors import RunError
from netlab_engines.agent import replacements
from netlab_engines.agent.host_channel import HostChannel
from netlab_engines.agent.network import Network
from netlab_engines.agent.replacements import BINARIES, HOME
from netlab_engines.agent.terminals import Terminals, run_with_output
from netlab_engines.protocol import requests
from netlab_engines.protocol.requests import (
    AgentPlan,
    ExitReply,
    FileReply,
    OutputReply,
    ProcessReply,
    TerminalReply,
    TimeReply,
)

GRID_S = 0.01
PROMPT = "import sys; sys.path.extend({packages!r}); from netlab_engines.agent.prompt import main; main({path!r}, {commands!r})"

# Save the directory, variables and functions of a host's shell, so that the next command has them.
SHELL = """
state=$HOME/.netlab-shell
[ -f "$state" ] && . "$state"
trap 'code=$?; trap - EXIT; { export -p; declare -f; printf "cd %q\\n" "$PWD"; } >"$state"; exit $code' EXIT
"""


class Programs:
    """The programs in a lab's nodes, with a method for each request about them; the output of a command is sent to the
    host while it runs.

    `moment` returns the present time of the network, which is a part of each answer.
    """

    def __init__(
        self,
        channel: HostChannel,
        plan: AgentPlan,
        network: Network,
        packages: list[str],
        moment: Callable[[], TimeReply],
    ) -> None:
        """Prepare programs in the nodes of a running network: make the nodes' home directories, install replacements of
        missing programs, and report background programs that fail early. The output of commands goes to `channel`;
        `packages` are the directories of netlab and Mininet; `moment` returns the present time of the network, which is
        part of each answer.
        """
        self._channel = channel
        self._plan = plan
        self._network = network
        self._packages = packages
        self._time = moment
        # Each background process with the file of its output.
        self._background: dict[int, tuple[subprocess.Popen[bytes], str]] = {}
        self._terminals = Terminals(channel.foreground)
        self._early_exits = channel.report_early_exits(self._networks)
        for node in network.nodes:
            os.makedirs(f"{HOME}/{node}", exist_ok=True)
        self._all_programs = replacements.install(BINARIES)

    def _networks(self) -> dict[int, str]:
        """Return the name of each node by the inode number of its network namespace."""
        return {os.stat(f"/proc/{self._network.pid(node)}/ns/net").st_ino: node for node in self._network.nodes}

    def run(self, node: str, command: str) -> ExitReply:
        """Run a shell command on the node with the name `node` until it ends, send its output to the host meanwhile,
        and return a dict of its exit code ("code", negative: the signal that ended it) and the time ("now_s").
        """
        words, options = self._in_shell(node, command)
        return {"code": run_with_output(self._channel, words, **options), **self._time()}

    def background(self, node: str, command: str) -> ProcessReply:
        """Start a shell command in the background on the node with the name `node`, with its output in a file. After
        GRID_S s of network time, in which a server can begin to listen, return a dict of its pid ("pid") and the time
        ("now_s").
        """
        path = f"{HOME}/output-{len(self._background)}"
        words, options = self._in_shell(node, command)
        with open(path, "wb") as out:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True, **options
            )
        self._background[process.pid] = (process, path)
        self._early_exits.note_start(process.pid, node, command)
        # Wait until the process sleeps or has ended, so that a server which was just started listens.
        time.sleep(GRID_S)
        return {"pid": process.pid, **self._time()}

    def process(self, pid: int, offset: int, wait_s: float) -> OutputReply:
        """Wait for the end of the background process `pid`, at most `wait_s` s of network time. Return a dict of its
        output from the byte `offset` (from 0) on ("text"), the offset after that ("offset"), its exit code ("code",
        None while it runs) and the time ("now_s"). Raises KeyError if `background` did not start it.
        """
        process, path = self._background[pid]
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait_s)
        with open(path, "rb") as file:
            file.seek(offset)
            data = file.read()
        return {
            "text": data.decode(errors="replace"),
            "offset": offset + len(data),
            "code": process.poll(),
            **self._time(),
        }

    def signal(self, pid: int, number: int) -> TimeReply:
        """Send the signal with this number to the background process `pid` and all processes of its group; nothing
        happens if they have ended. Return the time as {"now_s": s}.
        """
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
        return self._time()

    def _in_shell(self, node: str, command: str) -> tuple[list[str], dict[str, Any]]:
        """Return the program and arguments that run a shell command on the node with the name `node`, and a dict of the
        arguments of `Popen` for its directory ("cwd") and environment ("env"). Directory, exported variables and
        functions of the shell are saved at its end for the node's next command.
        """
        home = f"{HOME}/{node}"
        # mnexec joins the namespaces: Python itself could not use vfork for that, and a fork takes four times as long.
        words = ["mnexec", "-a", str(self._network.pid(node)), "bash", "-c", SHELL + command]
        return words, {"cwd": home, "env": _environment(home)}

    def read(self, node: str, path: str) -> FileReply:
        """Return a dict of the content of a file as hexadecimal digits ("hex") and the time ("now_s"); a relative
        `path` starts in the home directory of the node with the name `node`. Raises RunError if the file cannot be
        opened.
        """
        with _file(node, path, "rb") as file:
            return {"hex": file.read().hex(), **self._time()}

    def write(self, node: str, path: str, hex: str) -> TimeReply:  # noqa: A002 (what `bytes.fromhex` takes)
        """Write the bytes that the hexadecimal digits `hex` stand for to a file, in place of its content, and return
        the time as {"now_s": s}; a relative `path` starts in the home directory of the node with the name `node`.
        Raises RunError if it cannot be opened.
        """
        with _file(node, path, "wb") as file:
            file.write(bytes.fromhex(hex))
        return self._time()

    def terminal(self, node: str, rows: int, columns: int) -> ProcessReply:
        """Open a shell of the node with the name `node` on a new terminal of `rows` by `columns` characters; return a
        dict of the shell's pid ("pid"), by which later requests name the terminal, and the time ("now_s").
        """
        home = f"{HOME}/{node}"
        command = ["mnexec", "-a", str(self._network.pid(node)), "setsid", "-c", "bash", "--norc", "-i"]
        environment = _environment(home) | {"TERM": "xterm-256color", "PS1": f"{node}:\\w# "}
        return {"pid": self._terminals.open(command, home, environment, rows, columns), **self._time()}

    def prompt(self, rows: int, columns: int) -> ProcessReply:
        """Open Mininet's prompt for the network on a new terminal of `rows` by `columns` characters; return a dict of
        its pid ("pid"), by which later requests name the terminal, and the time ("now_s").
        """
        command = ["setsid", "-c", *self._prompt(None)]
        pid = self._terminals.open(command, HOME, self._prompt_environment(), rows, columns)
        return {"pid": pid, **self._time()}

    def prompt_lines(self, lines: str) -> ExitReply:
        """Run commands of Mininet's prompt, one per line of the text `lines`, send their output to the host meanwhile,
        and return a dict of the prompt's exit code ("code") and the time ("now_s").
        """
        commands = f"{HOME}/commands"
        with open(commands, "w") as file:
            file.write(lines)
        where: dict[str, Any] = {"cwd": HOME, "env": self._prompt_environment()}
        return {
            "code": run_with_output(self._channel, self._prompt(commands), **where),
            **self._time(),
        }

    def _prompt(self, commands: str | None) -> list[str]:
        """Write a file that describes the network, and return the program and arguments that open Mininet's prompt for
        it, with commands from the file at the path `commands` (None: from the terminal).
        """
        path = f"{HOME}/prompt.json"
        with open(path, "w") as file:
            pids = {name: self._network.pid(name) for name in self._network.nodes}
            json.dump({"plan": self._plan, "pids": pids}, file)
        return [sys.executable, "-S", "-c", PROMPT.format(packages=self._packages, path=path, commands=commands)]

    def _prompt_environment(self) -> dict[str, str]:
        """Return the environment variables of Mininet's prompt, whose search path includes all of netlab's replacements
        of programs.
        """
        return _environment(HOME) | {"TERM": "xterm-256color", "PATH": self._all_programs}

    def turn(self, **words: Any) -> TerminalReply:
        """Send keys to a terminal, let network time pass, and return a dict of its output ("text"), whether its program
        has ended ("ended"), the exit code ("code", None if not known) and the time ("now_s"); `words` are the arguments
        of `netlab_engines.agent.terminals.Terminals.turn` by name.
        """
        return {**self._terminals.turn(**words), **self._time()}


def _file(node: str, path: str, mode: str) -> IO[bytes]:
    """Open the file at `path` for bytes in a mode of Python's `open`, such as "rb", and return it; a relative path
    starts in the home directory of the node with the name `node`. Raises RunError if that fails.
    """
    try:
        return open(os.path.join(HOME, node, path), mode)
    except OSError as error:
        raise RunError(
            f"{node}: {path} cannot be opened ({error.strerror}). A path that does not begin with / is relative to the host's "
            f"home directory; lab[{node!r}].run('ls') lists the files there."
        ) from None


def _environment(home: str) -> dict[str, str]:
    """Return the environment variables of a node's shell by name, as `replacements.environment` chooses them: the home
    directory `home`, and a search path that includes replacements of programs that the machine lacks.
    """
    # The search path includes replacements for programs that a machine may lack, such as ifconfig, iptables and telnet.
    return replacements.environment(home, replacements.search_path(BINARIES))


if TYPE_CHECKING:
    _answers: type[requests.ProgramRequests] = Programs
