"""Transfers that repeat what is lost: stop-and-wait, go-back-N and selective repeat."""

import math

import numpy as np

from netlab.base.units import BITS_PER_BYTE, MS_PER_S
from netlab.theory.delay import transmission_delay_ms
from netlab.theory.framing import Framing, udp_wire_bytes
from netlab.theory.ranges import TheoryError, Value, check_positive, check_range, to_value

__all__ = ["go_back_n_mbps", "selective_repeat_mbps"]


def go_back_n_mbps(
    window: Value,
    rate_mbps: float,
    rtt_ms: float,
    loss_rate: float = 0.0,
    timeout_ms: float | None = None,
    payload_bytes: int = 1000,
    framing: Framing = "tc",
) -> Value:
    """Return the goodput of go-back-N in Mbit/s with `window` datagrams in flight (1 is stop-and-wait): after a loss,
    of chance `loss_rate`, and `timeout_ms` (None: one RTT), all are sent again. TheoryError if out of range.

    A piece takes the larger of its time on the link and its share of a round trip, and for each of its losses the time until it is
    sent again, because packets sent meanwhile are dropped. The one timer restarts when an ACK moves the window (RFC 6298, 5.3), so that
    is the timeout and (1 - 1 / window) of a round trip. Holds for independent losses of data; ACKs, which tell of all pieces so far,
    make up for each other. Misleads where the window's own queue makes the round trip as long as the timeout.

    Returns: Mbit/s, shaped as `window`.
    Source: D. Bertsekas, R. Gallager, Data Networks, 2nd ed., Prentice Hall, 1992, chapter 2: frames per time in go back n.

    Parameters
    ----------
    window : float or array
        Pieces in flight, 1 or more.
    rtt_ms : float
        Round-trip time of the path without queueing and without the piece's own time on the link, in ms, 0 or more.
    loss_rate : float
        Chance that a datagram is lost, 0 or more and below 1.
    timeout_ms : float, optional
        The timer's time in ms; without it, a lost packet is sent again after one round trip, as in textbooks.
    payload_bytes : int
        Bytes of a datagram's payload, all of them data.

    Examples
    --------
    Windows of 1 and 32 over 2 Mbit/s and 100 ms, without and with 2 % of loss:

    >>> go_back_n_mbps(np.array([1.0, 32.0]), 2, 100).round(2)
    array([0.08, 1.92])
    >>> go_back_n_mbps(np.array([1.0, 32.0]), 2, 100, loss_rate=0.02, timeout_ms=250).round(2)
    array([0.07, 0.71])
    """
    service_ms, trip_ms, wait_ms = _times_ms(window, rate_mbps, rtt_ms, loss_rate, timeout_ms, payload_bytes, framing)
    share = 1 / np.asarray(window, dtype=float)
    until_again_ms = wait_ms if timeout_ms is None else wait_ms + (1 - share) * trip_ms
    each_ms = np.maximum(service_ms, share * trip_ms)
    return to_value(payload_bytes * BITS_PER_BYTE / MS_PER_S / (each_ms + loss_rate / (1 - loss_rate) * until_again_ms))


def selective_repeat_mbps(
    window: Value,
    rate_mbps: float,
    rtt_ms: float,
    loss_rate: float = 0.0,
    timeout_ms: float | None = None,
    payload_bytes: int = 1000,
    framing: Framing = "tc",
) -> Value:
    """Return the goodput of selective repeat in Mbit/s with `window` datagrams in flight: after a loss, of chance
    `loss_rate`, and `timeout_ms` (None: one round trip), only the lost one is sent again; TheoryError if out of range.

    Each of the window's places is taken by a piece for a round trip, and for a timeout more at each loss; of the link's rate 1 - p
    brings something new. The smaller of the two counts. Holds for independent losses and a window that counts what is in flight.
    Misleads for one that is counted from the oldest piece in flight, where it is too high: such a window stands still until that
    piece has come, however many of the others have.

    Returns: Mbit/s, shaped as `window`.
    Source: D. Bertsekas, R. Gallager, Data Networks, 2nd ed., Prentice Hall, 1992, chapter 2: the efficiency 1 - p
    of ideal selective repeat.

    Parameters
    ----------
    window, rate_mbps, rtt_ms, loss_rate, timeout_ms, payload_bytes, framing
        As for `go_back_n_mbps`; the timer is each piece's own.

    Examples
    --------
    >>> selective_repeat_mbps(np.array([1.0, 8.0, 64.0]), 2, 100, loss_rate=0.02, timeout_ms=250).round(2)
    array([0.07, 0.59, 1.88])
    """
    service_ms, trip_ms, wait_ms = _times_ms(window, rate_mbps, rtt_ms, loss_rate, timeout_ms, payload_bytes, framing)
    place_ms = trip_ms + loss_rate / (1 - loss_rate) * wait_ms
    each_ms = np.maximum(place_ms / np.asarray(window, dtype=float), service_ms / (1 - loss_rate))
    return to_value(payload_bytes * BITS_PER_BYTE / MS_PER_S / each_ms)


def _times_ms(
    window: Value,
    rate_mbps: float,
    rtt_ms: float,
    loss_rate: float,
    timeout_ms: float | None,
    payload_bytes: int,
    framing: Framing,
) -> tuple[float, float, float]:
    """Return the time of a datagram on the link, its round trip and the timeout in ms; TheoryError if out of range."""
    check_range("window", window, 1, math.inf)
    check_positive("rate_mbps", rate_mbps)
    check_range("rtt_ms", rtt_ms, 0, math.inf)
    if not 0 <= loss_rate < 1:
        raise TheoryError(f"loss_rate must be at least 0 and below 1, got {loss_rate!r}.")
    service_ms = transmission_delay_ms(udp_wire_bytes(payload_bytes, framing), rate_mbps)
    trip_ms = rtt_ms + service_ms
    wait_ms = trip_ms if timeout_ms is None else timeout_ms
    check_range("timeout_ms", wait_ms, trip_ms, math.inf)
    return service_ms, trip_ms, wait_ms
