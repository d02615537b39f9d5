"""simpleperf: nine hosts, links of 40, 30 and 20 Mbit/s in a row, iperf and the lab's own tool, in Mininet."""

from collections.abc import Sequence

from netlab import theory
from netlab.base.headers import FRAME_BYTES
from netlab.base.units import BITS_PER_BYTE
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Ping, Tcp, Traffic, Udp
from netlab_replication.measurement import (
    IPERF_PAYLOAD_BYTES,
    MEBI,
    Measurement,
    Measurements,
    Settings,
    ends,
    goodput,
    loss,
    queue_throughput_mbps,
    rtt,
    stream_goodput,
)

SECONDS = 25
PORTFOLIO_LINKS = {"L1": (40, 10, 67), "L2": (30, 20, 100), "L3": (20, 10, 33)}
FRAME_BITS = FRAME_BYTES * BITS_PER_BYTE


def portfolio(shared_limit: bool = False) -> Topology:
    """Return the network of the lab's nine hosts; with `shared_limit`, queues are shortened by the packets in flight on
    their links, because these count against a queue's limit in Mininet's netem.
    """
    if not shared_limit:
        return topologies.portfolio()
    return topologies.portfolio(
        queue_packets=[
            queue - round(rate_mbps * 1e3 * delay_ms / FRAME_BITS)
            for rate_mbps, delay_ms, queue in PORTFOLIO_LINKS.values()
        ]
    )


def _iperf(src: str, dst: str, megabits: float, link: str) -> Measurements:
    """Return the measurements of iperf's UDP between the hosts `src` and `dst` for 10 s, by pair and quantity,
    "goodput" and "loss", such as ("h1-h4", "loss"). `megabits` is the rate as iperf counts it, in units of 2^20 bit/s,
    and `link` (a key of PORTFOLIO_LINKS) the slowest link on the path.
    """
    offered_mbps = megabits * MEBI / 1e6
    rate_mbps, _, queue = PORTFOLIO_LINKS[link]

    def scenario(rate: float) -> Scenario:
        """Return the scenario of the UDP flow at the rate `rate` in Mbit/s."""
        udp = Udp(src, dst, rate_mbps=rate, payload_bytes=IPERF_PAYLOAD_BYTES)
        return Scenario(topologies.portfolio(), [udp], duration_s=10, interval_s=0.5)

    flow = f"{src}-{dst} udp"
    limit = theory.udp_goodput_limit_mbps(rate_mbps, IPERF_PAYLOAD_BYTES)
    lost = theory.udp_loss_rate(offered_mbps, rate_mbps, IPERF_PAYLOAD_BYTES, queue_packets=queue, duration_s=10)
    return {
        (f"{src}-{dst}", "goodput"): Measurement(scenario(offered_mbps), goodput(flow), limit),
        (f"{src}-{dst}", "loss"): Measurement(
            scenario(offered_mbps),
            loss(flow),
            lost,
            f"iperf's M is 2^20: '{megabits:g}M' sends {offered_mbps:.2f} Mbit/s, {offered_mbps / limit:.3f} times the "
            f"link's limit, and the queue's {queue} datagrams are late, not lost, once in 10 s; offered {megabits:g}·10⁶ bit/s, "
            "a second run loses only {value:.2f} %.",
            scenario(megabits),
        ),
    }


def _separate_transfer(
    topology: Topology, src: str, dst: str, name: str, small: Topology | None = None
) -> Measurements:
    """Return the measurements of a ping's round-trip time and then the goodput of a TCP transfer of 25 s from `src` to
    `dst`, alone in a network, by `name` and quantity: (`name`, "rtt") and (`name`, "throughput"). `small` is the
    network of the transfer's second run, with shorter queues; None repeats the first.
    """

    def scenario(network: Topology) -> Scenario:
        """Return the scenario of the ping and the later TCP transfer in this network."""
        traffic: list[Traffic] = [Ping(src, dst, count=25), Tcp(src, dst, start_s=6, duration_s=SECONDS)]
        return Scenario(network, traffic, duration_s=6 + SECONDS, interval_s=0.5)

    path = topology.path_hops(src, dst)
    limit = theory.tcp_goodput_limit_mbps(path[theory.bottleneck(path)].rate_mbps)
    flow = f"{src}-{dst} cubic"
    return {
        (name, "rtt"): Measurement(scenario(topology), rtt(f"{src}-{dst} ping"), theory.ping_rtt_ms(path)),
        (name, "throughput"): Measurement(
            scenario(topology),
            goodput(flow),
            limit,
            "Their theory leaves out the headers: the same link carried {value:.2f} Mbit/s with them.",
            scenario(topology),
            read_second=queue_throughput_mbps("r1-eth1"),
        )
        if small is None
        else Measurement(
            scenario(topology),
            goodput(flow),
            limit,
            "A queue well below the BDP costs throughput, and Mininet's queue limit also counts what is in flight in netem: "
            "with only the room that this leaves in each queue a second run has {value:.2f} Mbit/s.",
            scenario(small),
        ),
    }


def _link(name: str) -> Measurements:
    """Return the measurements of one of the lab's links (a key of PORTFOLIO_LINKS, such as "L1") between two hosts, by
    link and quantity, such as ("r1-r2", "rtt").
    """
    rate_mbps, delay_ms, queue = PORTFOLIO_LINKS[name]
    topology = topologies.dumbbell(pairs=1, rate_mbps=rate_mbps, delay_ms=delay_ms, queue_packets=queue)
    number = int(name[1])
    return _separate_transfer(topology, "h1", "h2", f"r{number}-r{number + 1}")


def _simultaneous_transfers(
    pairs: Sequence[str], shares_mbps: Sequence[float], streams: Sequence[int] | None = None, shared: bool = True
) -> Measurements:
    """Return the measurements of simultaneous TCP transfers of 25 s, each with a ping, between pairs such as "h1-h4",
    by pair and quantity ("rtt" and "throughput"; connections of one pair are "h1-h4 (1)" and so on). By pair,
    `shares_mbps` has theory's goodput of each connection in Mbit/s and `streams` the number of connections (None: one
    each); `shared` is True if the pairs share a link, where theory does not count.
    """
    reason = "A drop-tail queue promises the sum, not the shares" if shared else "Their theory leaves out the headers"

    def scenario(network: Topology, duration_s: float) -> Scenario:
        """Return the scenario of all transfers and pings in this network, for a duration in s."""
        traffic: list[Traffic] = [
            Tcp(*ends(pair), streams=count) for pair, count in zip(pairs, streams or [1] * len(pairs), strict=True)
        ]
        traffic += [Ping(*ends(pair), interval_s=1 if duration_s == SECONDS else 0.5) for pair in pairs]
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
            None,
            "Their queues hold fewer packets than they say, because Mininet's limit also counts what is in flight in "
            "netem; with only the room that this leaves, a second run has a mean of {value:.1f} ms.",
            small,
        )
        for stream in range(count):
            name = pair if count == 1 else f"{pair} ({stream + 1})"
            read = goodput(flow) if count == 1 else stream_goodput(flow, stream)
            found[name, "throughput"] = Measurement(
                base,
                read,
                share_mbps,
                f"{reason}; in a second run, of 200 s, this flow has {{value:.2f}} Mbit/s of an equal share of {share_mbps:.2f}.",
                long,
                holds=not shared,
            )
    return found


def measurements() -> Settings:
    """Return the measurements of each published setting of this lab, by table and setting, such as ("path", "one flow
    alone"), then by flow and quantity, such as ("h1-h4", "rtt").
    """
    whole = portfolio()
    small = portfolio(shared_limit=True)
    l2, l3 = (theory.tcp_goodput_limit_mbps(PORTFOLIO_LINKS[name][0]) for name in ("L2", "L3"))
    separate = _simultaneous_transfers(["h1-h4", "h8-h9"], [l2, l3], shared=False)
    parallel = {
        key: measurement
        for key, measurement in _simultaneous_transfers(["h1-h4", "h2-h5", "h3-h6"], [l2 / 4] * 3, [2, 1, 1]).items()
        if key[1] == "throughput"
    }
    return {
        ("udp-rate", "iperf UDP 30 Mbit/s"): _iperf("h1", "h4", 30, "L2"),
        ("udp-rate", "iperf UDP 20 Mbit/s"): {**_iperf("h1", "h9", 20, "L3"), **_iperf("h7", "h9", 20, "L3")},
        ("link", "L1 r1-r2 40 Mbit/s 10 ms 67 pkt"): _link("L1"),
        ("link", "L2 r2-r3 30 Mbit/s 20 ms 100 pkt"): _link("L2"),
        ("link", "L3 r3-r4 20 Mbit/s 10 ms 33 pkt"): _link("L3"),
        ("path", "one flow alone"): {
            key: measurement
            for pair in ("h1-h4", "h1-h9", "h7-h9")
            for key, measurement in _separate_transfer(whole, *ends(pair), pair, small).items()
        },
        ("multiplexing", "two pairs sharing L1 and L2"): _simultaneous_transfers(["h1-h4", "h2-h5"], [l2 / 2] * 2),
        ("multiplexing", "three pairs sharing L1 and L2"): _simultaneous_transfers(
            ["h1-h4", "h2-h5", "h3-h6"], [l2 / 3] * 3
        ),
        ("multiplexing", "two pairs sharing L2 only"): _simultaneous_transfers(["h1-h4", "h7-h9"], [l2 / 2] * 2),
        ("multiplexing", "two pairs sharing only router r3"): separate,
        ("parallel", "h1 opens two connections beside h2 and h3"): parallel,
    }
