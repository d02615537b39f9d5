"""Write the names of a Mininet script's hosts to /etc/hosts.

`mnexec` gives each host its own hostname. Some programs look their host's name up when they start, for example Python's
web server; without an entry each look-up would wait for a name server that does not exist.
"""

from pathlib import Path
from typing import Any

import mininet.node

HOSTS = "/etc/hosts"
UNKNOWN_ADDRESS = "127.0.1.1"
"""The address of a host without an address, as Debian uses it for a machine's own name."""


class HostNames:
    """The entries of a script's hosts in the file `path` (/etc/hosts), whose other lines stay."""

    def __init__(self, path: Path = Path(HOSTS)) -> None:
        """Start with no entries for the hosts file at `path`; `note` writes them there."""
        self._path = path
        self._addresses: dict[str, str] = {}
        self._own_lines = ""

    def note(self, name: str, address: str) -> None:
        """Write a line with the IP address `address` and the host name `name` to the file, in place of the name's
        earlier line; other lines stay. Nothing is written if the address is the same as before.
        """
        if self._addresses.get(name) == address:
            return
        self._addresses[name] = address
        try:
            others = self._path.read_text()
        except OSError:
            others = "127.0.0.1 localhost\n"
        if self._own_lines:
            others = others.replace(self._own_lines, "")
        if others and not others.endswith("\n"):
            others += "\n"
        self._own_lines = "".join(f"{address} {name}\n" for name, address in self._addresses.items())
        self._path.write_text(others + self._own_lines)


def install() -> None:
    """Change Mininet's nodes so that each one with a namespace of its own has its name and address in /etc/hosts; to be
    called before a script makes a node.
    """
    names = HostNames()
    node = mininet.node.Node
    plain_start, plain_set_ip = node.startShell, node.setIP

    def start_shell(self: Any, *words: Any, **params: Any) -> None:
        """Start the shell of the node `self` with Mininet's arguments, and write the node's name to /etc/hosts, with
        its address or, before it has one, 127.0.1.1; nothing is written for a node in the script's own namespace.
        """
        plain_start(self, *words, **params)
        if self.inNamespace:
            address = str(self.params.get("ip") or UNKNOWN_ADDRESS)
            names.note(self.name, address.partition("/")[0])

    def set_ip(self: Any, ip: Any, prefixLen: Any = 8, intf: Any = None, **params: Any) -> Any:  # noqa: N803 (Mininet's name)
        """Set the IP address `ip` with the prefix length `prefixLen` of the interface `intf` (None: the first) of the
        node `self` and return Mininet's result; write the address to /etc/hosts if it is for the first interface of a
        node with a namespace of its own.
        """
        done = plain_set_ip(self, ip, prefixLen, intf, **params)
        if self.inNamespace and intf in (None, self.defaultIntf(), str(self.defaultIntf())):
            names.note(self.name, str(ip).partition("/")[0])
        return done

    node.startShell, node.setIP = start_shell, set_ip
