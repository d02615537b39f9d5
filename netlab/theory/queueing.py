"""A single queue with random arrivals: mean waiting times, tails, and the length of a run that measures them."""

import math

import numpy as np

from netlab.base import bisection
from netlab.theory.ranges import Array, TheoryError, Value, check_positive, check_range, to_value

__all__ = ["late_share", "mean_wait_ms", "relaxation_ms"]

MIN_LOAD = 1e-100
ERLANG_PACKETS = 4


def mean_wait_ms(load: Value, service_ms: float, variation: float = 0.0) -> Value:
    """Return a packet's mean wait in ms before transmission (Pollaczek, Khinchine), from the share of time in which the
    link is busy, the mean time on it and its squared coefficient of `variation`; TheoryError if one is out of range.

    Holds for arrivals at random moments (a Poisson process), one link, a queue that never overflows, and a run that is long against
    `relaxation_ms`. Misleads for packets that come in bursts (they wait longer) or by a clock (shorter), and for short runs.

    Returns: Milliseconds, shaped as `load`.
    Source: D. Bertsekas, R. Gallager, Data Networks, 2nd ed., Prentice Hall, 1992, chapter 3.

    Parameters
    ----------
    load : float or array
        Share of the time in which the link is busy, 0 or more and below 1.
    service_ms : float
        Mean time on the link, size over rate, in ms, above 0.
    variation : float
        Variance of the sizes over their mean squared, 0 or more: 0 for equal sizes (M/D/1), 1 for exponential ones (M/M/1).

    Examples
    --------
    Datagrams of 1042 bytes at 5 Mbit/s, by their mean delay, for four loads:

    >>> (mean_wait_ms(np.array([0.5, 0.8, 0.9, 0.95]), 1.6672) + 1.6672).round(2)
    array([ 2.5 ,  5.  ,  9.17, 17.51])
    >>> round(mean_wait_ms(0.9, 1.6672, variation=1), 3)
    15.005
    """
    _check(load, service_ms, variation)
    busy = np.asarray(load, dtype=float)
    return to_value(busy / (1 - busy) * service_ms * (1 + variation) / 2)


def relaxation_ms(load: Value, service_ms: float, variation: float = 0.0) -> Value:
    """Return the time in ms in which a queue forgets its length; arguments and errors are as of `mean_wait_ms`.

    The mean wait over a time T scatters with a standard deviation of about sqrt(2 * relaxation / T) of its mean. Where each run
    brings the link the same work, half of that variance goes: with packets of one size that is the same number of packets, as
    `netlab.Udp` sends it. With the same number of packets of different sizes, a share of 1 / (2 * (1 + variation)) goes, a quarter
    for exponentially distributed sizes. Holds near full load and for times much longer than this. Misleads for low loads, where it
    is shorter than a packet.

    Returns: Milliseconds, shaped as `load`.
    Source: W. Whitt, Planning queueing simulations, Management Science 35(11), 1989: a queue near full load as reflected Brownian motion.

    Parameters
    ----------
    load, service_ms, variation
        As for `mean_wait_ms`.

    Examples
    --------
    >>> relaxation_ms(np.array([0.5, 0.9, 0.95]), 1.6672).round(1)
    array([  3.3, 150. , 633.5])
    """
    _check(load, service_ms, variation)
    busy = np.asarray(load, dtype=float)
    return to_value(busy * (1 + variation) * service_ms / (1 - busy) ** 2)


def late_share(load: float, service_ms: float, wait_ms: Value) -> Value:
    """Return the fraction of packets, all with `service_ms` on the link, that wait longer than `wait_ms` at this load.
    Raises TheoryError for a parameter out of range.

    Holds as `mean_wait_ms`. Up to the time of four packets it is Erlang's sum; beyond, where the sum loses its digits, its limit
    c * exp(-r * wait / service) with load * (exp(r) - 1) = r and c = (1 - load) / (load + r - 1), which is less than 1 % away.

    Returns: Fraction, shaped as `wait_ms`.
    Source: A. K. Erlang, The theory of probabilities and telephone conversations, Nyt Tidsskrift for Matematik B 20, 1909; H.
    Tijms, A First Course in Stochastic Models, Wiley, 2003: the limit, for M/G/1.

    Parameters
    ----------
    load : float
        Share of the time in which the link is busy, above 0 and below 1.
    service_ms : float
        Time of one packet on the link, in ms, above 0.
    wait_ms : float or array
        0 or more.

    Examples
    --------
    >>> late_share(0.9, 1.6672, np.array([0.0, 10.0, 20.0, 40.0])).round(4)
    array([0.9   , 0.2694, 0.0778, 0.0065])
    """
    _check(load, service_ms, 0.0)
    check_range("load", load, MIN_LOAD, 1)
    check_range("wait_ms", wait_ms, 0, math.inf)
    packets = np.asarray(wait_ms, dtype=float) / service_ms
    rate = _decay(load)
    limit = (1 - load) / (load + rate - 1) * np.exp(-rate * packets)
    return to_value(np.where(packets <= ERLANG_PACKETS, _erlang(load, np.minimum(packets, ERLANG_PACKETS)), limit))


def _erlang(load: float, packets: Array) -> Array:
    """Return the share of packets that wait longer than the time of so many packets, as Erlang's sum."""
    on_time = np.zeros_like(packets)
    for number in range(ERLANG_PACKETS + 1):
        left = load * np.maximum(0.0, packets - number)
        on_time += np.where(packets >= number, (-left) ** number / math.factorial(number) * np.exp(left), 0.0)
    share: Array = 1 - (1 - load) * on_time
    return share


def _decay(load: float) -> float:
    """Return the decrease of the tail's logarithm in a packet's time: the root r > 0 of load * (exp(r) - 1) = r."""
    lowest = -math.log(load)  # the minimum of the difference; the root is below twice this value
    return bisection.bisect_largest(lambda rate: load * math.expm1(rate) < rate, lowest, 2 * lowest)


def _check(load: Value, service_ms: float, variation: float) -> None:
    """Raise TheoryError if the load is not in [0, 1), or another parameter is out of range."""
    busy = np.asarray(load)
    if not np.all((busy >= 0) & (busy < 1)):
        hint = f"; for {float(busy):g} % write {float(busy) / 100:g}" if busy.ndim == 0 and 1 < busy < 100 else ""
        raise TheoryError(
            f"load must be at least 0 and below 1, got {load!r}{hint}. At 1 and above a queue grows without end."
        )
    check_positive("service_ms", service_ms)
    check_range("variation", variation, 0, math.inf)
