"""The room and the options that a link requests for its queue."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netlab.base.headers import FRAME_BYTES, KERNEL_QUEUE_PACKETS
from netlab.base.units import ms_to_us
from netlab.netlink import wire
from netlab.netlink.qdiscs import Option, number


@dataclass(frozen=True)
class QueueSpec:
    """The queue that a link requests."""

    rate_mbps: float
    """The rate in Mbit/s behind the queue."""
    queue_packets: int | None = None
    queue_bytes: int | None = None
    """The requested room; if both are None it is `KERNEL_QUEUE_PACKETS`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The link's `aqm_options`."""
    offload: bool = False
    """True if segmentation offload is on, so that one packet in the queue may be 45 frames."""

    @property
    def packets(self) -> int:
        """The room in packets."""
        return KERNEL_QUEUE_PACKETS if self.queue_packets is None else self.queue_packets

    @property
    def bytes(self) -> int:
        """The room in bytes, a full frame for each packet."""
        return self.packets * FRAME_BYTES if self.queue_bytes is None else self.queue_bytes

    def time(self, word: str, kind: int, option: str) -> Option | None:
        """Return netlink option `word` of attribute `kind` in us from the link's option in ms; None if that is not set."""
        return number(word, kind, ms_to_us(self.options[option]), "us") if option in self.options else None

    def count(self, word: str, kind: int, option: str) -> Option | None:
        """Return netlink option `word` of attribute `kind` from the link's option, a whole number; None if that is not set."""
        return number(word, kind, self.options[option]) if option in self.options else None

    def ecn(self, kind: int) -> Option | None:
        """Return the ECN option of attribute `kind` if the link asks for marks."""
        return Option("ecn", wire.u32(kind, 1)) if self.options.get("ecn") else None
