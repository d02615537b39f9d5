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

    wifi: Wifi
    """The settings of the medium, with the rate of this station's data frames."""
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
    wifis : sequence of Wifi
        The settings of the medium, one for each station; they differ in `rate_mbps` only.
    capacities : sequence of int
        The capacity of each station's queue in frames, the one in service included.
    seed : str
        The seed of the random backoffs and losses.
    now_ns : int
        The present time in ns.
    """

    def __init__(self, wifis: Sequence[Wifi], capacities: Sequence[int], seed: str, now_ns: int) -> None:
        """Start at the time `now_ns`, in ns on the caller's clock, with an idle medium. Each entry of `wifis` and of
        `capacities` adds a station without frames, with these settings and with so many frames in its queue at most; the
        string `seed` determines backoffs and losses.
        """
        self.stations = [Station(*both) for both in zip(wifis, capacities, strict=True)]
        # A generator of its own, because draws from the guest's generator would change the kernel's draws.
        self._random = random.Random(seed)  # noqa: S311 (it must be seeded)
        self._idle_ns = now_ns
        self._slot_ns = wifis[0].slot_us * NS_PER_US
        self._difs_ns = wifis[0].difs_us * NS_PER_US
        self.collision_us = 0

    def arrive(self, number: int, frame: bytes, now_ns: int) -> None:
        """Add an Ethernet frame, which the station's host sends at `now_ns` (ns on the caller's clock), to the queue of
        the station with this number (from 0), or count a drop if the queue is full. A station whose queue was empty and
        whose backoff is over draws a new backoff if the medium is busy.
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
        """Return a random number of slots, uniform from 0 to the station's present contention window, both included."""
        return self._random.randint(0, station.window)

    def _start_ns(self, station: Station) -> int:
        """Return the time at which the station starts to send the first frame of its queue if no other station starts
        before, in ns on the caller's clock.
        """
        return max(self._idle_ns + self._difs_ns + station.slots * self._slot_ns, station.ready_ns)

    def next_start_ns(self) -> int | None:
        """Return the time in ns on the caller's clock at which the next transmission starts unless another frame
        arrives before; None if no frame waits at any station.
        """
        return min((self._start_ns(station) for station in self.stations if station.waiting), default=None)

    def could_be_first(self, start_ns: int | None) -> list[int]:
        """Return the numbers (from 0) of those stations with an empty queue whose frame, if it arrived now, could start
        before the transmission at `start_ns` (ns on the caller's clock) or in the same slot. With None, no transmission
        is planned, and the result has all stations.
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
        """Start the transmission that is due next, a frame or several that collide, and return it; the other stations'
        backoffs are counted down, and collisions and losses are counted. A frame that collides or is lost is tried
        again with a new backoff, or given up after MAX_ATTEMPTS tries; one that arrives stays in its queue until
        `take`. A frame must wait at one station at least.
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
            took_us = max(self.stations[n].wifi.collision_us(size) for n, size in sizes.items())
            self.collision_us += took_us
            for n in senders:
                self.stations[n].collisions += 1
                self._note_failure(self.stations[n])
            self._idle_ns = start_ns + took_us * NS_PER_US
            return Transmission(None, self._idle_ns, self._idle_ns)
        (winner,) = senders
        size, wifi = sizes[winner], self.stations[winner].wifi
        arrival_ns = start_ns + (wifi.protection_us(size) + wifi.data_us(size)) * NS_PER_US
        self._idle_ns = arrival_ns + (SIFS_US + wifi.ack_us) * NS_PER_US
        if wifi.error_rate and self._random.random() < wifi.error_rate:
            self.stations[winner].errors += 1
            self._note_failure(self.stations[winner])
            return Transmission(None, self._idle_ns, self._idle_ns)
        return Transmission(winner, arrival_ns, self._idle_ns)

    def take(self, number: int) -> bytes:
        """Remove the frame that the station with this number (from 0) has just delivered from its queue, count it and
        its bytes, and return it; the station draws a new backoff. To be called after `begin` returned the number as the
        winner.
        """
        station = self.stations[number]
        frame = self._remove_first(station)
        station.frames += 1
        station.sent_bytes += len(frame)
        return frame

    def _note_failure(self, station: Station) -> None:
        """Note that the first frame of the station's queue collided or was lost: double the contention window and draw
        a new backoff, or remove the frame and count it as given up after MAX_ATTEMPTS tries.
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
        """Remove the first frame from the station's queue and return it; reset the contention window and the count of
        tries, and draw a new backoff.
        """
        frame = station.waiting.popleft()
        station.waiting_bytes -= len(frame)
        station.window = MIN_WINDOW
        station.attempts = 0
        station.slots = self._draw(station)
        station.ready_ns = 0
        return frame
