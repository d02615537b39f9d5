"""appenzeller: 100 to 400 long TCP flows through a real router's queue of a few packets, at 155 Mbit/s.

The paper gives neither the flows' RTTs nor their starting times. Here, RTTs are spread evenly around 100 ms, with which
155 Mbit/s are the 1291 packets of the paper, and starts are spread over the first 5 s.
"""

from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_replication.measurement import Measurement, Settings, utilization

RATE_MBPS = 155
RTT_MS = 100
PAIRS = 10
START_S = 5.0
BOTTLENECK = "r1-eth0"
# The sizes of the router's queue by number of flows: half, one, two and three times RTT * C / sqrt(n).
QUEUES = {100: (64, 129, 258, 387), 200: (46, 91, 182, 273), 300: (37, 74, 148, 222), 400: (32, 64, 128, 192)}


def _scenario(flows: int, queue_packets: int) -> Scenario:
    """Return the scenario with this number of long Reno flows, a multiple of 10, between ten pairs of hosts, and a
    queue of `queue_packets` packets in the router.
    """
    near = [f"h{pair}" for pair in range(1, PAIRS + 1)]
    far = [f"h{pair}" for pair in range(PAIRS + 1, 2 * PAIRS + 1)]
    # The delays range from a half to one and a half of the mean.
    delays_ms = [RTT_MS / 2 * (0.5 + (pair + 0.5) / PAIRS) for pair in range(PAIRS)]
    links = [
        Link("r1", "r2", rate_mbps=RATE_MBPS, queue_packets=queue_packets),
        *(Link(host, "r1", delay_ms=delay_ms) for host, delay_ms in zip(near, delays_ms, strict=True)),
        *(Link("r2", host) for host in far),
    ]
    traffic = [
        Tcp(src, dst, congestion="reno", streams=flows // PAIRS, start_s=START_S * pair / PAIRS)
        for pair, (src, dst) in enumerate(zip(near, far, strict=True))
    ]
    return Scenario(
        Topology(hosts=[*near, *far], routers=["r1", "r2"], links=links), traffic, duration_s=30, interval_s=1
    )


def measurements() -> Settings:
    """Return the measurements of the utilization (0 to 1) of the router's link, by table and setting, such as
    ("router", "100 flows and 64 places"), then by flow and quantity: ("all", "utilization").
    """
    return {
        ("router", f"{flows} flows and {places} places"): {
            ("all", "utilization"): Measurement(_scenario(flows, places), utilization(BOTTLENECK, RATE_MBPS))
        }
        for flows, queues in QUEUES.items()
        for places in queues
    }
