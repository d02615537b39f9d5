"""A shared medium between two nodes: two TAP devices instead of a veth pair, and a thread that forwards their frames.

The thread reads the frames that the kernel sends to the TAP at one end, delays each while the medium is busy with it
(`netlab_engines.agent.dcf` computes when and how long), and writes it to the TAP at the other end. The thread uses the
guest's clock, so in virtual time its work costs no network time.
"""

import ctypes
import fcntl
import os
import select
import struct
import threading
import time
from dataclasses import dataclass
from typing import cast

from netlab.base.errors import RunError
from netlab.base.headers import KERNEL_QUEUE_PACKETS
from netlab.base.units import NS_PER_S
from netlab.network import media
from netlab.plan import PlannedHop, StationTotals
from netlab_engines.agent.dcf import Dcf
from netlab_engines.agent.namespaces import enter_namespace
from netlab_engines.agent.sampling import QdiscSample
from netlab_engines.libc import libc

TUN = "/dev/net/tun"
TUNSETIFF = 0x400454CA
IFF_TAP = 0x0002
IFF_NO_PI = 0x1000
MAX_FRAME_BYTES = 1 << 16
TIMER_ABSTIME = 1
COUNTER_FIELDS = ("frames", "collisions", "errors", "given_up", "drops")
RING_FRAMES = 20_000
"""The size of the TAP's own queue in frames: it must not drop a window that a host sends before the thread reads it."""


def open_tap(interface: str, pid: int) -> int:
    """Create a TAP device with the name `interface` in the network namespace of the process with the id `pid`, and
    return its file descriptor, which does not block: a read returns a frame that the kernel sends into the device.
    Raises RunError if the kernel cannot create one.
    """
    with enter_namespace(pid):
        try:
            file = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", interface.encode(), IFF_TAP | IFF_NO_PI))
        except OSError as error:
            raise RunError(
                f"The medium of {interface} needs a TAP device, and the kernel cannot create one ({error.strerror}); "
                "use netlab's own kernel, which has CONFIG_TUN."
            ) from None
    return file


@dataclass(frozen=True)
class MediumEnd:
    """An end of a shared medium: its interface and its queue."""

    interface: str
    file: int
    """The file descriptor of its TAP."""
    capacity_frames: int
    """The capacity of its queue in frames."""


class Medium:
    """The shared medium of one link: two TAPs, and a thread that forwards frames between them as 802.11 would."""

    def __init__(self, forward: PlannedHop, backward: PlannedHop, files: dict[str, int], seed: int) -> None:
        """Set up the medium of a link; nothing is forwarded before `start`. `forward` and `backward` are the link's two
        directions (their shapes have the medium and the capacity of the sender's queue in packets, by default
        KERNEL_QUEUE_PACKETS), `files` has the file descriptor of the TAP by the name of each interface, and `seed`
        determines the random draws.
        """
        self._ends = [
            MediumEnd(hop["interface"], files[hop["interface"]], hop["shape"]["queue_packets"] or KERNEL_QUEUE_PACKETS)
            for hop in (forward, backward)
        ]
        self._number = {end.file: number for number, end in enumerate(self._ends)}
        self._poll = select.poll()
        for end in self._ends:
            self._poll.register(end.file, select.POLLIN)
        shapes = [hop["shape"] for hop in (forward, backward)]
        wifis = [media.medium(shape["medium"] or "", shape["medium_options"]) for shape in shapes]
        self._dcf = Dcf(
            wifis, [end.capacity_frames for end in self._ends], f"{seed} {forward['interface']}", time.monotonic_ns()
        )

    def start(self) -> None:
        """Start the thread that forwards frames between the two ends and return at once; the thread ends with the
        process.
        """
        threading.Thread(target=self._run, name="A shared medium", daemon=True).start()

    def _run(self) -> None:
        """Forward frames for ever: wait for the next transmission, let its time pass and deliver its frame, if it has
        any, to the TAP at the other end. Runs in a thread.
        """
        while True:
            start_ns = self._dcf.next_start_ns()
            if self._arrives_before(start_ns):
                continue
            sent = self._dcf.begin()
            _sleep_until(sent.arrival_ns)
            # Frames that arrived meanwhile met a busy medium, and the frame in flight was still in its queue.
            self._collect(sent.arrival_ns)
            if sent.winner is not None:
                frame = self._dcf.take(sent.winner)
                os.write(self._ends[1 - sent.winner].file, frame)

    def _arrives_before(self, start_ns: int | None) -> bool:
        """Wait for frames of those hosts whose frame could still start before `start_ns`, the start of the next
        transmission in ns on the monotonic clock (None: no frame waits, so wait without limit). Add all frames that
        arrived to the queues and return True, or return False if none came before `start_ns` or no host could be first.
        """
        first = self._dcf.could_be_first(start_ns)
        if not first:
            return False
        files = [self._ends[number].file for number in first]
        if start_ns is None:
            select.select(files, [], [])
        else:
            left_ns = start_ns - time.monotonic_ns()
            if left_ns <= 0 or not select.select(files, [], [], left_ns / NS_PER_S)[0]:
                return False
        self._collect(time.monotonic_ns())
        return True

    def _collect(self, now_ns: int) -> None:
        """Read all frames that the kernel has sent to the two TAPs by now, and add them to their stations' queues as
        frames that arrive at `now_ns`, in ns on the monotonic clock.
        """
        # Poll first: a read of an empty TAP takes 1 us of the guest's time, a poll takes none.
        while ready := self._poll.poll(0):
            for file, _events in ready:
                self._dcf.arrive(self._number[file], os.read(file, MAX_FRAME_BYTES), now_ns)

    def read(self) -> dict[str, QdiscSample]:
        """Return the present backlog of the queue at each end and its numbers of bytes, packets and drops since the
        start, as a Qdisc of the kind "fifo" by the name of the end's interface; as `QueueReader.read` does for other
        links.
        """
        return {
            end.interface: QdiscSample(
                kind="fifo",
                sent_bytes=station.sent_bytes,
                sent_packets=station.frames,
                backlog_packets=len(station.waiting),
                backlog_bytes=station.waiting_bytes,
                drops=station.drops,
            )
            for end, station in zip(self._ends, self._dcf.stations, strict=True)
        }

    def totals(self) -> list[StationTotals]:
        """Return one row (a dict) for each end, the sender of the first direction first: "interface" (its name) and the
        numbers in COUNTER_FIELDS since the start: "frames" (delivered), "collisions", "errors", "given_up" and "drops".
        """
        return [
            cast(
                "StationTotals",
                {"interface": end.interface} | {name: getattr(station, name) for name in COUNTER_FIELDS},
            )
            for end, station in zip(self._ends, self._dcf.stations, strict=True)
        ]


class _Timespec(ctypes.Structure):
    """The kernel's `struct timespec`: a time as whole seconds and the ns above them."""

    _fields_ = (("s", ctypes.c_long), ("ns", ctypes.c_long))


def _sleep_until(at_ns: int) -> None:
    """Sleep until the time `at_ns` of the monotonic clock in ns; return at once if it has passed."""
    # An absolute time, because reading the clock is a system call in the guest.
    libc.clock_nanosleep(time.CLOCK_MONOTONIC, TIMER_ABSTIME, ctypes.byref(_Timespec(*divmod(at_ns, NS_PER_S))), None)
