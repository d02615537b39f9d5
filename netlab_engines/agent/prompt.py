"""Mininet's own prompt for the network of a live lab: its nodes enter existing namespaces."""

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

from mininet.cli import CLI
from mininet.log import output, setLogLevel
from mininet.node import Node, Switch

from netlab_engines.agent import mininet_iperf, mininet_starts
from netlab_engines.agent.network import PlannedIntf, mininet_network
from netlab_engines.agent.terminals import OFFER, silent_input


class ExistingNamespace:
    """A Mininet node whose shell joins an existing namespace; `namespace_pids` has the pid of the namespace's holder by
    the node's name.
    """

    namespace_pids: ClassVar[dict[str, int]] = {}

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: N802 (Mininet's name)
        """Start the shell of this Mininet node in the existing namespace of the live network's node with the same name;
        `mnopts` is ignored, and the node counts as one with a namespace of its own.
        """
        self.inNamespace = False
        super().startShell("-cd")  # type: ignore[misc]
        self.inNamespace = True

    def _popen(self, command: list[str], **params: Any) -> Any:
        """Start a command with `params` as Mininet does and return its process; a command that begins with `mnexec
        -cd`, Mininet's way to make a namespace, joins the existing namespace of this node instead.
        """
        if command[:2] == ["mnexec", "-cd"]:
            command = ["mnexec", "-cda", str(self.namespace_pids[self.name]), *command[2:]]  # type: ignore[attr-defined]
        return super()._popen(command, **params)  # type: ignore[misc]


class ExistingNode(ExistingNamespace, Node):  # type: ignore[misc]
    """A host or a router of the live network, in Mininet's prompt."""


class ExistingSwitch(ExistingNamespace, Switch):  # type: ignore[misc]
    """A bridge of the live network, in Mininet's prompt."""

    def start(self, _controllers: Any = None) -> None:
        """Do nothing: the bridge of the live network runs already. The controllers are ignored."""


class ExistingIntf(PlannedIntf):
    """An existing interface of the live network; when it is set up after it was down, its node's routes and neighbours
    are set again.
    """

    plan: ClassVar[dict[str, Any]] = {}

    def ifconfig(self, *words: str) -> Any:
        """Switch the interface on or off with `ip` and return "", if the only argument is "up" or "down"; "up" also
        sets the node's routes and neighbours again. With any other arguments, change nothing and return the description
        of `ip address show`.
        """
        if words not in (("up",), ("down",)):
            return self.cmd("ip address show dev", self.name)
        self.cmd("ip link set dev", self.name, words[0])
        if words == ("up",):
            for route in self.plan["routes"]:
                if route["node"] == self.node.name:
                    self.cmd("ip route replace", route["to"], "via", route["via"])
            for near in self.plan["neighbours"]:
                if near["node"] == self.node.name:
                    words_of = f"{near['address']} lladdr {near['mac']} dev {near['interface']} nud permanent"
                    self.cmd("ip neighbour replace", words_of)
        return ""

    def isUp(self, setUp: bool = False) -> bool:  # noqa: N802 (Mininet's names)
        """Return whether the interface is switched on; `setUp`, with which Mininet would switch it on, is ignored."""
        return "UP" in self.cmd("ip -o link show dev", self.name).partition(">")[0]


class Prompt(CLI):  # type: ignore[misc]
    """Mininet's prompt for a live network; xterm opens a terminal in the host's program."""

    def onecmd(self, line: str) -> Any:
        """Run one line of the prompt as Mininet does and return Mininet's result; a true one ends the prompt. If
        commands come from a file, first print the prompt and the line.
        """
        if self.inputFile:
            output(f"{self.prompt}{line.rstrip()}\n")
        return super().onecmd(line)

    def do_xterm(self, line: str, term: str = "xterm") -> None:
        """Ask the program that shows this prompt's terminal to open a terminal for each node whose name is a word of
        `line`, or print that there is no such node or that the prompt has no terminal. `term` is ignored.
        """
        for name in line.split():
            if name not in self.mn:
                output(f"There is no node {name}; there are {', '.join(self.mn)}.\n")
            elif self.inputFile:
                output("xterm needs the prompt on a terminal; here its commands come from a file or a pipe.\n")
            else:
                output(OFFER.format(name))

    do_gterm = do_x = do_xterm


def main(path: str, commands: str | None = None) -> None:
    """Open Mininet's prompt for the live network that the JSON file at `path` describes ("plan", and "pids", the pid of
    each node's namespace by name), and return, after killing the nodes' shells, when it is closed. Commands come from
    the file at the path `commands` (None: from the terminal).
    """
    words = json.loads(Path(path).read_text())
    setLogLevel("info")
    mininet_iperf.install()
    mininet_starts.install()
    ExistingNamespace.namespace_pids, ExistingIntf.plan = words["pids"], words["plan"]
    net = mininet_network(words["plan"], ExistingNode, ExistingSwitch, ExistingIntf)
    net.built = True
    Prompt(net, stdin=sys.stdin if commands is None else silent_input(), script=commands)
    for node in [*net.hosts, *net.switches]:
        node.shell.kill()
