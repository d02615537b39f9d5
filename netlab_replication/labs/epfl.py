"""epfl: UDP and TCP through routers of 5 Mbit/s in Mininet, so rates have the framing of tc."""

from typing import Any

from netlab import theory
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology, topology_from_links
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp, Traffic, Udp
from netlab_replication.measurement import Measurement, Measurements, Settings, ends, goodput, loss, rtt

BOTTLENECK_MBPS = 5.0
QUEUE = 100
# The values of Mininet's enable_red: 30 to 35 kB in packets of 1500 bytes; above the upper threshold it drops every packet.
RED = {"min_packets": 20, "max_packets": 23, "probability": 1.0}
# This RED drops few packets at a time, so that losses are random.
GENTLE_RED = {"min_packets": 10, "max_packets": 90, "probability": 0.05}
NEAR_MS = 300
UNLIMITED: dict[str, Any] = {"rate_mbps": None, "queue_packets": None, "aqm": "fifo", "aqm_options": {}}
LONG_QUEUE = (
    "their queue counted segments of two frames as one packet (2986 bytes on the wire), so it held up to twice as much: "
    "a second run with 2000 packets"
)
HIGHER = {"min_packets": 22, "max_packets": 24}
MORE_MARKS = "with thresholds of 22 and 24 packets a second run"


def _seconds(offered_mbps: float) -> float:
    """Return the duration in s of a run whose offered rate is `offered_mbps`: 60 if the bottleneck carries the rate,
    else 30, because there are more datagrams a second.
    """
    return 60 if offered_mbps <= BOTTLENECK_MBPS else 30


def _epfl_udp(offered_mbps: float, framing: str = "tc", queue_packets: int = QUEUE) -> Scenario:
    """Return the scenario of one UDP flow of `offered_mbps` from h1 to h3 over a link with this framing ("tc" or
    "ethernet") and a queue of `queue_packets` packets.
    """
    topology = topologies.three_pcs(queue_packets=queue_packets, framing=framing)
    return Scenario(
        topology, [Udp("h1", "h3", rate_mbps=offered_mbps)], duration_s=_seconds(offered_mbps), interval_s=1
    )


def _udp_alone(offered_mbps: float) -> Measurements:
    """Return the measurements of goodput (Mbit/s) and loss (0 to 1) of a UDP flow that is sent at `offered_mbps`, by
    flow and quantity: ("h1-h3", "goodput") and ("h1-h3", "loss").
    """
    limit = theory.udp_goodput_mbps(offered_mbps, BOTTLENECK_MBPS)
    lost = theory.udp_loss_rate(offered_mbps, BOTTLENECK_MBPS, queue_packets=QUEUE, duration_s=_seconds(offered_mbps))
    return {
        ("h1-h3", "goodput"): Measurement(
            _epfl_udp(offered_mbps),
            goodput("h1-h3 udp"),
            limit,
            "The publisher's theory counts a wire's 1066 bytes a datagram, tc counts 1042: on a link that counts as a wire "
            "does, a second run has {value:.0f} kbit/s.",
            _epfl_udp(offered_mbps, "ethernet"),
        ),
        ("h1-h3", "loss"): Measurement(
            _epfl_udp(offered_mbps),
            loss("h1-h3 udp"),
            lost,
            f"{QUEUE} datagrams in the queue when the sender stops are late, not lost; with a queue of 5 a second run loses "
            "{value:.2f} %.",
            _epfl_udp(offered_mbps, queue_packets=5),
        ),
    }


def _udp_pair(first_mbps: float, second_mbps: float) -> Measurements:
    """Return the measurements of goodput (Mbit/s) and loss (0 to 1) of two UDP flows that h1 and h2 send at these
    rates, by host and quantity, such as ("h1", "goodput"); losses only if both rates together are at least half of the
    link's.
    """
    offered = (first_mbps, second_mbps)

    def scenario(spacing: str = "auto") -> Scenario:
        """Return the scenario of both flows; `spacing` is that of their datagrams, "auto" (random here) or "even"
        (on exact grids).
        """
        traffic = [Udp(src, "h3", rate_mbps=r, spacing=spacing) for src, r in zip(("h1", "h2"), offered, strict=True)]
        return Scenario(
            topologies.three_pcs(queue_packets=QUEUE), traffic, duration_s=_seconds(sum(offered)), interval_s=1
        )

    shares = theory.udp_shares_mbps(offered, BOTTLENECK_MBPS)
    # Packets in the queue at the end are late, not lost.
    late = 1 + QUEUE * 8e-3 / _seconds(sum(offered)) / float(sum(shares))
    found: dict[tuple[str, str], Measurement] = {}
    for src, rate, share in zip(("h1", "h2"), offered, shares, strict=True):
        flow = f"{src}-h3 udp"
        found[src, "goodput"] = Measurement(
            scenario(),
            goodput(flow),
            float(share),
            "The publisher's theory counts a wire's framing; sent on exact grids instead of at random moments, the two "
            "flows share {value:.3f} Mbit/s to this one.",
            scenario("even"),
        )
        if sum(offered) < BOTTLENECK_MBPS / 2:
            # No packet is lost, and no loss rate is published.
            continue
        found[src, "loss"] = Measurement(
            scenario(),
            loss(flow),
            max(0.0, 1 - late * float(share) / rate),
            "The publisher's theory counts a wire's framing (1066 bytes, not tc's 1042), and which flow loses a little "
            "more is a matter of phase: on exact grids this flow loses {value:.2f} %.",
            scenario("even"),
        )
    return found


def _udp_tcp(first_mbps: float, second_mbps: float) -> Measurements:
    """Return the measurements of the goodput (Mbit/s) of UDP flows of h1 and h2 at these rates and of a TCP flow of h2,
    by flow and quantity: ("h1 UDP", "goodput"), ("h2 UDP", "goodput") and ("h2 TCP", "goodput").
    """

    def scenario(aqm: str = "fifo") -> Scenario:
        """Return the scenario of the three flows behind a queue of this discipline, "fifo" or "red"."""
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
    # Between these cases, TCP neither has the rest of the link to itself nor is silent, and no formula covers it.
    clear = left > 0 or offered > 1.5 * BOTTLENECK_MBPS

    def number(flow: str, expected: float | None) -> Measurement:
        """Return the measurement of the goodput after 20 s of the flow of this label; `expected` is the value of theory
        in Mbit/s, None if there is no formula.
        """
        return Measurement(
            scenario(),
            goodput(flow, 20),
            expected,
            "The publisher's router ran RED, which drops from every flow before the queue is full; with Mininet's RED a "
            "second run has {value:.0f} kbit/s here.",
            scenario("red"),
            holds=clear,
        )

    return {
        ("h1 UDP", "goodput"): number("h1-h3 udp", shares[0]),
        ("h2 UDP", "goodput"): number("h2-h3 udp", shares[1]),
        ("h2 TCP", "goodput"): number("h2-h3 cubic", tcp),
    }


def _two_routers(limited_access: bool = True) -> Topology:
    """Return the lab's network of two routers in a row; with `limited_access` the links of the senders h1 and h2 have 1
    and 10 Mbit/s, else no limit.
    """
    access = (1, 10) if limited_access else (None, None)
    return topologies.two_routers(access, queue_packets=QUEUE)


def _collapse_udp(first_mbps: float, second_mbps: float) -> Measurements:
    """Return the measurements of goodput (Mbit/s) and loss (0 to 1) of UDP flows h1-h4 and h2-h3 at these rates over
    two routers, by pair and quantity, such as ("h1-h4", "loss").
    """
    offered = {"h1-h4": first_mbps, "h2-h3": second_mbps}
    heavy = second_mbps > BOTTLENECK_MBPS

    def scenario(limited_access: bool) -> Scenario:
        """Return the scenario of both flows; with `limited_access` the links of the senders have 1 and 10 Mbit/s, else
        no limit.
        """
        traffic = [Udp(*ends(pair), rate_mbps=rate) for pair, rate in offered.items()]
        return Scenario(_two_routers(limited_access), traffic, duration_s=120 if heavy else 600, interval_s=1)

    # Overloaded access links would send the datagrams of both flows periodically in the ratio 1 : 10, which lock in phase.
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
            "Theory counts on datagrams that come at random moments; two senders behind links of 1 and 10 Mbit/s keep in "
            "step, and phase decides who finds the free place: there a second run has {value:.0f} kbit/s."
            if heavy
            else "The publisher's theory counts a wire's framing; without limits on the access links a second run has "
            "{value:.0f} kbit/s.",
            other,
        )
        found[pair, "loss"] = Measurement(
            base,
            loss(flow),
            1 - share / rate,
            "Phase as above: behind links of 1 and 10 Mbit/s a second run loses {value:.2f} %."
            if heavy
            else "Each full queue on the way holds 100 datagrams that are late, not lost, and their access links may not have "
            "had limits: without those a second run loses {value:.2f} %.",
            other,
        )
    return found


def _collapse_tcp() -> Measurements:
    """Return the measurements of the goodput (Mbit/s) of TCP flows h1-h4 and h2-h3 over two routers, by pair and
    quantity, such as ("h1-h4", "goodput").
    """
    scenario = Scenario(_two_routers(), [Tcp("h1", "h4"), Tcp("h2", "h3")], duration_s=600, interval_s=1)
    return {
        (pair, "goodput"): Measurement(scenario, goodput(f"{pair} cubic", 30), theory.tcp_goodput_limit_mbps(rate))
        for pair, rate in (("h1-h4", 1.0), ("h2-h3", 0.5))
    }


def _connections() -> Measurements:
    """Return the measurements of the goodput (Mbit/s) of one TCP connection of h1 and of three of h2 together, with a
    delay of 300 ms, by host and quantity: ("h1", "goodput") and ("h2", "goodput").
    """
    link = Link(
        "r1",
        "h3",
        rate_mbps=5,
        queue_packets=QUEUE,
        reverse={"rate_mbps": None, "queue_packets": None, "delay_ms": 300},
    )
    topology = topology_from_links(*topologies.three_pcs().links[:-1], link)
    traffic = [Tcp("h1", "h3"), Tcp("h2", "h3", streams=3)]
    scenario = Scenario(topology, traffic, duration_s=600, interval_s=5)
    quarter = theory.tcp_goodput_limit_mbps(BOTTLENECK_MBPS) / 4
    longer = Scenario(topology, traffic, duration_s=1500, interval_s=5)

    def number(flow: str, share: int) -> Measurement:
        """Return the measurement of the goodput after 60 s of the flow of this label; theory gives it `share` quarters
        of the link.
        """
        return Measurement(
            scenario,
            goodput(flow, 60),
            share * quarter,
            "The publisher's theory leaves out the headers, and equal shares are a long-run mean: over 25 minutes of network "
            "time a second run has {value:.3f} Mbit/s.",
            longer,
        )

    return {("h1", "goodput"): number("h1-h3 cubic", 1), ("h2", "goodput"): number("h2-h3 cubic ×3", 3)}


def _delayed_network(aqm: str, h1_ms: float) -> Topology:
    """Return the network of h1 and h2, which send to h3 over a link of 5 Mbit/s; packets back to them are delayed, by
    300 ms for h2 and by `h1_ms` for h1. `aqm` is the queue's discipline: "fifo", "red" or "gentle red".
    """
    options = {"red": RED, "gentle red": GENTLE_RED, "fifo": {}}[aqm]
    shape = {"aqm": "red" if "red" in aqm else "fifo", "aqm_options": options}
    return topology_from_links(
        Link("h1", "r1", reverse={"delay_ms": h1_ms}),
        Link("h2", "r1", reverse={"delay_ms": NEAR_MS}),
        Link("r1", "h3", rate_mbps=BOTTLENECK_MBPS, queue_packets=QUEUE, **shape, reverse=UNLIMITED),
    )


def _rtt_fairness(congestion: str, h1_ms: float) -> Measurements:
    """Return the measurements of the goodput (Mbit/s) of two flows with this congestion control, "reno" or "cubic",
    whose round-trip times are `h1_ms` (of h1) and 300 ms (of h2), by host and quantity, such as ("h1", "goodput").
    """

    def scenario(aqm: str = "red", seed: int = 1) -> Scenario:
        """Return the scenario of both flows behind a queue of this discipline ("red" or "gentle red"); `seed` is that
        of the run.
        """
        traffic = [Tcp("h1", "h3", congestion=congestion), Tcp("h2", "h3", congestion=congestion)]
        return Scenario(_delayed_network(aqm, h1_ms), traffic, duration_s=600, interval_s=5, seed=seed)

    exponent = theory.RTT_EXPONENTS[congestion, "random"]
    limit = theory.tcp_goodput_limit_mbps(BOTTLENECK_MBPS)
    shares = theory.rtt_shares_mbps(limit, [h1_ms, NEAR_MS], exponent)
    sentence = {
        "reno": "All theories here fill the link, and Reno does not: it halves its window, and RED's 23 packets do not last "
        "until it is back. Which flow loses is luck: with another seed a second run has {value:.0f} kbit/s.",
        "cubic": "The publisher's theory is Reno's. CUBIC grows by the clock, so a far flow gets more, and how much depends on "
        "whether both lose at once: with a RED that drops fewer at a time a second run has {value:.0f} kbit/s.",
    }[congestion]
    test = scenario(seed=2) if congestion == "reno" else scenario("gentle red")
    # The link is not full, and this RED drops many packets at a time, so losses are neither synchronized nor random.
    return {
        (src, "goodput"): Measurement(
            scenario(), goodput(f"{src}-h3 {congestion}", 60), float(share), sentence, test, holds=False
        )
        for src, share in zip(("h1", "h2"), shares, strict=True)
    }


def _two_bottlenecks() -> Measurements:
    """Return the measurements of goodput (Mbit/s) and round-trip time (ms) of three CUBIC flows over one or both of two
    links of 5 Mbit/s in a row, with 150 ms on the way out of each host, by pair and quantity, such as ("h1-h2", "rtt").
    """
    slow: dict[str, Any] = {"rate_mbps": BOTTLENECK_MBPS, "queue_packets": QUEUE, "aqm": "red", "aqm_options": RED}
    topology = topology_from_links(
        Link("h1", "r1", delay_ms=150, reverse={"delay_ms": 0}),
        Link("r1", "r2", **slow, reverse=UNLIMITED),
        Link("h2", "r2", delay_ms=150, reverse={"delay_ms": 0}),
        Link("r2", "h3", **slow, reverse={**UNLIMITED, "delay_ms": 150}),
    )

    def scenario(seed: int) -> Scenario:
        """Return the scenario of the three flows; `seed` is that of the run."""
        return Scenario(topology, [Tcp(*ends(pair)) for pair in routes], duration_s=600, interval_s=5, seed=seed)

    routes = {"h1-h2": ["r1"], "h1-h3": ["r1", "r2"], "h2-h3": ["r2"]}
    limit = theory.tcp_goodput_limit_mbps(BOTTLENECK_MBPS)
    shares = theory.cubic_optimum_mbps(dict.fromkeys(("r1", "r2"), limit), routes, dict.fromkeys(routes, 300.0))
    found: dict[tuple[str, str], Measurement] = {}
    for pair, share in shares.items():
        flow = f"{pair} cubic"
        found[pair, "goodput"] = Measurement(
            scenario(1),
            goodput(flow, 60),
            share,
            "The publisher's theory is proportional fairness; CUBIC's own optimum gives the long flow more. Both fill the "
            "links, which RED's short queue does not quite: with another seed a second run has {value:.0f} kbit/s.",
            scenario(2),
            holds=False,
        )
        found[pair, "rtt"] = Measurement(
            scenario(1),
            rtt(flow),
            None,
            "The publisher's theory is propagation alone. The longer queues of their measurement are not explained: with "
            "another seed a second run has {value:.0f} ms.",
            scenario(2),
        )
    return found


def _red(**options: Any) -> dict[str, Any]:
    """Return the fields of a link with a queue of 1000 packets and the lab's RED; `options` replace or extend RED's
    options, such as max_packets=24 or ecn=True.
    """
    return {"queue_packets": 1000, "aqm": "red", "aqm_options": {**RED, **options}}


def _aqm(congestion: str, sentence: str, aqm: dict[str, Any], test: dict[str, Any]) -> Measurements:
    """Return the measurements of the goodput (Mbit/s) of flows of h1 and h2 with this congestion control behind a queue
    with the link's fields `aqm`, and of h1's round-trip time (ms), by host and quantity, such as ("h1", "rtt"). `test`
    has the link's fields in the second run, which `sentence` describes.
    """

    def scenario(queue: dict[str, Any]) -> Scenario:
        """Return the scenario of both flows behind a queue with these fields of its link, such as queue_packets and
        aqm.
        """
        traffic = [Tcp("h1", "h3", congestion=congestion), Tcp("h2", "h3", congestion=congestion)]
        return Scenario(topologies.three_pcs(**queue), traffic, duration_s=300, interval_s=1)

    half = theory.tcp_goodput_limit_mbps(BOTTLENECK_MBPS) / 2
    found: dict[tuple[str, str], Measurement] = {}
    for src in ("h1", "h2"):
        flow = f"{src}-h3 {congestion}"
        luck = (
            "Who gets more in these minutes is luck, the sum is the link's limit; "
            + sentence
            + " has {value:.0f} kbit/s here."
        )
        found[src, "goodput"] = Measurement(scenario(aqm), goodput(flow, 60), half, luck, scenario(test))
    waiting = "What stands in the queue is the round-trip time; " + sentence + " has {value:.0f} ms."
    flow = f"h1-h3 {congestion}"
    found["h1", "rtt"] = Measurement(scenario(aqm), rtt(flow), None, waiting, scenario(test))
    return found


def measurements() -> Settings:
    """Return the measurements of each published setting of this lab, by table and setting, such as ("collapse", "TCP"),
    then by flow and quantity, such as ("h1-h4", "goodput").
    """
    alone = _udp_alone(5)
    tcp = Scenario(topologies.three_pcs(queue_packets=QUEUE), [Tcp("h1", "h3")], duration_s=60, interval_s=1)
    framed = Scenario(
        topologies.three_pcs(queue_packets=QUEUE, framing="ethernet"), [Tcp("h1", "h3")], duration_s=60, interval_s=1
    )
    limit = theory.tcp_goodput_limit_mbps(BOTTLENECK_MBPS)
    return {
        ("udp-max", "UDP 1000 B payload in 5 Mbit/s"): {("h1-h3", "goodput"): alone["h1-h3", "goodput"]},
        ("udp-rate", "5 Mbit/s offered to 5 Mbit/s"): alone,
        ("udp-rate", "10 Mbit/s offered to 5 Mbit/s"): _udp_alone(10),
        ("udp-rate", "20 Mbit/s offered to 5 Mbit/s"): _udp_alone(20),
        ("tcp-max", "TCP in 5 Mbit/s"): {
            ("h1-h3", "goodput"): Measurement(
                tcp,
                goodput("h1-h3 cubic", 5),
                limit,
                "The publisher's theory counts a wire's framing on segments of 2896 bytes, which segmentation offload makes and no "
                "wire carries; tc counts 1514 bytes for 1448, and with a wire's 1538 a second run has {value:.0f} kbit/s.",
                framed,
            )
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
        ("rtt-fairness", "D2 cubic 800 ms against 300 ms"): _rtt_fairness("cubic", 800),
        ("rtt-fairness", "D3 cubic 1300 ms against 300 ms"): _rtt_fairness("cubic", 1300),
        ("rtt-fairness", "D2 reno 800 ms against 300 ms"): _rtt_fairness("reno", 800),
        ("rtt-fairness", "D3 reno 1300 ms against 300 ms"): _rtt_fairness("reno", 1300),
        ("two-bottlenecks", "three TCP flows over two 5 Mbit/s routers"): _two_bottlenecks(),
        ("aqm", "cubic and a 1000-packet queue"): _aqm(
            "cubic", LONG_QUEUE, {"queue_packets": 1000}, {"queue_packets": 2000}
        ),
        ("aqm", "cubic with RED"): _aqm("cubic", MORE_MARKS, _red(), _red(**HIGHER)),
        ("aqm", "dctcp with RED and ECN"): _aqm("dctcp", MORE_MARKS, _red(ecn=True), _red(**HIGHER, ecn=True)),
    }
