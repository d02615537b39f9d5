"""Classes in the place of those of Mininet's that want more than a guest has.

Open vSwitch is another package, with a database and a daemon of its own. Where a controller lets switches learn, as Mininet's
own does, a Linux bridge forwards the same; what an OpenFlow program decides, it does not. Limits on CPU time mean
nothing where computing takes no time.
"""

import os
from typing import Any

import mininet.clean
import mininet.node
import mininet.nodelib
from mininet.log import warn
from mininet.nodelib import LinuxBridge

from netlab.agent import mininet_iperf, mininet_names

BRIDGES = (
    "*** netlab: Open vSwitch is not offered. Linux bridges stand in for OpenFlow switches; they learn by themselves and "
    "ask no controller\n"
)
NO_LIMITS = "*** netlab: limits on CPU time are ignored: computing takes none of a pocket kernel's virtual time\n"
NO_OUTSIDE = (
    "*** netlab: there is no network outside: a pocket kernel has no way to the machine's. Hosts reach the NAT's node, and "
    "whatever else of this script is connected to it\n"
)
INTERFACES = "/etc/network/interfaces"
_told: set[str] = set()


def _tell_once(note: str) -> None:
    if note not in _told:
        _told.add(note)
        warn(note)


class Bridge(LinuxBridge):  # type: ignore[misc]
    """What a script gets when it asks for an OpenFlow switch."""

    def __init__(self, name: str, failMode: str = "secure", **params: Any) -> None:  # noqa: N803 (Mininet's names)
        for word in ("datapath", "inband", "protocols", "reconnectms", "batch", "dpopts", "verbose"):
            params.pop(word, None)
        super().__init__(name, **params)

    def start(self, controllers: Any) -> None:
        """Start the bridge."""
        _tell_once(BRIDGES)
        super().start(controllers)

    def attach(self, intf: Any) -> None:
        """Make an interface a port."""
        self.cmd("brctl addif", self, intf)
        self.cmd("ifconfig", intf, "up")

    def detach(self, intf: Any) -> None:
        """Make an interface a port no longer."""
        self.cmd("brctl delif", self, intf)

    def dpctl(self, *words: Any) -> str:
        """Say that there are no flow tables."""
        return f"{self.name} is a Linux bridge and has no flow tables: {' '.join(map(str, words))} is ignored\n"

    def vsctl(self, *words: Any) -> str:
        """As `dpctl`."""
        return self.dpctl(*words)

    @classmethod
    def isOldOVS(cls) -> bool:  # noqa: N802 (Mininet's name)
        """It is not."""
        return False


class UnlimitedHost(mininet.node.Host):  # type: ignore[misc]
    """What a script gets when it asks for a host with less CPU time."""

    def __init__(self, name: str, sched: str = "cfs", **params: Any) -> None:
        _tell_once(NO_LIMITS)
        super().__init__(name, **params)

    def setCPUFrac(self, f: float, sched: str | None = None) -> str:  # noqa: N802 (Mininet's names)
        """Nothing."""
        return ""

    def setCPUs(self, cores: Any, mems: int = 0) -> None:  # noqa: N802
        """Nothing."""

    def config(self, cpu: float = -1, cores: Any = None, **params: Any) -> Any:
        """What a host does, without the limits."""
        return super().config(**params)


def _tell_of_nats() -> None:
    """Let Mininet's NAT say that a guest has no network outside, and find the file in which it notes its interface."""
    # Its methods name their class, so that no other can stand in for it.
    nat = mininet.nodelib.NAT
    plain_init, plain_config = nat.__init__, nat.config

    def init(self: Any, name: str, *words: Any, **params: Any) -> None:
        if not params.get("inNamespace", True):
            # Mininet's meaning: this node has the machine's own interfaces.
            _tell_once(NO_OUTSIDE)
        plain_init(self, name, *words, **params)

    def config(self: Any, **params: Any) -> Any:
        os.makedirs(os.path.dirname(INTERFACES), exist_ok=True)
        with open(INTERFACES, "a"):
            pass
        return plain_config(self, **params)

    nat.__init__, nat.config = init, config


def _nothing(*_words: Any) -> None:
    """What needs not be done: start the program of a controller that nobody asks, clean up."""


def stand_in() -> None:
    """Put these classes in their places; to be called before a script imports anything of Mininet's."""
    mininet_names.install()
    mininet.node.CPULimitedHost = UnlimitedHost
    _tell_of_nats()
    # Nothing of an earlier network is in a fresh guest, and a page about cleaning up would hide the error before it.
    mininet.clean.cleanup = mininet.clean.Cleanup.cleanup = _nothing
    for name in ("OVSSwitch", "OVSKernelSwitch", "OVSBridge", "UserSwitch", "IVSSwitch"):
        setattr(mininet.node, name, Bridge)
    controller = mininet.node.Controller
    controller.start = _nothing
    controller.checkListening = _nothing
    controller.isAvailable = classmethod(lambda _cls: True)
    controller.stop = lambda self, *_words, **_more: super(controller, self).stop(deleteIntfs=True)
    # This imports mininet.net, which takes the names of the classes above as defaults.
    mininet_iperf.install()
