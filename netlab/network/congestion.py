"""TCP's congestion controls: a table with a row for each that a flow may choose, read by the host and by the guest. To
add one, write its row; if Linux lacks it (as with Tahoe), add its source to `netlab_kernel/recipe`, else if the pocket
kernel lacks it, a line to `pocket.config` there.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class CongestionControl:
    """A congestion control that a TCP flow may choose."""

    name: str
    """The name in Linux and in a flow's `congestion`."""
    description: str
    """The signal that it reacts to, in a sentence."""
    source: str
    """The paper or RFC that describes it."""
    needs_ecn: bool = False
    """True if it needs ECN marks: without a queue that marks, it behaves like Reno."""

    @property
    def symbol(self) -> str:
        """The symbol in the kernel's configuration that includes it, such as CONFIG_TCP_CONG_CUBIC."""
        return f"CONFIG_TCP_CONG_{self.name.upper()}" if self.module else "CONFIG_INET"

    @property
    def module(self) -> str:
        """The name of the kernel module; "" for Reno, which every kernel has."""
        return "" if self.name == "reno" else f"tcp_{self.name}"


CONGESTION_CONTROLS: dict[str, CongestionControl] = {
    row.name: row
    for row in (
        CongestionControl(
            "reno",
            "AIMD: one segment more per RTT, half the window at a loss; fast retransmit and fast recovery.",
            "RFC 5681",
        ),
        CongestionControl(
            "cubic",
            "The window grows with the cube of the time since the last loss, independent of the RTT; Linux's own choice.",
            "RFC 9438",
        ),
        CongestionControl(
            "bbr",
            "Paces at the rate that it measures the path to deliver, and keeps little more than one BDP in flight.",
            "Cardwell et al., ACM Queue 14(5), 2016",
        ),
        CongestionControl(
            "dctcp",
            "Cuts the window by the share of its packets that were marked, so that a shallow queue is enough.",
            "RFC 8257",
            needs_ecn=True,
        ),
        CongestionControl(
            "vegas",
            "Holds back when the RTT grows: it keeps a few packets in the queue and yields to those that fill it.",
            "Brakmo, O'Malley and Peterson, ACM SIGCOMM 1994",
        ),
        CongestionControl(
            "westwood",
            "After a loss, goes on with the window that the measured rate of acknowledgements fills.",
            "Mascolo et al., ACM MobiCom 2001",
        ),
        CongestionControl(
            "htcp",
            "The longer ago the last loss, the faster the window grows; for paths with a large BDP.",
            "Leith and Shorten, PFLDnet 2004",
        ),
        CongestionControl(
            "tahoe",
            "Fast retransmit, but no fast recovery: after any loss it starts again with slow start.",
            "Jacobson, ACM SIGCOMM 1988",
        ),
    )
}
"""The congestion controls by name; the first is in every kernel."""

NETLAB_CONTROLS = frozenset({"tahoe"})
"""Congestion controls that only netlab's kernels have."""
