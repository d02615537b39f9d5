"""Programs that Mininet calls and a plain machine lacks, as small shell scripts over `ip`, `tc` and `bridge`.

They are found last, so that a machine's own are used where there are any; but for iperf, whose later versions Mininet waits
for in vain, for programs of which a guest has no use, and for iptables, whose older variant asks for parts that the pocket
kernel has not.
"""

import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

HOME = "/run/netlab"
BINARIES = f"{HOME}/bin"
SCRIPTS = Path(__file__).parent
PLACES = {
    "first": {"iperf": "iperf"}
    | dict.fromkeys(("ovs-vsctl", "ovs-ofctl", "ovs-dpctl", "ovs-appctl", "dpctl"), "no_openflow"),
    "filter": {
        **dict.fromkeys(("iptables", "iptables-save", "iptables-restore"), "iptables"),
        # A machine's own sudo reads files that an ordinary user may not read, and asks for a password.
        "sudo": "sudo",
        **dict.fromkeys(("ip6tables", "ip6tables-save", "ip6tables-restore"), "no_ipv6"),
        # Mininet's own removes *.log and *.out from /tmp, where a script shares the user's files.
        "mn": "mn",
    },
    "last": {
        **{name: name for name in ("ifconfig", "brctl", "route", "arp", "telnet", "vconfig", "sysctl", "hostname")},
        **dict.fromkeys(("cgcreate", "cgset", "cgdelete", "cgclassify"), "no_groups"),
    },
}
"""Which script a program is, by where in the search path it stands: before the machine's own, before it on the pocket kernel, last."""
OWN_KERNEL = "/dev/netlab"
IPERF = """#!/bin/sh
exec {python} -S -c 'import sys; sys.path.extend({packages}); from netlab.agent.iperf import main; main(sys.argv[1:])' "$@"
"""


class _Version:
    """What distutils had: versions that can be compared. Mininet asks for Open vSwitch's."""

    def __init__(self, text: str) -> None:
        self._numbers = [int(part) for part in str(text).split(".") if part.isdigit()]

    def __lt__(self, other: "_Version") -> bool:
        return self._numbers < other._numbers


def stand_in_for_distutils() -> None:
    """Give Mininet, and its scripts, the one name that Mininet wants of a module that Python 3.12 dropped."""
    version: Any = ModuleType("distutils.version")
    version.StrictVersion = _Version
    sys.modules.setdefault("distutils", ModuleType("distutils"))
    sys.modules.setdefault("distutils.version", version)


def environment(home: str, path: str) -> dict[str, str]:
    """The variables of a program in the guest."""
    return {
        "PATH": path,
        "HOME": home,
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        # bash itself would ask the host's user for it, whom the guest may not know.
        "USER": "root",
    }


def search_path(directory: str) -> str:
    """The search path of hosts whose other programs are the machine's own: on the pocket kernel iptables is the variant for nf_tables."""
    own = f"{directory}/filter"
    machine = os.environ["PATH"]
    ordered = (own, machine) if os.path.exists(OWN_KERNEL) else (machine, own)
    return ":".join([*ordered, f"{directory}/last"])


def install(directory: str, packages: list[str]) -> str:
    """Write the programs below a directory; returns the search path for programs with all of them."""
    texts = {path.stem: path.read_text() for path in SCRIPTS.glob("*.sh")}
    texts["iperf"] = IPERF.format(python=sys.executable, packages=json.dumps(packages))
    for place, programs in PLACES.items():
        os.makedirs(f"{directory}/{place}", exist_ok=True)
        for name, script in programs.items():
            path = f"{directory}/{place}/{name}"
            with open(path, "w") as file:
                file.write(texts[script])
            os.chmod(path, 0o755)  # noqa: S103 (in the guest, everybody is root)
    return f"{directory}/first:{search_path(directory)}"
