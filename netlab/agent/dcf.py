"""Who may send next on a shared half-duplex medium, and how long it takes: the distributed coordination function of 802.11.

Nothing here sleeps, reads or writes: times come in and go out, in ns of one clock.

Each station draws a backoff in slots after every frame that it sent (also when nothing follows), and counts it down while
the medium has been idle for DIFS. A frame that comes to a station whose backoff is over goes at once on an idle medium; on a
busy one its station draws anew. Stations whose backoffs end in the same slot collide.
"""

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from netlab.base.headers import ETHERNET_HEADER_BYTES
from netlab.base.units import NS_PER_US
from netlab.network.media import LARGEST_WINDOW, MOST_ATTEMPTS, SIFS_US, SMALLEST_WINDOW, Wifi


@dataclass
class Station:
    """One end of the medium: its queue, its backoff, and what it counted."""

    room: int
    waiting: deque[bytes] = field(default_factory=deque)
    waiting_bytes: int = 0
    slots: int = 0
    window: int = SMALLEST_WINDOW
    attempts: int = 0
    ready_ns: int = 0
    frames: int = 0
    sent_bytes: int = 0
    collisions: int = 0
    errors: int = 0
    given_up: int = 0
    drops: int = 0


@dataclass(frozen=True)
class Transmission:
    """What happens on the medium from one start until it is idle again.

    `winner` is the station whose frame gets through, None when nobody's does; `heard_ns` is when the other end has it.
    """

    winner: int | None
    heard_ns: int
    idle_ns: int


class Dcf:
    """Stations that share a medium; `rooms` are the frames that each one's queue holds, the one in service
    included.
    """

    def __init__(self, wifi: Wifi, rooms: Sequence[int], seed: str, now_ns: int) -> None:
        self.wifi = wifi
        self.stations = [Station(room) for room in rooms]
        # Not the guest's own generator, whose draws belong to the kernel: a medium moves none of them.
        self._random = random.Random(seed)  # noqa: S311 (a seeded draw is what is wanted)
        self._idle_ns = now_ns
        self._slot_ns = wifi.slot_us * NS_PER_US
        self._difs_ns = wifi.difs_us * NS_PER_US
        self.collision_us = 0

    def arrive(self, number: int, frame: bytes, now_ns: int) -> None:
        """A frame comes to a station from its host; a full queue drops it."""
        station = self.stations[number]
        if len(station.waiting) >= station.room:
            station.drops += 1
            return
        if not station.waiting:
            station.ready_ns = now_ns
            if now_ns < self._idle_ns + self._difs_ns and station.slots == 0:
                # It finds the medium busy.
                station.slots = self._draw(station)
        station.waiting.append(frame)
        station.waiting_bytes += len(frame)

    def _draw(self, station: Station) -> int:
        return self._random.randint(0, station.window)

    def _start_ns(self, station: Station) -> int:
        return max(self._idle_ns + self._difs_ns + station.slots * self._slot_ns, station.ready_ns)

    def next_start_ns(self) -> int | None:
        """When the next frame starts if none comes before; None while nothing waits."""
        return min((self._start_ns(station) for station in self.stations if station.waiting), default=None)

    def could_be_first(self, start_ns: int | None) -> list[int]:
        """Stations without a frame whose next one, were it to come now, could start by `start_ns`."""
        if start_ns is None:
            return list(range(len(self.stations)))
        return [
            n
            for n, station in enumerate(self.stations)
            if not station.waiting
            and self._idle_ns + self._difs_ns + station.slots * self._slot_ns < start_ns + self._slot_ns
        ]

    def begin(self) -> Transmission:
        """The frame, or the colliding frames, whose backoff ends next."""
        starts = {n: self._start_ns(station) for n, station in enumerate(self.stations) if station.waiting}
        start_ns = min(starts.values())
        senders = [n for n, at_ns in starts.items() if at_ns < start_ns + self._slot_ns]
        passed = max(0, (start_ns - self._idle_ns - self._difs_ns) // self._slot_ns)
        for n, station in enumerate(self.stations):
            if n not in senders:
                station.slots = max(0, station.slots - passed)
        sizes = {n: len(self.stations[n].waiting[0]) - ETHERNET_HEADER_BYTES for n in senders}
        if len(senders) > 1:
            took_us = max(self.wifi.collision_us(size) for size in sizes.values())
            self.collision_us += took_us
            for n in senders:
                self.stations[n].collisions += 1
                self._failed(self.stations[n])
            self._idle_ns = start_ns + took_us * NS_PER_US
            return Transmission(None, self._idle_ns, self._idle_ns)
        (winner,) = senders
        size = sizes[winner]
        heard_ns = start_ns + (self.wifi.protection_us(size) + self.wifi.data_us(size)) * NS_PER_US
        self._idle_ns = heard_ns + (SIFS_US + self.wifi.ack_us) * NS_PER_US
        if self.wifi.error_rate and self._random.random() < self.wifi.error_rate:
            self.stations[winner].errors += 1
            self._failed(self.stations[winner])
            return Transmission(None, self._idle_ns, self._idle_ns)
        return Transmission(winner, heard_ns, self._idle_ns)

    def take(self, number: int) -> bytes:
        """The frame that this station has just got through; its next one follows after a backoff."""
        station = self.stations[number]
        frame = self._leave(station)
        station.frames += 1
        station.sent_bytes += len(frame)
        return frame

    def _failed(self, station: Station) -> None:
        station.attempts += 1
        if station.attempts >= MOST_ATTEMPTS:
            station.given_up += 1
            self._leave(station)
            return
        station.window = min(2 * station.window + 1, LARGEST_WINDOW)
        station.slots = self._draw(station)
        station.ready_ns = 0

    def _leave(self, station: Station) -> bytes:
        frame = station.waiting.popleft()
        station.waiting_bytes -= len(frame)
        station.window = SMALLEST_WINDOW
        station.attempts = 0
        station.slots = self._draw(station)
        station.ready_ns = 0
        return frame
