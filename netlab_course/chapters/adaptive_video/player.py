"""A video player with a buffer, which asks a rule for the quality of each chunk. It computes, and sends nothing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netlab.base.errors import NetlabError
from netlab.base.units import BITS_PER_BYTE
from netlab.base.values import short_repr

LADDER_MBPS = (0.6, 1.2, 2.4, 4.8, 9.6)
"""The rates in Mbit/s at which the video is encoded; a quality is an index in this list."""
CHUNK_S = 4.0
LIMIT_S = 20.0
STALL_COST_MBPS = 9.6
"""The cost of a second of stall in the quality of experience, in Mbit/s per chunk: the highest rate."""
BITS_PER_MBIT = 1e6
GRID_S = 0.01
"""Transfers of a live network start at multiples of this time."""


@dataclass(frozen=True)
class Chunk:
    """A chunk of a video that has arrived.

    Attributes
    ----------
    quality : int
        Its quality, from 0.
    asked_s, arrived_s : float
        The network times in s at which it was asked for, and at which its last byte arrived.
    buffer_s : float
        The seconds of video in the buffer when it was asked for.
    stall_s : float
        The time in s for which the picture stood still before it arrived; 0 for the first chunk, before which nothing plays.
    throughput_mbps : float
        Its bytes over the time from the request to the last byte, in Mbit/s.
    """

    quality: int
    asked_s: float
    arrived_s: float
    buffer_s: float
    stall_s: float
    throughput_mbps: float


class Player:
    """A player of one video: it holds the buffer, asks the rule, and notes each chunk.

    The buffer holds seconds of video. A chunk that arrives adds `CHUNK_S` to it; while the video plays, each second takes
    one from it. The video starts when the first chunk is there. If the buffer is empty, the picture stands still (a
    *stall*) until the next chunk is there. The player never asks for a chunk that would not fit below `LIMIT_S`.

    Parameters
    ----------
    rule : object or class
        Has a method `on_chunk(buffer_s, throughput_mbps, sizes)`, which returns the next chunk's quality, from 0. It gets
        the seconds of video in the buffer, the throughput in Mbit/s of the chunk before (0 before the first), and the
        size in bytes of the next chunk at each quality.
    chunks : int
        The number of chunks of the video; 75 are five minutes.

    Attributes
    ----------
    history : list of Chunk
        The chunks that have arrived.
    buffer_s : float
        The seconds of video in the buffer at the time `now_s`.
    now_s : float
        The network time in s up to which the player has played.

    Examples
    --------
    >>> class Lowest:
    ...     def on_chunk(self, buffer_s, throughput_mbps, sizes):
    ...         return 0
    >>> player = Player(Lowest(), chunks=2)
    >>> player.ask(0.0)  # 0.6 Mbit/s for 4 s
    300000
    >>> player.arrive(1.0)
    >>> player.ask(1.0)
    300000
    >>> player.arrive(7.0)  # 4 s were in the buffer, and it took 6 s
    >>> player.history[1].stall_s, player.buffer_s, player.is_done
    (2.0, 4.0, True)
    """

    def __init__(self, rule: Any, chunks: int = 75) -> None:
        """Start with an empty buffer; `rule`, a class or an object with a method `on_chunk`, chooses the quality of
        each of the `chunks` chunks.
        """
        self.rule = rule() if isinstance(rule, type) else rule
        self.chunks = chunks
        self.sizes = [round(rate * BITS_PER_MBIT / BITS_PER_BYTE * CHUNK_S) for rate in LADDER_MBPS]
        self.history: list[Chunk] = []
        self.buffer_s = 0.0
        self.now_s = 0.0
        self._stall_s = 0.0
        self._request: tuple[int, float, float] | None = None

    @property
    def is_done(self) -> bool:
        """True if all chunks have arrived."""
        return len(self.history) >= self.chunks

    @property
    def wait_s(self) -> float:
        """The time in s, from `now_s` on, until the next chunk fits into the buffer, rounded up to 0.01 s; 0 if it fits
        now.
        """
        return math.ceil(max(0.0, self.buffer_s + CHUNK_S - LIMIT_S) / GRID_S - 1e-6) * GRID_S

    @property
    def qualities_mbps(self) -> list[float]:
        """The rate in Mbit/s of each chunk that has arrived, in their order."""
        return [LADDER_MBPS[chunk.quality] for chunk in self.history]

    @property
    def stall_s(self) -> float:
        """The sum in s of the stalls before all chunks that have arrived."""
        return sum(chunk.stall_s for chunk in self.history)

    @property
    def experience_mbps(self) -> float:
        """The quality of experience in Mbit/s of the chunks that have arrived, by the function `experience_mbps`; there
        must be one.
        """
        return experience_mbps(self.qualities_mbps, self.stall_s)

    def ask(self, now_s: float) -> int:
        """Ask the rule for the quality of the next chunk, at the network time `now_s` in s; return the chunk's size in
        bytes. Raises NetlabError if the rule returns no quality, or if `now_s` is in the past.
        """
        self._play_until(now_s)
        throughput_mbps = self.history[-1].throughput_mbps if self.history else 0.0
        quality = self.rule.on_chunk(self.buffer_s, throughput_mbps, list(self.sizes))
        self._request = (_validate_quality(quality), now_s, self.buffer_s)
        return self.sizes[self._request[0]]

    def arrive(self, now_s: float) -> None:
        """Put the chunk that was asked for into the buffer; its last byte arrived at the network time `now_s` in s.
        Raises NetlabError if none was asked for, or if `now_s` is in the past.
        """
        if self._request is None:
            raise NetlabError("No chunk was asked for: call ask(now_s) before arrive(now_s).")
        quality, asked_s, buffer_s = self._request
        self._play_until(now_s)
        mbit = self.sizes[quality] * BITS_PER_BYTE / BITS_PER_MBIT
        throughput_mbps = mbit / (now_s - asked_s) if now_s > asked_s else math.inf
        self.history.append(Chunk(quality, asked_s, now_s, buffer_s, self._stall_s, throughput_mbps))
        self.buffer_s += CHUNK_S
        self._stall_s, self._request = 0.0, None

    def _play_until(self, now_s: float) -> None:
        """Play until the network time `now_s` in s, and count the time in which the buffer was empty, unless no chunk
        has arrived yet. Raises NetlabError if `now_s` is in the past.
        """
        if now_s < self.now_s:
            raise NetlabError(f"Time cannot go back from {self.now_s:g} s to {now_s:g} s.")
        played_s = min(self.buffer_s, now_s - self.now_s) if self.history else 0.0
        self.buffer_s -= played_s
        if self.history:
            self._stall_s += now_s - self.now_s - played_s
        self.now_s = now_s


def _validate_quality(quality: object) -> int:
    """Return the answer of a rule if it is a quality, an integer from 0 to 4 (the index of a rate in `LADDER_MBPS`).
    Raises NetlabError if it is not.
    """
    allowed = range(len(LADDER_MBPS))
    if isinstance(quality, bool) or not hasattr(quality, "__index__") or quality.__index__() not in allowed:
        raise NetlabError(
            f"on_chunk must return a quality, a whole number from 0 to {len(LADDER_MBPS) - 1}, got {short_repr(quality)}; "
            "a quality is the place of a rate in the ladder, not the rate."
        )
    return int(quality.__index__())


def experience_mbps(qualities_mbps: Sequence[float], stall_s: float) -> float:
    """Return the quality of experience of a video in Mbit/s: the sum of its chunks' rates, less the sizes of all
    changes between two chunks, less 9.6 for each second of `stall_s`, all over the number of chunks. It has no meaning
    for videos of different ladders.

    Source: X. Yin and others, A control-theoretic approach for dynamic adaptive video streaming over HTTP, SIGCOMM 2015,
    equation 5, divided by the number of chunks, with the identity for quality, and without the wait for the start.

    Parameters
    ----------
    qualities_mbps : sequence of float
        The rate of each chunk in Mbit/s, at least one.
    stall_s : float
        The sum of all stalls in s.

    Examples
    --------
    >>> round(experience_mbps([1.2, 2.4, 2.4, 1.2], stall_s=0.5), 3)
    0.0
    """
    changes = sum(abs(after - before) for before, after in itertools.pairwise(qualities_mbps))
    return (sum(qualities_mbps) - changes - STALL_COST_MBPS * stall_s) / len(qualities_mbps)
