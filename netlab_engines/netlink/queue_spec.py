"""The room and the options that a link requests for its queue."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netlab.base.headers import FRAME_BYTES, KERNEL_QUEUE_PACKETS


@dataclass(frozen=True)
class QueueSpec:
    """The queue that a link requests: the rate behind it, its room, and the options of its discipline."""

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
        """The capacity of the queue in packets that the link requests, or KERNEL_QUEUE_PACKETS if it requests none in
        packets.
        """
        return KERNEL_QUEUE_PACKETS if self.queue_packets is None else self.queue_packets

    @property
    def bytes(self) -> int:
        """The capacity of the queue in bytes: the number that the link requests, or, if it requests none in bytes, a
        full frame for each packet of `packets`.
        """
        return self.packets * FRAME_BYTES if self.queue_bytes is None else self.queue_bytes
