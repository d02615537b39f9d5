"""hifi: the shortest queues that keep 62.5 Mbit/s 98 % full, found by a search in Mininet-HiFi with many TCP flows over 87 ms.

A row is the queue length that the search found (the median of three), so the published utilization is 98 %.
"""

from netlab import theory
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_replication.measurement import Measurement, Settings, utilization

RATE_MBPS = 62.5
DELAY_MS = 43.5
BOTTLENECK = "r1-eth0"
QUEUES = {20: 15, 100: 45, 200: 2}
"""The queue lengths in packets that their search found, by the number of flows."""


def _scenario(flows: int, queue_packets: int) -> Scenario:
    """Return the scenario with `flows` Reno flows, half of them from each of two hosts, and a queue of `queue_packets`
    packets in the router.
    """
    links = [
        Link(
            "r1",
            "h1",
            rate_mbps=RATE_MBPS,
            queue_packets=queue_packets,
            reverse={"rate_mbps": None, "queue_packets": None},
        ),
        *(Link(host, "r1", delay_ms=DELAY_MS) for host in ("h2", "h3")),
    ]
    traffic = [Tcp(host, "h1", congestion="reno", streams=flows // 2) for host in ("h2", "h3")]
    return Scenario(
        Topology(hosts=["h1", "h2", "h3"], routers=["r1"], links=links), traffic, duration_s=40, interval_s=1
    )


def measurements() -> Settings:
    """Return the measurements of the utilization (0 to 1) of the router's link, by table and setting, such as
    ("search", "20 flows and 15 places"), then by flow and quantity, ("all", "utilization"). Reno, to which the rule
    applies, replaces BIC, which netlab's kernels lack.
    """
    found: Settings = {}
    read = utilization(BOTTLENECK, RATE_MBPS)
    for flows, places in QUEUES.items():
        rule = round(theory.many_flows_queue_packets(RATE_MBPS, 2 * DELAY_MS, flows))
        sentence = (
            f"With the {rule} places of the rule, RTT * C / sqrt(n), a second run of {flows} flows uses {{value:.1f}} %. Their "
            "queue may have counted segments that offload had joined as one packet, and they sent BIC (a guess)."
        )
        found["search", f"{flows} flows and {places} places"] = {
            ("all", "utilization"): Measurement(_scenario(flows, places), read, None, sentence, _scenario(flows, rule))
        }
    return found
