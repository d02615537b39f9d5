"""What is measured beside each published figure: the scenario, what is read from its run, and what theory says.

Measurements are in Mbit/s, ms and fractions here; the report turns them into the unit of the published row. Where the
publishers had a real wire, so have we (framing "ethernet"); where they had Mininet, rates count as `tc` counts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from netlab import theory
from netlab.experiment import Scenario
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.results import Run
from netlab.traffic import Command, Ping, Tcp, Traffic, Udp

Measure = Callable[[Run], float]
MEBI = 2**20


@dataclass(frozen=True)
class Explanation:
    """Why a figure misses theory or ours misses theirs: a sentence with `{value}`, and the run that tests it."""

    sentence: str
    scenario: Scenario
    measure: Measure


@dataclass(frozen=True)
class Measurement:
    """How one row is measured here.

    Parameters
    ----------
    scenario : Scenario
        What runs.
    measure : callable
        From its run to the figure.
    theory : float or None
        What netlab's formulas say.
    holds : bool
        Whether the formula's conditions are met; if not, it is shown but not counted.
    check : Explanation or None
        The second measurement that explains a difference.
    """

    scenario: Scenario
    measure: Measure
    theory: float | None = None
    holds: bool = True
    check: Explanation | None = None


Measurements = Mapping[tuple[str, str], Measurement]


# From runs to figures -----------------------------------------------------------------------------------------


def goodput(flow: str, after_s: float | None = None) -> Measure:
    """Goodput of a flow in Mbit/s: of the whole transfer, or of what came later than `after_s`."""

    def measure(run: Run) -> float:
        if after_s is not None:
            return float(run.goodput_mbps(after_s)[flow])
        return float(run.flows.set_index("flow").goodput_mbps[flow])

    return measure


def stream_goodput(flow: str, stream: int) -> Measure:
    """Goodput in Mbit/s of one connection of a flow."""

    def measure(run: Run) -> float:
        rows = run.streams[(run.streams.flow == flow)]
        return float(rows.goodput_mbps.iloc[stream])

    return measure


def total(run: Run) -> float:
    """Goodput of all flows in Mbit/s."""
    return float(run.flows.goodput_mbps.sum())


def loss(flow: str) -> Measure:
    """Lost share of a flow's datagrams."""
    return lambda run: float(run.flows.set_index("flow").loss_rate[flow])


def rtt(flow: str) -> Measure:
    """Mean round-trip time of a ping in ms."""
    return lambda run: float(run.flows.set_index("flow").rtt_ms[flow])


def sent(interface: str) -> Measure:
    """Everything that a queue sent, headers included, in Mbit/s over the last four fifths of the run."""

    def measure(run: Run) -> float:
        queue = run.queues[run.queues.interface == interface]
        late = queue[queue.t_s >= queue.t_s.max() / 5]
        first, last = late.iloc[0], late.iloc[-1]
        return float((last.sent_bytes - first.sent_bytes) * 8e-6 / (last.t_s - first.t_s))

    return measure


def _ends(pair: str) -> tuple[str, str]:
    src, dst = pair.split("-")
    return src, dst


# simpleperf ---------------------------------------------------------------------------------------------------

IPERF_PAYLOAD_BYTES = 1470
SECONDS = 25
PORTFOLIO_LINKS = {"L1": (40, 10, 67), "L2": (30, 20, 100), "L3": (20, 10, 33)}
FRAME_BITS = 1514 * 8


def portfolio(shared_limit: bool = False) -> Topology:
    """The nine hosts; with `shared_limit`, packets under way count against a queue's limit, as they do in Mininet's netem."""
    if not shared_limit:
        return topologies.portfolio()
    return topologies.portfolio(
        queue_packets=[
            queue - round(rate_mbps * 1e3 * delay_ms / FRAME_BITS)
            for rate_mbps, delay_ms, queue in PORTFOLIO_LINKS.values()
        ]
    )


def _iperf(src: str, dst: str, megabits: float, link: str) -> Measurements:
    offered_mbps = megabits * MEBI / 1e6
    rate_mbps, _, queue = PORTFOLIO_LINKS[link]

    def scenario(rate: float) -> Scenario:
        udp = Udp(src, dst, rate_mbps=rate, payload_bytes=IPERF_PAYLOAD_BYTES)
        return Scenario(topologies.portfolio(), [udp], duration_s=10, interval_s=0.5)

    flow = f"{src}-{dst} udp"
    limit = theory.udp_goodput_limit_mbps(rate_mbps, IPERF_PAYLOAD_BYTES)
    lost = theory.udp_loss_rate(offered_mbps, rate_mbps, IPERF_PAYLOAD_BYTES, queue_packets=queue, duration_s=10)
    check = Explanation(
        f"iperf's M is 2^20: '{megabits:g}M' sends {offered_mbps:.2f} Mbit/s, {offered_mbps / limit:.3f} times the "
        f"link's limit, and the queue's {queue} datagrams are late, not lost, once in 10 s; offered {megabits:g}·10⁶ bit/s, "
        "a second run loses only {value:.2f} %.",
        scenario(megabits),
        lambda run: 100 * loss(flow)(run),
    )
    return {
        (f"{src}-{dst}", "goodput"): Measurement(scenario(offered_mbps), goodput(flow), limit),
        (f"{src}-{dst}", "loss"): Measurement(scenario(offered_mbps), loss(flow), lost, check=check),
    }


def _alone(topology: Topology, src: str, dst: str, name: str, small: Topology | None = None) -> Measurements:
    """A ping, then a transfer of 25 s, alone on a path."""

    def scenario(network: Topology) -> Scenario:
        traffic: list[Traffic] = [Ping(src, dst, count=25), Tcp(src, dst, start_s=6, duration_s=SECONDS)]
        return Scenario(network, traffic, duration_s=6 + SECONDS, interval_s=0.5)

    path = topology.path_hops(src, dst)
    limit = theory.tcp_goodput_limit_mbps(path[theory.bottleneck(path)].rate_mbps)
    flow = f"{src}-{dst} cubic"
    check = None
    if small is not None:
        check = Explanation(
            "A queue well below the BDP costs throughput, and Mininet's queue limit also counts what is under way in netem: "
            "with only the room that this leaves in each queue a second run has {value:.2f} Mbit/s.",
            scenario(small),
            goodput(flow),
        )
    else:
        check = Explanation(
            "Their theory leaves out the headers: the same link carried {value:.2f} Mbit/s with them.",
            scenario(topology),
            sent("r1-eth1"),
        )
    return {
        (name, "rtt"): Measurement(scenario(topology), rtt(f"{src}-{dst} ping"), theory.ping_rtt_ms(path)),
        (name, "throughput"): Measurement(scenario(topology), goodput(flow), limit, check=check),
    }


def _link(name: str) -> Measurements:
    rate_mbps, delay_ms, queue = PORTFOLIO_LINKS[name]
    topology = topologies.dumbbell(pairs=1, rate_mbps=rate_mbps, delay_ms=delay_ms, queue_packets=queue)
    number = int(name[1])
    return _alone(topology, "h1", "h2", f"r{number}-r{number + 1}")


def _together(
    pairs: Sequence[str], shares_mbps: Sequence[float], streams: Sequence[int] | None = None, shared: bool = True
) -> Measurements:
    """Transfers of 25 s side by side, each with a ping."""
    why = "A drop-tail queue promises the sum, not the shares" if shared else "Their theory leaves out the headers"

    def scenario(network: Topology, duration_s: float) -> Scenario:
        traffic: list[Traffic] = [
            Tcp(*_ends(pair), streams=count) for pair, count in zip(pairs, streams or [1] * len(pairs), strict=True)
        ]
        traffic += [Ping(*_ends(pair), interval_s=1 if duration_s == SECONDS else 0.5) for pair in pairs]
        return Scenario(network, traffic, duration_s=duration_s, interval_s=0.5)

    base = scenario(portfolio(), SECONDS)
    long = scenario(portfolio(), 200)
    small = scenario(portfolio(shared_limit=True), SECONDS)
    found: dict[tuple[str, str], Measurement] = {}
    for pair, share_mbps, count in zip(pairs, shares_mbps, streams or [1] * len(pairs), strict=True):
        flow = f"{pair} cubic" + (f" ×{count}" if count > 1 else "")
        found[pair, "rtt"] = Measurement(
            base,
            rtt(f"{pair} ping"),
            check=Explanation(
                "Their queues hold fewer packets than they say, because Mininet's limit also counts what is under way in "
                "netem; with only the room that this leaves, a second run has a mean of {value:.1f} ms.",
                small,
                rtt(f"{pair} ping"),
            ),
        )
        for stream in range(count):
            name = pair if count == 1 else f"{pair} ({stream + 1})"
            read = goodput(flow) if count == 1 else stream_goodput(flow, stream)
            found[name, "throughput"] = Measurement(
                base,
                read,
                share_mbps,
                holds=not shared,
                check=Explanation(
                    f"{why}; in a second run, of 200 s, this flow has {{value:.2f}} Mbit/s of an equal share of {share_mbps:.2f}.",
                    long,
                    read,
                ),
            )
    return found


def _simpleperf() -> dict[tuple[str, str, str], Measurements]:
    whole = portfolio()
    small = portfolio(shared_limit=True)
    l2, l3 = (theory.tcp_goodput_limit_mbps(PORTFOLIO_LINKS[name][0]) for name in ("L2", "L3"))
    separate = _together(["h1-h4", "h8-h9"], [l2, l3], shared=False)
    parallel = {
        key: figure
        for key, figure in _together(["h1-h4", "h2-h5", "h3-h6"], [l2 / 4] * 3, [2, 1, 1]).items()
        if key[1] == "throughput"
    }
    tables: dict[tuple[str, str], Measurements] = {
        ("udp-rate", "iperf UDP 30 Mbit/s"): _iperf("h1", "h4", 30, "L2"),
        ("udp-rate", "iperf UDP 20 Mbit/s"): {**_iperf("h1", "h9", 20, "L3"), **_iperf("h7", "h9", 20, "L3")},
        ("link", "L1 r1-r2 40 Mbit/s 10 ms 67 pkt"): _link("L1"),
        ("link", "L2 r2-r3 30 Mbit/s 20 ms 100 pkt"): _link("L2"),
        ("link", "L3 r3-r4 20 Mbit/s 10 ms 33 pkt"): _link("L3"),
        ("path", "one flow alone"): {
            key: figure
            for pair in ("h1-h4", "h1-h9", "h7-h9")
            for key, figure in _alone(whole, *_ends(pair), pair, small).items()
        },
        ("multiplexing", "two pairs sharing L1 and L2"): _together(["h1-h4", "h2-h5"], [l2 / 2] * 2),
        ("multiplexing", "three pairs sharing L1 and L2"): _together(["h1-h4", "h2-h5", "h3-h6"], [l2 / 3] * 3),
        ("multiplexing", "two pairs sharing L2 only"): _together(["h1-h4", "h7-h9"], [l2 / 2] * 2),
        ("multiplexing", "two pairs sharing only router r3"): separate,
        ("parallel", "h1 opens two connections beside h2 and h3"): parallel,
    }
    return {("simpleperf", *key): figures for key, figures in tables.items()}


# siit ---------------------------------------------------------------------------------------------------------


def _wire(delay_ms: float = 0.0, queue_packets: int = 1000) -> Topology:
    link = Link("h1", "h2", rate_mbps=100, delay_ms=delay_ms, queue_packets=queue_packets, framing="ethernet")
    return Topology(hosts=["h1", "h2"], links=[link])


def _window(window_bytes: int) -> Measurements:
    def scenario(delay_ms: float) -> Scenario:
        # The lab had switched segmentation offload off.
        frame_by_frame = Command("h1", "ip link set dev h1-eth0 gso_max_segs 1")
        flow = Tcp("h1", "h2", congestion="reno", window_bytes=window_bytes, start_s=0.5)
        return Scenario(_wire(delay_ms), [frame_by_frame, flow], duration_s=10)

    # What a segment and its acknowledgement take, which a ping of 56 bytes does not.
    rtt_ms = theory.segment_rtt_ms(_wire(8).path_hops("h1", "h2"), framing="ethernet")
    whole_bytes = window_bytes // theory.MSS_BYTES * theory.MSS_BYTES
    expected = theory.windowed_goodput_mbps(float(whole_bytes), 100, rtt_ms, framing="ethernet")
    check = Explanation(
        "Their ping had 16.6 ms, 0.6 more than the delays that they set: over a path that long a second run has {value:.1f} Mbit/s. "
        "What is left of the gap is not explained.",
        scenario(8.3),
        goodput("h1-h2 reno", 1),
    )
    return {("client-server", "throughput"): Measurement(scenario(8), goodput("h1-h2 reno", 1), expected, check=check)}


def _siit() -> dict[tuple[str, str, str], Measurements]:
    limit = theory.tcp_goodput_limit_mbps(100, framing="ethernet")
    plain = Scenario(_wire(0.1), [Tcp("h1", "h2")], duration_s=10)
    flows: list[Traffic] = [Udp("h1", "h2", rate_mbps=100, payload_bytes=IPERF_PAYLOAD_BYTES), Tcp("h1", "h2")]
    beside = Scenario(_wire(0.1), flows, duration_s=10, interval_s=1)
    crowd = theory.udp_goodput_limit_mbps(100, IPERF_PAYLOAD_BYTES, "ethernet")
    return {
        ("siit", "throughput", "wired 100 Mbit/s TCP"): {
            ("client-server", "throughput"): Measurement(plain, goodput("h1-h2 cubic", 1), limit)
        },
        ("siit", "bdp", "100 Mbit/s 16 ms window 126 kB"): _window(126_000),
        ("siit", "bdp", "100 Mbit/s 16 ms window 150 kB"): _window(150_000),
        ("siit", "bdp", "100 Mbit/s 16 ms window 187.5 kB"): _window(187_500),
        ("siit", "bdp", "100 Mbit/s 16 ms window 192 kB"): _window(192_000),
        ("siit", "tcp-beside-udp", "TCP and p UDP flows of 100 Mbit/s for 60 s: total"): {
            ("all", "throughput"): Measurement(beside, total, crowd)
        },
    }


# epfl ---------------------------------------------------------------------------------------------------------

BOTTLENECK_MBPS = 5.0
QUEUE = 100
# What Mininet's enable_red sets: from 30 to 35 kB in packets of 1500 bytes, and at the upper end it drops every one.
RED = {"min_packets": 20, "max_packets": 23, "probability": 1.0}


def _seconds(offered_mbps: float) -> float:
    """Long enough for a figure, short enough for a report: the more datagrams a second, the fewer seconds."""
    return 60 if offered_mbps <= BOTTLENECK_MBPS else 30


def _epfl_udp(offered_mbps: float, framing: str = "tc", queue_packets: int = QUEUE) -> Scenario:
    topology = topologies.three_pcs(queue_packets=queue_packets, framing=framing)
    return Scenario(
        topology, [Udp("h1", "h3", rate_mbps=offered_mbps)], duration_s=_seconds(offered_mbps), interval_s=1
    )


def _framed(sentence: str, scenario: Scenario, measure: Measure) -> Explanation:
    return Explanation(sentence, scenario, lambda run: 1000 * measure(run))


def _udp_alone(offered_mbps: float) -> Measurements:
    limit = theory.udp_goodput_mbps(offered_mbps, BOTTLENECK_MBPS)
    lost = theory.udp_loss_rate(offered_mbps, BOTTLENECK_MBPS, queue_packets=QUEUE, duration_s=_seconds(offered_mbps))
    check = _framed(
        "The publisher's theory counts a wire's 1066 bytes a datagram, tc counts 1042: on a link that counts as a wire "
        "does, a second run has {value:.0f} kbit/s.",
        _epfl_udp(offered_mbps, "ethernet"),
        goodput("h1-h3 udp"),
    )
    late = Explanation(
        f"{QUEUE} datagrams in the queue when the sender stops are late, not lost; with a queue of 5 a second run loses "
        "{value:.2f} %.",
        _epfl_udp(offered_mbps, queue_packets=5),
        lambda run: 100 * loss("h1-h3 udp")(run),
    )
    return {
        ("h1-h3", "goodput"): Measurement(_epfl_udp(offered_mbps), goodput("h1-h3 udp"), limit, check=check),
        ("h1-h3", "loss"): Measurement(_epfl_udp(offered_mbps), loss("h1-h3 udp"), lost, check=late),
    }


def _udp_pair(first_mbps: float, second_mbps: float) -> Measurements:
    offered = (first_mbps, second_mbps)

    def scenario(spacing: str = "auto") -> Scenario:
        traffic = [Udp(src, "h3", rate_mbps=r, spacing=spacing) for src, r in zip(("h1", "h2"), offered, strict=True)]
        return Scenario(
            topologies.three_pcs(queue_packets=QUEUE), traffic, duration_s=_seconds(sum(offered)), interval_s=1
        )

    shares = theory.udp_shares_mbps(offered, BOTTLENECK_MBPS)
    # What stands in the queue at the end is late, not lost.
    late = 1 + QUEUE * 8e-3 / _seconds(sum(offered)) / float(sum(shares))
    found: dict[tuple[str, str], Measurement] = {}
    for src, rate, share in zip(("h1", "h2"), offered, shares, strict=True):
        flow = f"{src}-h3 udp"
        found[src, "goodput"] = Measurement(
            scenario(),
            goodput(flow),
            float(share),
            check=_framed(
                "The publisher's theory counts a wire's framing; sent on exact grids instead of at random moments, the two "
                "flows share {value:.0f} kbit/s to this one.",
                scenario("even"),
                goodput(flow),
            ),
        )
        if sum(offered) < BOTTLENECK_MBPS / 2:
            # Nothing is lost, and no loss is published.
            continue
        found[src, "loss"] = Measurement(
            scenario(),
            loss(flow),
            max(0.0, 1 - late * float(share) / rate),
            check=Explanation(
                "The publisher's theory counts a wire's framing (1066 bytes, not tc's 1042), and which flow loses a little "
                "more is a matter of phase: on exact grids this flow loses {value:.2f} %.",
                scenario("even"),
                lambda run, flow=flow: 100 * loss(flow)(run),  # type: ignore[misc]
            ),
        )
    return found


def _udp_tcp(first_mbps: float, second_mbps: float) -> Measurements:
    def scenario(aqm: str = "fifo") -> Scenario:
        topology = topologies.three_pcs(queue_packets=QUEUE, aqm=aqm, aqm_options=RED if aqm == "red" else {})
        traffic: list[Traffic] = [
            Udp("h1", "h3", rate_mbps=first_mbps),
            Udp("h2", "h3", rate_mbps=second_mbps),
            Tcp("h2", "h3", start_s=1),
        ]
        return Scenario(topology, traffic, duration_s=2 * _seconds(first_mbps + second_mbps), interval_s=1)

    offered = first_mbps + second_mbps
    left = BOTTLENECK_MBPS - offered * theory.udp_wire_bytes(1000) / 1000
    shares = [float(share) for share in theory.udp_shares_mbps([first_mbps, second_mbps], BOTTLENECK_MBPS)]
    tcp = theory.tcp_goodput_limit_mbps(left) if left > 0 else None
    # Between the two, TCP is neither alone with what is left nor silent, and no formula here covers it.
    clear = left > 0 or offered > 1.5 * BOTTLENECK_MBPS

    def figure(flow: str, expected: float | None) -> Measurement:
        return Measurement(
            scenario(),
            goodput(flow, 20),
            expected,
            holds=clear,
            check=_framed(
                "The publisher's router ran RED, which drops from every flow before the queue is full; with Mininet's RED a "
                "second run has {value:.0f} kbit/s here.",
                scenario("red"),
                goodput(flow, 20),
            ),
        )

    return {
        ("h1 UDP", "goodput"): figure("h1-h3 udp", shares[0]),
        ("h2 UDP", "goodput"): figure("h2-h3 udp", shares[1]),
        ("h2 TCP", "goodput"): figure("h2-h3 cubic", tcp),
    }


def two_routers(limited_access: bool = True) -> Topology:
    """h1 (1 Mbit/s) and h2 (10) share a link of 1.5 Mbit/s towards h4 (1) and h3 (0.5)."""
    rates = {("r1", "r2"): 1.5, ("r2", "h4"): 1, ("r2", "h3"): 0.5}
    if limited_access:
        rates |= {("h1", "r1"): 1, ("h2", "r1"): 10}
    links = [Link(a, b, rate_mbps=rate, queue_packets=QUEUE) for (a, b), rate in rates.items()]
    if not limited_access:
        links += [Link("h1", "r1"), Link("h2", "r1")]
    return Topology(hosts=["h1", "h2", "h3", "h4"], routers=["r1", "r2"], links=links)


def _collapse_udp(first_mbps: float, second_mbps: float) -> Measurements:
    offered = {"h1-h4": first_mbps, "h2-h3": second_mbps}
    heavy = second_mbps > BOTTLENECK_MBPS

    def scenario(limited_access: bool) -> Scenario:
        traffic = [Udp(*_ends(pair), rate_mbps=rate) for pair, rate in offered.items()]
        return Scenario(two_routers(limited_access), traffic, duration_s=120 if heavy else 600, interval_s=1)

    # Overloaded access links would clock out the datagrams of both on grids in the ratio 1 : 10, which lock in phase.
    base, other = scenario(not heavy), scenario(heavy)
    wire = theory.udp_wire_bytes(1000) / 1000
    routes = base.topology.routes([("h1", "h4"), ("h2", "h3")])
    network = theory.fifo_network(
        base.topology.capacities_mbps(), routes, {pair: rate * wire for pair, rate in offered.items()}
    )
    found: dict[tuple[str, str], Measurement] = {}
    for pair, rate in offered.items():
        flow, share = f"{pair} udp", network.delivered_mbps[pair] / wire
        found[pair, "goodput"] = Measurement(
            base,
            goodput(flow),
            share,
            check=_framed(
                "Theory counts on datagrams that come at random moments; two senders behind links of 1 and 10 Mbit/s keep in "
                "step, and phase decides who finds the free place: there a second run has {value:.0f} kbit/s."
                if heavy
                else "The publisher's theory counts a wire's framing; without limits on the access links a second run has "
                "{value:.0f} kbit/s.",
                other,
                goodput(flow),
            ),
        )
        found[pair, "loss"] = Measurement(
            base,
            loss(flow),
            1 - share / rate,
            check=Explanation(
                "Phase as above: behind links of 1 and 10 Mbit/s a second run loses {value:.2f} %."
                if heavy
                else "Each full queue on the way holds 100 datagrams that are late, not lost, and their access links may not have "
                "had limits: without those a second run loses {value:.2f} %.",
                other,
                lambda run, flow=flow: 100 * loss(flow)(run),  # type: ignore[misc]
            ),
        )
    return found


def _collapse_tcp() -> Measurements:
    scenario = Scenario(two_routers(), [Tcp("h1", "h4"), Tcp("h2", "h3")], duration_s=600, interval_s=1)
    return {
        (pair, "goodput"): Measurement(scenario, goodput(f"{pair} cubic", 30), theory.tcp_goodput_limit_mbps(rate))
        for pair, rate in (("h1-h4", 1.0), ("h2-h3", 0.5))
    }


def _connections() -> Measurements:
    link = Link(
        "r1",
        "h3",
        rate_mbps=5,
        queue_packets=QUEUE,
        reverse={
            "rate_mbps": None,
            "queue_packets": None,
            "delay_ms": 300,
        },
    )
    plain = topologies.three_pcs(queue_packets=QUEUE)
    topology = Topology(plain.hosts, plain.routers, plain.switches, [*plain.links[:-1], link])
    traffic = [Tcp("h1", "h3"), Tcp("h2", "h3", streams=3)]
    scenario = Scenario(topology, traffic, duration_s=600, interval_s=5)
    quarter = theory.tcp_goodput_limit_mbps(BOTTLENECK_MBPS) / 4
    longer = Scenario(topology, traffic, duration_s=1500, interval_s=5)

    def figure(flow: str, share: int) -> Measurement:
        return Measurement(
            scenario,
            goodput(flow, 60),
            share * quarter,
            check=_framed(
                "The publisher's theory leaves out the headers, and equal shares are a long-run mean: over 25 minutes of network "
                "time a second run has {value:.0f} kbit/s.",
                longer,
                goodput(flow, 60),
            ),
        )

    return {("h1", "goodput"): figure("h1-h3 cubic", 1), ("h2", "goodput"): figure("h2-h3 cubic ×3", 3)}


def _epfl() -> dict[tuple[str, str, str], Measurements]:
    alone = _udp_alone(5)
    tcp = Scenario(topologies.three_pcs(queue_packets=QUEUE), [Tcp("h1", "h3")], duration_s=60, interval_s=1)
    framed = Scenario(
        topologies.three_pcs(queue_packets=QUEUE, framing="ethernet"), [Tcp("h1", "h3")], duration_s=60, interval_s=1
    )
    check = _framed(
        "The publisher's theory counts a wire's framing on super-sized segments of 2896 bytes, which no wire carries; tc "
        "counts 1514 bytes for 1448, and with a wire's 1538 a second run has {value:.0f} kbit/s.",
        framed,
        goodput("h1-h3 cubic", 5),
    )
    limit = theory.tcp_goodput_limit_mbps(BOTTLENECK_MBPS)
    tables: dict[tuple[str, str], Measurements] = {
        ("udp-max", "UDP 1000 B payload in 5 Mbit/s"): {("h1-h3", "goodput"): alone["h1-h3", "goodput"]},
        ("udp-rate", "5 Mbit/s offered to 5 Mbit/s"): alone,
        ("udp-rate", "10 Mbit/s offered to 5 Mbit/s"): _udp_alone(10),
        ("udp-rate", "20 Mbit/s offered to 5 Mbit/s"): _udp_alone(20),
        ("tcp-max", "TCP in 5 Mbit/s"): {
            ("h1-h3", "goodput"): Measurement(tcp, goodput("h1-h3 cubic", 5), limit, check=check)
        },
        ("udp-udp", "A1 1 and 0.5 Mbit/s"): _udp_pair(1, 0.5),
        ("udp-udp", "A2 1 and 4 Mbit/s"): _udp_pair(1, 4),
        ("udp-udp", "A3 1 and 9 Mbit/s"): _udp_pair(1, 9),
        ("udp-tcp", "B1 1 and 0.5 Mbit/s UDP"): _udp_tcp(1, 0.5),
        ("udp-tcp", "B2 1 and 4 Mbit/s UDP"): _udp_tcp(1, 4),
        ("udp-tcp", "B3 1 and 9 Mbit/s UDP"): _udp_tcp(1, 9),
        ("collapse", "UDP 1 and 10 Mbit/s"): _collapse_udp(1, 10),
        ("collapse", "UDP at the max-min rates 1 and 0.5 Mbit/s"): _collapse_udp(1, 0.5),
        ("collapse", "TCP"): _collapse_tcp(),
        ("connections", "D1 300 ms one against three connections"): _connections(),
    }
    return {("epfl", *key): figures for key, figures in tables.items()}


# ece6110, lab9 ------------------------------------------------------------------------------------------------


def _ece6110() -> dict[tuple[str, str, str], Measurements]:
    topology = topologies.chain([5, 1, 5], [10, 20, 10], queue_packets=50)
    scenario = Scenario(topology, [Tcp("h1", "h2", congestion="reno")], duration_s=120, interval_s=1)
    check = Explanation(
        "The publisher's ideal leaves out the headers: with them, the bottleneck's own counter has {value:.0f} byte/s.",
        scenario,
        lambda run: sent("r1-eth1")(run) * 125_000,
    )
    figure = Measurement(scenario, goodput("h1-h2 reno", 20), theory.tcp_goodput_limit_mbps(1), check=check)
    return {("ece6110", "window", "ideal goodput of a 1 Mbit/s bottleneck"): {("client-server", "goodput"): figure}}


LAB9_WINDOW_BYTES = 8 * MEBI
LAB9_QUEUE_BYTES = 15_000_000


def _lab9_scenario(streams: int, delay_ms: float, loss_rate: float = 0.0, window_bytes: int | None = None) -> Scenario:
    link = Link(
        "h1",
        "h2",
        rate_mbps=10_000,
        delay_ms=delay_ms,
        loss_rate=loss_rate,
        queue_bytes=LAB9_QUEUE_BYTES,
        reverse={"loss_rate": 0.0, "delay_ms": 0.0},
    )
    flow = Tcp("h1", "h2", streams=streams, window_bytes=window_bytes)
    return Scenario(Topology(hosts=["h1", "h2"], links=[link]), [flow], duration_s=5)


def _lab9() -> dict[tuple[str, str, str], Measurements]:
    limit = theory.tcp_goodput_limit_mbps(10_000)
    window = theory.window_limit_mbps(float(LAB9_WINDOW_BYTES), 20)
    far = {count: _lab9_scenario(count, 20, window_bytes=LAB9_WINDOW_BYTES) for count in (1, 8)}
    name = {1: "h1-h2 cubic", 8: "h1-h2 cubic ×8"}

    def lossy(streams: int) -> Measurement:
        mathis = theory.parallel_streams_mbps(float(streams), theory.MSS_BYTES, 20, 0.01)
        check = Explanation(
            "The publisher removed the delay with the old rule before adding the loss, so their RTT was a LAN's; with the "
            f"20 ms of the setting a second run has {{value:.2f}} Mbit/s, where Mathis says {mathis:.2f}.",
            _lab9_scenario(streams, 20, 0.01),
            goodput(name[streams], 1),
        )
        return Measurement(_lab9_scenario(streams, 0, 0.01), goodput(name[streams], 1), check=check)

    key = ("h1-h2", "throughput")
    return {
        ("lab9", "buffer", "10 Gbit/s 20 ms default buffers one stream"): {
            key: Measurement(
                far[1],
                goodput(name[1], 1),
                window,
                check=Explanation(
                    "Theirs is the mean with slow start (3.30 in the steady state that they print); without a window of 8 MiB a "
                    "second run has {value:.0f} Mbit/s.",
                    _lab9_scenario(1, 20),
                    goodput(name[1], 2),
                ),
            )
        },
        ("lab9", "buffer", "10 Gbit/s 20 ms default buffers eight streams"): {
            key: Measurement(far[8], goodput(name[8], 1), min(8 * window, limit))
        },
        ("lab9", "loss", "10 Gbit/s 1 % random loss one stream"): {key: lossy(1)},
        ("lab9", "loss", "10 Gbit/s 1 % random loss eight streams"): {key: lossy(8)},
    }


def cases() -> dict[tuple[str, str, str], Measurements]:
    """How each published (source, table, scenario) is measured here: figures by (flow, quantity)."""
    return {**_simpleperf(), **_siit(), **_epfl(), **_ece6110(), **_lab9()}


NOT_COVERED = {
    ("siit", "throughput", "802.11g TCP"): "needs a model of the wireless medium",
    ("epfl", "rtt-fairness", ""): "no chapter on fairness and round-trip times yet",
    ("epfl", "two-bottlenecks", ""): "no chapter on several bottlenecks yet",
    ("epfl", "aqm", ""): "no chapter on active queue management yet",
}
"""Published tables without a chapter, and why; an empty scenario is all of the table."""


def missing(value: float | None) -> bool:
    """Whether a table's cell is empty."""
    return value is None or math.isnan(value)
