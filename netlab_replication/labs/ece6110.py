"""ece6110: one TCP flow over links of 5, 1 and 5 Mbit/s, simulated in ns-3."""

from netlab import theory
from netlab.network import topologies
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_replication.measurement import Measurement, Settings, goodput, queue_throughput_mbps


def measurements() -> Settings:
    """Return the measurement of the goodput in Mbit/s, after 20 s, of the lab's only flow, by table and setting, then
    by flow and quantity, ("client-server", "goodput").
    """
    topology = topologies.chain([5, 1, 5], [10, 20, 10], queue_packets=50)
    scenario = Scenario(topology, [Tcp("h1", "h2", congestion="reno")], duration_s=120, interval_s=1)
    goodput_of_reno = Measurement(
        scenario,
        goodput("h1-h2 reno", 20),
        theory.tcp_goodput_limit_mbps(1),
        "The publisher's ideal leaves out the headers: with them, the bottleneck's own counter has {value:.0f} byte/s.",
        scenario,
        read_second=queue_throughput_mbps("r1-eth1"),
    )
    return {("window", "ideal goodput of a 1 Mbit/s bottleneck"): {("client-server", "goodput"): goodput_of_reno}}
