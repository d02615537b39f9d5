"""Linux bridges in the place of Open vSwitch, for Mininet's scripts.

Open vSwitch is another package, with a database and a daemon of its own. Where a controller lets switches learn, as Mininet's
own does, a Linux bridge forwards the same; what an OpenFlow program decides, it does not.
"""

from __future__ import annotations

from typing import Any

import mininet.node
from mininet.log import warn
from mininet.nodelib import LinuxBridge

NOTE = "*** netlab: Linux bridges stand in for OpenFlow switches; they learn by themselves and ask no controller\n"
_told: list[str] = []


class Bridge(LinuxBridge):  # type: ignore[misc]
    """What a script gets when it asks for an OpenFlow switch."""

    def __init__(
        self,
        name: str,
        failMode: str = "secure",  # noqa: N803 (Mininet's names)
        datapath: str = "kernel",
        inband: bool = False,
        protocols: Any = None,
        reconnectms: int = 1000,
        stp: bool = False,
        batch: bool = False,
        **params: Any,
    ) -> None:
        for word in ("dpopts", "verbose"):
            params.pop(word, None)
        super().__init__(name, stp=stp, **params)

    def start(self, controllers: Any) -> None:
        """Start the bridge."""
        if not _told:
            _told.append(NOTE)
            warn(NOTE)
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


def _nothing(*_words: Any) -> None:
    """A controller that nobody asks needs no program."""


def stand_in_for_open_vswitch() -> None:
    """Let every script that asks for OpenFlow's switches get bridges; to be called before it imports anything of Mininet's."""
    for name in ("OVSSwitch", "OVSKernelSwitch", "OVSBridge", "UserSwitch", "IVSSwitch"):
        setattr(mininet.node, name, Bridge)
    controller = mininet.node.Controller
    controller.start = _nothing
    controller.checkListening = _nothing
    controller.isAvailable = classmethod(lambda _cls: True)
    controller.stop = lambda self, *_words, **_more: super(controller, self).stop(deleteIntfs=True)
