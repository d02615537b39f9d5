"""The networks of a contest, drawn from a seed: who does not know the seed has not seen them."""

import hashlib
import math
import random
from dataclasses import dataclass
from typing import Any, Literal

from netlab import theory
from netlab.base.headers import FRAME_BYTES
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.network.trace import Trace
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp

DURATION_S = 20.0
INTERVAL_S = 0.1
STEP_S = 0.5
MIN_RATE_MBPS, MAX_RATE_MBPS = 1.0, 12.0

Rule = Literal["power", "share", "pair"]
"""The rule by which a run gets points (docs/how-to/contest.md)."""


@dataclass(frozen=True)
class NetworkTrial:
    """A network of the contest with the rule for its points, its rate, its shortest round-trip time and the seed of the
    run.
    """

    key: str
    title: str
    """Its name in tables, and in words."""
    rule: Rule
    network: Topology
    rate_mbps: float
    """The bottleneck's mean rate."""
    rtt_ms: float
    """The RTT of a segment that meets nobody."""
    seed: int
    """The seed of the run."""

    @property
    def capacity_mbps(self) -> float:
        """The largest goodput of TCP over the bottleneck in Mbit/s, by theory from its mean rate."""
        return theory.tcp_goodput_limit_mbps(self.rate_mbps)

    def scenario(self, control: object) -> Scenario:
        """Return the scenario that runs a congestion control (a Linux name, or a class) as the first flow: by the
        trial's rule alone, with a flow of CUBIC, or with a second flow of its own.
        """
        competitors: dict[Rule, list[object]] = {"power": [], "share": ["cubic"], "pair": [control]}
        ends = [("h1", "h3"), ("h2", "h4")]
        traffic = [
            Tcp(src, dst, congestion=each)
            for (src, dst), each in zip(ends, [control, *competitors[self.rule]], strict=False)
        ]
        return Scenario(self.network, traffic, DURATION_S, self.seed, INTERVAL_S)


def draw(seed: str) -> list[NetworkTrial]:
    """Return the networks that follow from a seed (any text), in the order of the board; the same seed gives the same
    networks.

    Examples
    --------
    >>> [trial.key for trial in draw("1")]
    ['steady', 'deep', 'lossy', 'walk', 'steps', 'cubic', 'pair']
    """
    return [
        _trial(seed, "steady", "a steady link", "power", queue_bdp=(1.0, 2.0)),
        _trial(seed, "deep", "a steady link with a deep queue", "power", queue_bdp=(4.0, 8.0)),
        _trial(seed, "lossy", "a link that loses at random", "power", queue_bdp=(1.0, 2.0), loss_rate=(0.005, 0.02)),
        _trial(seed, "walk", "a rate that wanders", "power", queue_bdp=(2.0, 4.0), trace=_walk),
        _trial(seed, "steps", "a rate that jumps", "power", queue_bdp=(2.0, 4.0), trace=_steps),
        _trial(seed, "cubic", "beside CUBIC", "share", queue_bdp=(1.0, 2.0)),
        _trial(seed, "pair", "two of its own", "pair", queue_bdp=(1.0, 2.0)),
    ]


def _trial(
    seed: str,
    key: str,
    title: str,
    rule: Rule,
    *,
    queue_bdp: tuple[float, float],
    loss_rate: tuple[float, float] = (0.0, 0.0),
    trace: Any = None,
) -> NetworkTrial:
    """Return a network with this key, title and rule, with two pairs of hosts around one bottleneck, whose rate (3 to
    10 Mbit/s), delay (10 to 40 ms), queue and losses are drawn from the seed. `queue_bdp` is the range of the queue's
    size in bandwidth-delay products, `loss_rate` the range of the loss rate (0 to 1), and `trace` a function that draws
    a variable rate from a random generator and the mean rate in Mbit/s, or None for a constant rate.
    """
    chance = random.Random(f"{seed}/{key}")  # noqa: S311 (no secret but the seed)
    rate_mbps, delay_ms = round(chance.uniform(3, 10), 1), round(chance.uniform(10, 40))
    # A link takes a trace for a rate.
    drawn: Any = Trace(trace(chance, rate_mbps), DURATION_S) if trace else None
    mean_mbps = drawn.mean_mbps() if drawn else rate_mbps
    frame_ms = theory.transmission_delay_ms(FRAME_BYTES, mean_mbps)
    bdp_packets = 2 * delay_ms / frame_ms
    network = topologies.dumbbell(
        pairs=2,
        rate_mbps=drawn or rate_mbps,
        delay_ms=delay_ms,
        queue_packets=max(10, round(bdp_packets * chance.uniform(*queue_bdp))),
        loss_rate=round(chance.uniform(*loss_rate), 4),
    )
    number = int.from_bytes(hashlib.sha256(f"{seed}/{key}".encode()).digest()[:4], "big")
    return NetworkTrial(key, title, rule, network, mean_mbps, 2 * delay_ms + frame_ms, number)


def _walk(chance: random.Random, mean_mbps: float) -> list[tuple[float, float]]:
    """Return a random walk of a link's rate that begins near `mean_mbps`: pairs of time in s and rate in Mbit/s each
    half second for DURATION_S s, with steps of about a quarter, as on a radio link, from MIN_RATE_MBPS to MAX_RATE_MBPS;
    `chance` is the random generator.
    """
    rate, steps = mean_mbps, []
    for number in range(round(DURATION_S / STEP_S)):
        rate = min(MAX_RATE_MBPS, max(MIN_RATE_MBPS, rate * math.exp(chance.gauss(0, 0.25))))
        steps.append((number * STEP_S, round(rate, 2)))
    return steps


def _steps(chance: random.Random, mean_mbps: float) -> list[tuple[float, float]]:
    """Return a link's rate that alternates between 1.6 and 0.4 times `mean_mbps`, the high rate first: pairs of time in
    s and rate in Mbit/s, each held for 2 to 5 s; `chance` is the random generator.
    """
    steps, at_s, low = [], 0.0, False
    while at_s < DURATION_S - STEP_S:
        steps.append((round(at_s, 1), round(mean_mbps * (0.4 if low else 1.6), 2)))
        at_s += chance.uniform(2, 5)
        low = not low
    return steps
