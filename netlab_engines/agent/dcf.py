"""The distributed coordination function of 802.11: which station sends next on a shared half-duplex medium, and for how
long.

Functions here do not sleep, read or write. Callers pass times and get times, in ns of one clock.

Each station draws a backoff in slots after every frame that it sent (even if no frame follows), and counts it down
while the medium has been idle for DIFS. If a frame arrives at a station whose backoff is over, it starts at once on an
idle medium; on a busy one the station draws a new backoff. Stations whose backoffs end in the same slot collide.
"""

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from netlab.base.headers import ETHERNET_HEADER_BYTES
from netlab.base.units import NS_PER_US
from netlab.network.media import MAX_ATTEMPTS, MAX_WINDOW, MIN_WINDOW, SIFS_US, Wifi


@dataclass
class Station:
    """The state of one end of the medium: its queue, its backoff, its counters since the start, and `ready_ns`, the
    earliest start of its next frame.
    """

    capacity_frames: int
    """The capacity of the queue in frames, the one in service included."""
    waiting: deque[bytes] = field(default_factory=deque)
    waiting_bytes: int = 0
    slots: int = 0
    window: int = MIN_WINDOW
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
    """A frame, or a collision of frames, that occupies the medium; all times are in ns on the clock of the caller."""

    winner: int | None
    """The station whose frame arrives, or None if no frame does."""
    arrival_ns: int
    """The time at which the other end has the frame."""
    idle_ns: int
    """The time from which the medium is idle again."""


class Dcf:
    """The stations of one shared half-duplex medium, known by their numbers from 0, and the time at which the medium is
    idle again.

    Parameters
    ----------
    wifi : Wifi
        The settings of the medium.
    rooms : sequence of int
        The capacity of each station's queue in frames, the one in service included.
    seed : str
        The seed of the random backoffs and losses.
    now_ns : int
        The present time in ns.
    """

    def __init__(self, wifi: Wifi, capacities: Sequence[int], seed: str, now_ns: int) -> None:
        """Start with an idle medium with the settings `wifi` at `now_ns`, and a station without frames for each entry
        of `capacities`, which is the capacity of its queue in frames; `seed` determines backoffs and losses.
        """
        self.wifi = wifi
        self.stations = [Station(capacity_frames) for capacity_frames in capacities]
        # A generator of its own, because draws from the guest's generator would change the kernel's draws.
        self._random = random.Random(seed)  # noqa: S311 (it must be seeded)
        self._idle_ns = now_ns
        self._slot_ns = wifi.slot_us * NS_PER_US
        self._difs_ns = wifi.difs_us * NS_PER_US
        self.collision_us = 0

    def arrive(self, number: int, frame: bytes, now_ns: int) -> None:
        """Add a frame that its host sends at `now_ns` to the queue of the station `number`, or count a drop if the
        queue is full; a station that was empty may have to draw a backoff.
        """
        station = self.stations[number]
        if len(station.waiting) >= station.capacity_frames:
            station.drops += 1
            return
        if not station.waiting:
            station.ready_ns = now_ns
            if now_ns < self._idle_ns + self._difs_ns and station.slots == 0:
                # The medium is busy.
                station.slots = self._draw(station)
        station.waiting.append(frame)
        station.waiting_bytes += len(frame)

    def _draw(self, station: Station) -> int:
        """Return a random number of slots from 0 to the station's present window, both included."""
        return self._random.randint(0, station.window)

    def _start_ns(self, station: Station) -> int:
        """Return the time in ns at which the first frame of the station's queue starts if no other starts before."""
        return max(self._idle_ns + self._difs_ns + station.slots * self._slot_ns, station.ready_ns)

    def next_start_ns(self) -> int | None:
        """Return the time in ns at which the next transmission starts unless another frame arrives before; None if no
        frame waits at any station.
        """
        return min((self._start_ns(station) for station in self.stations if station.waiting), default=None)

    def could_be_first(self, start_ns: int | None) -> list[int]:
        """Return the numbers of the stations with an empty queue where a frame that arrives now could start before, or
        in the same slot as, the transmission at `start_ns`; None means that none is planned, and gives all stations.
        """
        if start_ns is None:
            return list(range(len(self.stations)))
        return [
            n
            for n, station in enumerate(self.stations)
            if not station.waiting
            and self._idle_ns + self._difs_ns + station.slots * self._slot_ns < start_ns + self._slot_ns
        ]

    def begin(self) -> Transmission:
        """Start the transmission, a frame or colliding frames, whose backoff ends next, count down the backoffs of the
        other stations, and return it. At least one frame must wait; frames that failed too often are dropped.
        """
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
                self._note_failure(self.stations[n])
            self._idle_ns = start_ns + took_us * NS_PER_US
            return Transmission(None, self._idle_ns, self._idle_ns)
        (winner,) = senders
        size = sizes[winner]
        arrival_ns = start_ns + (self.wifi.protection_us(size) + self.wifi.data_us(size)) * NS_PER_US
        self._idle_ns = arrival_ns + (SIFS_US + self.wifi.ack_us) * NS_PER_US
        if self.wifi.error_rate and self._random.random() < self.wifi.error_rate:
            self.stations[winner].errors += 1
            self._note_failure(self.stations[winner])
            return Transmission(None, self._idle_ns, self._idle_ns)
        return Transmission(winner, arrival_ns, self._idle_ns)

    def take(self, number: int) -> bytes:
        """Remove the frame that the station `number` has just delivered from its queue, count it and return it; the
        station draws a new backoff.
        """
        station = self.stations[number]
        frame = self._remove_first(station)
        station.frames += 1
        station.sent_bytes += len(frame)
        return frame

    def _note_failure(self, station: Station) -> None:
        """Note that the station's first frame failed: double its window and draw a new backoff, or give the frame up
        after MAX_ATTEMPTS.
        """
        station.attempts += 1
        if station.attempts >= MAX_ATTEMPTS:
            station.given_up += 1
            self._remove_first(station)
            return
        station.window = min(2 * station.window + 1, MAX_WINDOW)
        station.slots = self._draw(station)
        station.ready_ns = 0

    def _remove_first(self, station: Station) -> bytes:
        """Remove the station's first frame from its queue and return it; the station's window is the smallest again,
        and it draws a new backoff.
        """
        frame = station.waiting.popleft()
        station.waiting_bytes -= len(frame)
        station.window = MIN_WINDOW
        station.attempts = 0
        station.slots = self._draw(station)
        station.ready_ns = 0
        return frame
