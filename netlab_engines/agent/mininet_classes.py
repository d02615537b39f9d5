"""Replacements for classes of Mininet that need more than a guest has.

Open vSwitch is a separate package with a database and a daemon. A Linux bridge forwards in the same way as a switch
whose controller lets it learn, such as Mininet's default controller; it cannot follow an OpenFlow program. Limits on
CPU time have no effect, because computing takes no virtual time.
"""

import os
from typing import Any

import mininet.clean
import mininet.node
import mininet.nodelib
from mininet.log import warn
from mininet.nodelib import LinuxBridge

from netlab_engines.agent import mininet_iperf, mininet_loops, mininet_names, mininet_segments, mininet_starts

BRIDGES = (
    "*** netlab: Open vSwitch is not available. Linux bridges replace OpenFlow switches; they learn addresses by themselves "
    "and use no controller\n"
)
NO_LIMITS = "*** netlab: limits on CPU time are ignored: in a pocket kernel computing takes no virtual time\n"
NO_INTERNET_TEXT = (
    "*** netlab: the pocket kernel has no connection to the machine's network or the Internet. Hosts can reach the NAT node "
    "and the other nodes of this script that are connected to it\n"
)
INTERFACES = "/etc/network/interfaces"
_given_warnings: set[str] = set()


def _warn_once(note: str) -> None:
    """Print the text `note` as a warning in Mininet's log, unless this process has printed the same text before."""
    if note not in _given_warnings:
        _given_warnings.add(note)
        warn(note)


class Bridge(LinuxBridge):  # type: ignore[misc]
    """A learning Linux bridge in place of Mininet's OpenFlow switches; it uses no controller."""

    def __init__(self, name: str, failMode: str = "secure", **params: Any) -> None:  # noqa: N803 (Mininet's names)
        """Make the switch `name`, a Linux bridge, as Mininet does with `params`; `failMode` and other options that only
        OpenFlow switches have are accepted and ignored.
        """
        for word in ("datapath", "inband", "protocols", "reconnectms", "batch", "dpopts", "verbose"):
            params.pop(word, None)
        super().__init__(name, **params)

    def start(self, controllers: Any) -> None:
        """Start the bridge as Mininet does, and warn once in Mininet's log that it replaces an OpenFlow switch;
        `controllers` are not used.
        """
        _warn_once(BRIDGES)
        super().start(controllers)

    def attach(self, intf: Any) -> None:
        """Add the interface `intf` (its name or Mininet's object) to the bridge's ports and switch it on."""
        self.cmd("brctl addif", self, intf)
        self.cmd("ifconfig", intf, "up")

    def detach(self, intf: Any) -> None:
        """Remove the interface `intf` (its name or Mininet's object) from the bridge's ports."""
        self.cmd("brctl delif", self, intf)

    def dpctl(self, *words: Any) -> str:
        """Return a line saying that the bridge has no flow tables and that the command `words` is ignored; nothing is
        run.
        """
        return f"{self.name} is a Linux bridge and has no flow tables: {' '.join(map(str, words))} is ignored\n"

    def vsctl(self, *words: Any) -> str:
        """Return a line saying that the bridge has no flow tables and that the words of the command of `ovs-vsctl` are
        ignored; nothing is run.
        """
        return self.dpctl(*words)

    @classmethod
    def isOldOVS(cls) -> bool:  # noqa: N802 (Mininet's name)
        """Return False, so that Mininet does not look for the version of Open vSwitch."""
        return False


class UnlimitedHost(mininet.node.Host):  # type: ignore[misc]
    """A host without limits on CPU time, in place of `CPULimitedHost`."""

    def __init__(self, name: str, sched: str = "cfs", **params: Any) -> None:
        """Make the host `name` as Mininet does with `params`, and warn once that limits on CPU time are ignored,
        whatever their scheduler `sched` is.
        """
        _warn_once(NO_LIMITS)
        super().__init__(name, **params)

    def setCPUFrac(self, f: float, sched: str | None = None) -> str:  # noqa: N802 (Mininet's names)
        """Return "" and set no limit; `f` (the share of CPU time) and `sched` (the scheduler) are ignored."""
        return ""

    def setCPUs(self, cores: Any, mems: int = 0) -> None:  # noqa: N802
        """Do nothing; the CPUs `cores` and memory nodes `mems` to which Mininet would bind the host are ignored."""

    def cgroupSet(self, param: str, value: Any, resource: str = "cpu") -> str:  # noqa: N802
        """Return "" and set nothing; `param`, `value` and `resource` (of Linux's control groups) are ignored."""
        return ""

    def cgroupGet(self, param: str, resource: str = "cpu") -> str:  # noqa: N802
        """Return "", because no `param` of a `resource` (of Linux's control groups) is set."""
        return ""

    def cgroupDel(self) -> bool:  # noqa: N802
        """Return True, because the host has no control group that could be left behind."""
        return True

    def chrt(self) -> str:
        """Return "" and set no scheduler."""
        return ""

    def config(self, cpu: float = -1, cores: Any = None, **params: Any) -> Any:
        """Configure the host with `params` as Mininet does and return Mininet's result; the limits `cpu` (a share of
        CPU time) and `cores` (CPUs) are ignored.
        """
        return super().config(**params)


def _adapt_nat() -> None:
    """Change Mininet's class `NAT`: a node warns once if it is to reach outside networks, which a guest has not, and
    its configuration first creates the file /etc/network/interfaces, in which Mininet enters the node's interface.
    """
    # Methods of NAT name their class, so a subclass cannot replace it.
    nat = mininet.nodelib.NAT
    plain_init, plain_config = nat.__init__, nat.config

    def init(self: Any, name: str, *words: Any, **params: Any) -> None:
        """Make the NAT node `name` (`self`) with Mininet's arguments, and warn once if it is to use the machine's own
        interfaces (`inNamespace=False`).
        """
        if not params.get("inNamespace", True):
            # In Mininet this option means that the node has the machine's own interfaces.
            _warn_once(NO_INTERNET_TEXT)
        plain_init(self, name, *words, **params)

    def config(self: Any, **params: Any) -> Any:
        """Create the file /etc/network/interfaces if it is missing, then configure the NAT node `self` with `params` as
        Mininet does and return Mininet's result.
        """
        os.makedirs(os.path.dirname(INTERFACES), exist_ok=True)
        with open(INTERFACES, "a"):
            pass
        return plain_config(self, **params)

    nat.__init__, nat.config = init, config


def _do_nothing(*_words: Any) -> None:
    """Do nothing with any arguments, in place of Mininet's clean-up and of methods that start and check controllers:
    bridges need no controller, and a fresh guest needs no clean-up.
    """


def install() -> None:
    """Install all of netlab's replacements of Mininet's classes, methods and functions in this process; to be called
    before a script imports modules of Mininet.
    """
    mininet_names.install()
    mininet_segments.install()
    mininet_starts.install()
    mininet.node.CPULimitedHost = UnlimitedHost
    _adapt_nat()
    # A fresh guest has nothing to clean up, and a page of output about it would hide the error before it.
    mininet.clean.cleanup = mininet.clean.Cleanup.cleanup = _do_nothing
    for name in ("OVSSwitch", "OVSKernelSwitch", "OVSBridge", "UserSwitch", "IVSSwitch"):
        setattr(mininet.node, name, Bridge)
    controller = mininet.node.Controller
    controller.start = _do_nothing
    controller.checkListening = _do_nothing
    controller.isAvailable = classmethod(lambda _cls: True)
    controller.stop = lambda self, *_words, **_more: super(controller, self).stop(deleteIntfs=True)
    # This call imports mininet.net, whose defaults are the classes set above.
    mininet_iperf.install()
    mininet_loops.install()
