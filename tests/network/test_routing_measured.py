"""Routes in the guest: parallel links, hosts with several addresses, networks of a hundred hosts."""

from __future__ import annotations

import pytest

import netlab as nl
from tests.agreement import agrees, tcp_limit_mbps

pytestmark = pytest.mark.pocket


def test_traffic_takes_the_parallel_link_that_theory_takes() -> None:
    links = [
        nl.Link("h1", "r1"),
        nl.Link("r1", "r2", rate_mbps=9, delay_ms=5, queue_packets=50),
        nl.Link("r1", "r2", rate_mbps=2, delay_ms=50, queue_packets=50),
        nl.Link("r2", "h2"),
    ]
    network = nl.Topology(["h1", "h2"], ["r1", "r2"], links=links)
    run = nl.run(network, [nl.Ping("h1", "h2", count=3), nl.Tcp("h1", "h2", start_s=2)], 12)
    ping, tcp = run.flows.to_dict(orient="records")
    agrees("RTT (ms)", ping["rtt_ms"], nl.theory.ping_rtt_ms(network.path_hops("h1", "h2")), relative=0.001)
    limit_mbps = tcp_limit_mbps(network.bottleneck_mbps("h1", "h2"))
    agrees("goodput (Mbit/s)", tcp["goodput_mbps"], limit_mbps, relative=0.02)
    assert limit_mbps == pytest.approx(9 * 1448 / 1514)


def test_a_host_with_two_links_answers_at_each_of_its_addresses() -> None:
    """h2's first link leads to h3 alone; h1 finds it behind r1 all the same, at both addresses."""
    network = nl.Topology(
        ["h1", "h2", "h3"],
        ["r1"],
        links=[
            nl.Link("h2", "h3", rate_mbps=2, delay_ms=10),
            nl.Link("h1", "r1"),
            nl.Link("r1", "h2", rate_mbps=5, delay_ms=20),
        ],
    )
    traffic = [
        nl.Ping("h1", "h2", count=2),
        nl.Ping("h3", "h2", count=2, start_s=1),
        nl.Ping("h2", "h1", count=2, start_s=2),
        nl.Command("h1", "ping -n -c 1 -W 1 10.0.1.1", start_s=3),
        nl.Command("h1", "ping -n -c 1 -W 1 10.0.3.2", start_s=4),
    ]
    run = nl.run(network, traffic, 6)
    flows = run.flows
    for row, (src, dst) in zip(
        flows.to_dict(orient="records"), [("h1", "h2"), ("h3", "h2"), ("h2", "h1")], strict=False
    ):
        agrees(
            f"RTT {src}-{dst} (ms)", row["rtt_ms"], nl.theory.ping_rtt_ms(network.path_hops(src, dst)), relative=0.001
        )
    assert list(flows["loss_rate"][:3]) == [0, 0, 0]
    for output in run.commands["stdout"]:
        assert "1 received" in output, output


def test_each_pair_of_a_hundred_hosts_is_joined() -> None:
    """Routes that many subnets share lead to each of them."""
    network = nl.topologies.dumbbell(50, rate_mbps=100, delay_ms=1)
    traffic = [nl.Ping(f"h{k}", f"h{k + 50}", count=1) for k in range(1, 51)]
    traffic += [nl.Ping("h1", "h2", count=1, start_s=0.5), nl.Ping("h100", "h51", count=1, start_s=0.5)]
    flows = nl.run(network, traffic, 1).flows
    assert flows["loss_rate"].max() == 0
