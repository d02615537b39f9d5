"""siit: two notebooks and a real cable of 100 Mbit/s, so rates have Ethernet's framing; then 802.11g between them."""

from netlab import theory
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Command, Tcp, Traffic, Udp
from netlab_replication.measurement import IPERF_PAYLOAD_BYTES, Measurement, Measurements, Settings, goodput

SEND_BUFFER_BYTES = 212_992
"""The default send buffer of a UDP socket in Linux (`net.core.wmem_default`)."""
TCP_HELD_PACKETS, UDP_HELD_PACKETS = 88, 46
"""The measured numbers of packets that a connection (two segments of 64 kB, TCP small queues) and a UDP socket keep in
their host's queue.
"""


def _wire(delay_ms: float) -> Topology:
    """Return two hosts, h1 and h2, on a cable of 100 Mbit/s with this one-way delay in ms and Ethernet's framing."""
    link = Link("h1", "h2", rate_mbps=100, delay_ms=delay_ms, queue_packets=1000, framing="ethernet")
    return Topology(hosts=["h1", "h2"], links=[link])


def _window(window_bytes: int) -> Measurements:
    """Return the measurements of the throughput in Mbit/s of a TCP flow over the cable, whose window is `window_bytes`,
    by flow and quantity: ("client-server", "throughput").
    """

    def scenario(delay_ms: float) -> Scenario:
        """Return the scenario of the transfer over a cable with this one-way delay in ms."""
        # The lab had disabled segmentation offload.
        frame_by_frame = Command("h1", "ip link set dev h1-eth0 gso_max_segs 1")
        flow = Tcp("h1", "h2", congestion="reno", window_bytes=window_bytes, start_s=0.5)
        return Scenario(_wire(delay_ms), [frame_by_frame, flow], duration_s=10)

    # Use the RTT of a full segment and its acknowledgement, which is longer than that of a ping of 56 bytes.
    rtt_ms = theory.segment_rtt_ms(_wire(8).path_hops("h1", "h2"), framing="ethernet")
    whole_bytes = window_bytes // theory.MSS_BYTES * theory.MSS_BYTES
    expected = theory.windowed_goodput_mbps(float(whole_bytes), 100, rtt_ms, framing="ethernet")
    return {
        ("client-server", "throughput"): Measurement(
            scenario(8),
            goodput("h1-h2 reno", 1),
            expected,
            "Their ping had 16.6 ms, 0.6 more than the delays that they set: over a path that long a second run has {value:.1f} Mbit/s. "
            "What is left of the gap is not explained.",
            scenario(8.3),
        )
    }


def _tcp_beside_udp(udp_flows: int) -> Measurement:
    """Return the measurement of the total goodput in Mbit/s of one TCP and `udp_flows` UDP flows of one host: their
    sockets wait for room in the queue of its own interface, and nothing is lost.
    """
    udp = Udp(
        "h1",
        "h2",
        rate_mbps=100,
        payload_bytes=IPERF_PAYLOAD_BYTES,
        spacing="random",
        send_buffer_bytes=SEND_BUFFER_BYTES,
    )
    flows: list[Traffic] = [*[udp] * udp_flows, Tcp("h1", "h2")]
    # A full link carries whole frames of both kinds; their numbers change the result by at most a per cent.
    held_packets = [*[UDP_HELD_PACKETS] * udp_flows, TCP_HELD_PACKETS]
    payloads = [*[IPERF_PAYLOAD_BYTES] * udp_flows, theory.MSS_BYTES]
    frames = [
        *[theory.udp_wire_bytes(IPERF_PAYLOAD_BYTES, "ethernet")] * udp_flows,
        theory.tcp_wire_bytes(theory.MSS_BYTES, "ethernet"),
    ]
    expected = float(sum(theory.held_shares_mbps(held_packets, payloads, frames, 100)))
    return Measurement(
        Scenario(_wire(0.1), flows, duration_s=10, interval_s=1), lambda run: float(run.goodput_mbps(1).sum()), expected
    )


def _air(*, short_preamble: bool) -> Scenario:
    """Return the scenario of a TCP flow h1-h2 over 802.11g with RTS/CTS as the lab had it, with a short or a long
    preamble.
    """
    # Their router served 802.11b and g ("RTS/CTS threshold 250 bytes"); 11 Mbit/s is the highest rate that both understand.
    options = {
        "protection": "rts",
        "protection_rate_mbps": 11,
        "protect_above_bytes": 250,
        "short_preamble": short_preamble,
    }
    link = Link("h1", "h2", medium="802.11g", medium_options=options, queue_packets=1000)
    return Scenario(Topology(hosts=["h1", "h2"], links=[link]), [Tcp("h1", "h2")], duration_s=10)


def _wireless() -> Measurements:
    """Return the measurements of the throughput in Mbit/s of TCP over 802.11g, by flow and quantity: ("client-server",
    "throughput").
    """
    options = _air(short_preamble=False).topology.links[0].forward.medium_options
    return {
        ("client-server", "throughput"): Measurement(
            _air(short_preamble=False),
            goodput("h1-h2 cubic", 1),
            theory.wifi_tcp_limit_mbps(options=options),
            "The lab says RTS/CTS above 250 bytes and a router for b and g, not which preamble or rate its cards used. With the "
            "long preamble RTS and CTS cost most, with the short one a second run has {value:.1f} Mbit/s: theirs lies between. "
            "Which mixture of preamble, slot, slower rate and repeated frames it was is not known.",
            _air(short_preamble=True),
        )
    }


def measurements() -> Settings:
    """Return the measurements of each published setting of this lab, by table and setting, such as ("throughput",
    "802.11g TCP"), then by flow and quantity, such as ("client-server", "throughput").
    """
    limit = theory.tcp_goodput_limit_mbps(100, framing="ethernet")
    plain = Scenario(_wire(0.1), [Tcp("h1", "h2")], duration_s=10)
    return {
        ("throughput", "wired 100 Mbit/s TCP"): {
            ("client-server", "throughput"): Measurement(plain, goodput("h1-h2 cubic", 1), limit)
        },
        ("throughput", "802.11g TCP"): _wireless(),
        ("bdp", "100 Mbit/s 16 ms window 126 kB"): _window(126_000),
        ("bdp", "100 Mbit/s 16 ms window 150 kB"): _window(150_000),
        ("bdp", "100 Mbit/s 16 ms window 187.5 kB"): _window(187_500),
        ("bdp", "100 Mbit/s 16 ms window 192 kB"): _window(192_000),
        ("tcp-beside-udp", "TCP and p UDP flows of 100 Mbit/s for 60 s: total"): {
            ("all", "throughput"): _tcp_beside_udp(2)
        },
    }
