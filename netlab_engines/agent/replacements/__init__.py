"""Replacements for programs that Mininet calls and a machine may lack: shell scripts over `ip`, `tc` and `bridge`.

Most come last in the search path, so the machine's own program is used where there is one. Some come first: programs of
Open vSwitch, which a guest does not have, and, on the pocket kernel, iptables, whose older variant needs parts that
this kernel lacks, sudo, mn, the programs for modules, and tcpdump if the machine has it. A replacement knows a part of
the real program's options. It rejects all others with one line; the line names what the replacement supports and the
package of the real program. There is no replacement for iperf: its script names the packages only.
"""

import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from netlab_engines.distributions import PACKAGES, packages_of

HOME = "/run/netlab"
BINARIES = f"{HOME}/bin"
SCRIPTS = Path(__file__).parent
PLACES = {
    "first": dict.fromkeys(("ovs-vsctl", "ovs-ofctl", "ovs-dpctl", "ovs-appctl", "dpctl"), "no_openflow"),
    "filter": {
        **dict.fromkeys(("iptables", "iptables-save", "iptables-restore"), "iptables"),
        # A machine's own sudo reads files that an ordinary user may not read, and asks for a password.
        "sudo": "sudo",
        **dict.fromkeys(("ip6tables", "ip6tables-save", "ip6tables-restore"), "no_ipv6"),
        # Mininet's own removes *.log and *.out from /tmp, where a script shares the user's files.
        "mn": "mn",
        # A machine's own look for modules of the guest's kernel, which has none.
        **{name: name for name in ("modprobe", "rmmod", "lsmod")},
    },
    "last": {
        **{name: name for name in ("ifconfig", "brctl", "route", "arp", "telnet", "vconfig", "sysctl", "hostname")},
        **dict.fromkeys(("iperf", "iperf3"), "not_installed"),
        "python": "python",
        **dict.fromkeys(("cgcreate", "cgset", "cgdelete", "cgclassify"), "no_groups"),
    },
}
"""The script of each program, by its place in the search path: before the machine's own programs (`first`), before them on the
pocket kernel (`filter`), or after them (`last`).
"""
WRAPPED = ("tcpdump",)
"""The programs that need other rights in a guest: scripts of the same name in the folder `filter` start them. There is none for a
program that the machine lacks.
"""
OWN_KERNEL = "/dev/netlab"
HEADER = """name={name}
packages='{packages}'
reject() {{
    echo "$name: netlab's replacement does not support '$*'. It supports $supported. The real $name is in the package $packages." >&2
    exit 2
}}
"""
"""The beginning of each program of `PACKAGES`, after its first line. A script sets `supported` and calls `reject`."""
WITH_NETMASKS = ("ifconfig", "route")
"""The scripts that use the functions of netmasks.sh."""


class _Version:
    """A version number that can be compared, as in distutils; Mininet compares versions of Open vSwitch with it."""

    def __init__(self, text: str) -> None:
        """Parse the whole numbers between the dots of a version such as "2.17.1"; parts that are not numbers are
        ignored.
        """
        self._numbers = [int(part) for part in str(text).split(".") if part.isdigit()]

    def __lt__(self, other: "_Version") -> bool:
        """Return whether this version is older than the other, by their numbers from left to right."""
        return self._numbers < other._numbers


def provide_distutils() -> None:
    """Add modules `distutils` and `distutils.version`, with a class `StrictVersion`, to this process's modules unless
    it has them: Mininet imports the class, and Python 3.12 no longer has it.
    """
    version: Any = ModuleType("distutils.version")
    version.StrictVersion = _Version
    sys.modules.setdefault("distutils", ModuleType("distutils"))
    sys.modules.setdefault("distutils.version", version)


def environment(home: str, path: str) -> dict[str, str]:
    """Return all environment variables of a program in the guest by name: HOME is `home`, PATH is `path` (directories
    separated by colons), and SHELL, TERM, LC_ALL, PYTHONUNBUFFERED and USER (root) are fixed; no other variable of this
    process is in it.
    """
    return {
        "PATH": path,
        "HOME": home,
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        # Without it bash would look up the host's user, whom the guest may not know.
        "USER": "root",
    }


def search_path(directory: str) -> str:
    """Return the search path of a host's shell, directories separated by colons: the machine's programs and the
    replacements in the folders `filter` (on the pocket kernel before the machine's programs, else after them) and
    `last` of `directory`; those in `first` are left out.

    On the pocket kernel the replacements in `filter` (such as iptables, sudo and modprobe) come before the machine's programs.
    """
    own = f"{directory}/filter"
    machine = os.environ["PATH"]
    ordered = (own, machine) if os.path.exists(OWN_KERNEL) else (machine, own)
    return ":".join([*ordered, f"{directory}/last"])


def install(directory: str) -> str:
    """Write the shell scripts of all replacements, and of WRAPPED, to the subfolders first, filter and last of
    `directory`, and return a search path (directories separated by colons) that includes all of them, `first` in front.
    """
    wrapped = {name: name for name in WRAPPED if shutil.which(name) is not None}
    for place, programs in {**PLACES, "filter": PLACES["filter"] | wrapped}.items():
        os.makedirs(f"{directory}/{place}", exist_ok=True)
        for name, script in programs.items():
            path = f"{directory}/{place}/{name}"
            with open(path, "w") as file:
                file.write(script_text(name, script))
            os.chmod(path, 0o755)  # noqa: S103 (in the guest, everybody is root)
    return f"{directory}/first:{search_path(directory)}"


def script_text(name: str, script: str) -> str:
    """Return the text of the shell script that replaces the program `name`. `script` is the name of netlab's file for
    it, without .sh; a header that names the real program's package is added if one is known.
    """
    first, _, rest = (SCRIPTS / f"{script}.sh").read_text().partition("\n")
    header = HEADER.format(name=name, packages=packages_of(name)) if name in PACKAGES else ""
    functions = (SCRIPTS / "netmasks.sh").read_text() if script in WITH_NETMASKS else ""
    return f"{first}\n{header}{functions}{rest}"


def is_missing(program: str) -> bool:
    """Return True if netlab knows a package of the program with this name and the program is not installed: this
    process's search path has none, or only netlab's replacement. False for a program whose package netlab does not
    know.
    """
    found = shutil.which(program)
    return program in PACKAGES and (found is None or found.startswith(BINARIES))
