"""Commands in the library kernel, which has no programs: the lines that are read there do what they do in the pocket kernel."""

from types import SimpleNamespace

import pytest

import netlab as nl
from netlab import engines
from netlab.base.errors import NotHereError, RunError
from netlab_engines.library import commands, missing_programs
from netlab_engines.netlink import links
from netlab_engines.netlink.qdiscs import TcCommand
from tests.engines.parity import differences

WIRE = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2")])
QUEUE = nl.Topology(
    hosts=["h1", "h2"],
    routers=["r1"],
    links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=5, delay_ms=10, queue_packets=20)],
)
QUICK = "ip route | while read route; do ip route change $route quickack 1; done"
SENT = nl.Udp("h1", "h2", rate_mbps=10, start_s=0.5, duration_s=1)
SAME = {
    "netem": (WIRE, [nl.Command("h1", "tc qdisc add dev h1-eth0 root netem delay 300ms limit 100"), SENT]),
    "netem without a limit": (
        WIRE,
        [
            nl.Command("h1", "tc qdisc add dev h1-eth0 root netem delay 1s"),
            nl.Udp("h1", "h2", rate_mbps=40, start_s=0.5, duration_s=0.3),
        ],
    ),
    "datagrams that come too late": (
        WIRE,
        [nl.Command("h1", "tc qdisc add dev h1-eth0 root netem delay 1s limit 2000"), nl.Udp("h1", "h2", rate_mbps=3)],
    ),
    "netem with a rate": (WIRE, [nl.Command("h1", "tc qdisc add dev h1-eth0 root netem rate 3mbit limit 50"), SENT]),
    "bucket": (
        WIRE,
        [
            nl.Command("h1", "tc qdisc add dev h1-eth0 root tbf rate 2mbit burst 3kb latency 50ms"),
            nl.Tcp("h1", "h2", num_bytes=200_000),
        ],
    ),
    "fifo in a bucket": (
        WIRE,
        [
            nl.Command(
                "h1",
                "tc qdisc add dev h1-eth0 root handle 1: tbf rate 2mbit burst 3028 limit 100000; "
                "tc qdisc add dev h1-eth0 parent 1: handle 10: pfifo limit 7",
            ),
            nl.Udp("h1", "h2", rate_mbps=3, start_s=0.1),
        ],
    ),
    "another queue, then none": (
        WIRE,
        [
            nl.Command("h1", "tc qdisc add dev h1-eth0 root netem delay 20ms"),
            nl.Command("h1", "tc qdisc change dev h1-eth0 root netem delay 40ms", start_s=0.753),
            nl.Command("h1", "tc qdisc del dev h1-eth0 root", start_s=1.001),
            nl.Tcp("h1", "h2", window_bytes=20_000, num_bytes=500_000, start_s=0.5),
        ],
    ),
    "segments and acknowledgements": (
        QUEUE,
        [
            nl.Command("h1", "ip link set dev h1-eth0 gso_max_segs 1"),
            nl.Command("h2", QUICK),
            nl.Tcp("h1", "h2", start_s=0.5),
        ],
    ),
    "a flow that starts with them": (
        QUEUE,
        [nl.Command("h1", "ip link set dev h1-eth0 gso_max_segs 1"), nl.Tcp("h1", "h2")],
    ),
    "settings": (
        QUEUE,
        [
            nl.Command("h1", "sysctl -w net.ipv4.tcp_sack=0 net.ipv4.tcp_congestion_control=reno"),
            nl.Command("h2", "sysctl -qw net.ipv4.tcp_sack=0", start_s=0.1),
            nl.Ping("h1", "h2", count=2),
            nl.Tcp("h1", "h2", start_s=0.5),
        ],
    ),
    "routes": (
        QUEUE,
        [
            nl.Command("h1", "ip route"),
            nl.Command("r1", "ip route show; ip link set r1-eth1 down", start_s=1),
            nl.Command("h1", "ip route del 10.0.1.0/24 && ip route show", start_s=1.5),
            nl.Ping("h1", "h2", interval_s=0.3),
        ],
    ),
}


@pytest.mark.pocket
@pytest.mark.parametrize("name", SAME)
def test_lines_do_to_the_last_bit_what_programs_do_in_the_pocket_kernel(name: str) -> None:
    network, traffic = SAME[name]
    runs = [nl.run(network, traffic, duration_s=2, interval_s=0.1, engine=engine) for engine in ("library", "pocket")]
    assert not differences(*runs)
    assert set(runs[0].commands.exit_code) == {0}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ping -c1 h2", "it needs `ping`. Only"),
        ("tc qdisc show; cat x", "for the counters of queues see run.queues"),
        ("tc -s qdisc show", "only `tc qdisc` is supported"),
        ("tc qdisc add dev h1-eth0 root netem dlay 3ms", "'dlay' is not supported; netem has limit, delay"),
        ("tc qdisc add dev h1-eth0 root netem delay 3m", "the delay is '3m', not a number with one of the units us"),
        ("tc qdisc add dev h1-eth0 root tbf rate 5mbit", "tbf needs a rate, a burst, and a limit or a latency"),
        ("tc qdisc add dev h1-eth0 root wonder", "the kind 'wonder' is not supported; there are netem, tbf"),
        ("tc qdisc add dev h1-eth0", "`root` or `parent 1:` is expected next"),
        ("ip route | sort", "'|' needs a shell"),
        ("ip addr", "`ip addr` is not supported"),
        ("ip route add 10.0.300.0/24 via 10.0.1.1 dev h1-eth0", "10.0.300.0"),
        ("sysctl net.ipv4.tcp_sack", "is not a setting with a value"),
        ("echo 'a", "it needs `echo`. Only"),
        ("/usr/bin/python3 -c '\nimport socket\nprint(1)\n'", "it needs `/usr/bin/python3`. Only"),
        ("./this.program -c '\nprint(1)\n'", "it needs `./this.program`. Only"),
        ("tc qdisc add dev 'h1-eth0", "cannot be split into words: No closing quotation"),
    ],
)
def test_unsupported_line_is_refused_with_supported_lines_and_engine(line: str, message: str) -> None:
    with pytest.raises(NotHereError, match=r"no programs.*tc qdisc.*engine='pocket'") as refused:
        nl.run(WIRE, [nl.Command("h1", line)], duration_s=1, engine="library")
    assert message in str(refused.value)


def test_in_a_browser_the_message_says_where_programs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_programs, "sys", SimpleNamespace(platform="emscripten"))
    with pytest.raises(NotHereError) as refused:
        commands.parse_command("ask", "python3 -c '\nprint(1)\n'")
    told = str(refused.value)
    assert told.startswith("No programs run in a page of a browser, so 'ask' cannot run: it needs `python3`. Only `tc")
    assert "in JupyterLab on Linux (`netlab lab`)" in told and "engine=" not in told


def test_commands_that_save_files_are_refused() -> None:
    with pytest.raises(NotHereError, match="it saves files"):
        nl.run(WIRE, [nl.Command("h1", "ip route", saves="a.txt")], duration_s=1, engine="library")


@pytest.mark.library
def test_a_missing_interface_is_named() -> None:
    with pytest.raises(
        RunError, match="`tc qdisc add dev eth0 root pfifo limit 5` names the interface 'eth0', which h1 does not have"
    ):
        nl.run(WIRE, [nl.Command("h1", "tc qdisc add dev eth0 root pfifo limit 5")], duration_s=1, engine="library")


@pytest.mark.library
def test_refusal_of_the_kernel_is_reported_with_its_line() -> None:
    with pytest.raises(RunError, match=r"refused a line in h1.*tc qdisc del dev h1-eth0 root"):
        nl.run(WIRE, [nl.Command("h1", "tc qdisc del dev h1-eth0 root")], duration_s=1, engine="library")


@pytest.mark.library
def test_a_run_of_such_lines_needs_no_other_engine() -> None:
    item = nl.Command("h1", "tc qdisc add dev h1-eth0 root netem delay 5ms")
    assert engines.decide(None, [nl.Scenario(WIRE, [item], duration_s=1).plan()]) == "library"


def lab(*items: nl.Command) -> commands.Commands:
    return commands.Commands(nl.Scenario(QUEUE, [*items, nl.Ping("h1", "h2")], 5).plan())


def test_commands_wait_each_for_its_moment_and_those_of_one_moment_in_their_order() -> None:
    waiting = lab(
        nl.Command("h1", "sysctl -w net.ipv4.tcp_sack=0", start_s=2),
        nl.Command("h2", "sysctl -w net.ipv4.tcp_sack=1", start_s=0.5),
        nl.Command("r1", "sysctl -qw net.ipv4.tcp_ecn=1", start_s=2),
    )
    moments_ns, nodes, records = [], [], []
    while (next_ns := waiting.next_ns) is not None:
        moments_ns.append(next_ns)
        node, lines = waiting.pop()
        nodes.append(node)
        records += lines
    assert moments_ns == [500_000_000, 2_000_000_000, 2_000_000_000] and nodes == ["h2", "h1", "r1"]
    assert records == [
        commands.Setting(f"net.ipv4.tcp_{name}", value) for name, value in (("sack", "1"), ("sack", "0"), ("ecn", "1"))
    ]
    shown = {"net.ipv4.tcp_sack = 1\n", "net.ipv4.tcp_sack = 0\n", ""}
    assert len(waiting.outputs) == 3 and set(waiting.outputs.values()) == shown


def netlink_messages(node: str, command: str) -> list[bytes]:
    """The messages of a command, in a node whose interfaces all have the number 3."""
    shown, records = lab().run(node, command)
    assert not shown
    return [each.message(lambda _name: 3) for each in records if isinstance(each, TcCommand)]


def test_a_links_lines_are_its_netlink_messages() -> None:
    assert netlink_messages("h1", "ip link set dev h1-eth0 up; ip link set h1-eth0 down") == [
        links.bring_up(3),
        links.down(3),
    ]
    assert netlink_messages("h1", "ip link set dev h1-eth0 gso_max_segs 1 mtu 900") == [
        links.number(3, word="gso_max_segs", value=1),
        links.number(3, word="mtu", value=900),
    ]


def test_a_route_that_a_line_changes_is_shown_changed() -> None:
    waiting = lab()
    before = waiting.run("h1", "ip route")[0].splitlines()
    assert waiting.run("h1", "ip r list")[0].splitlines() == before
    destination = next(line for line in before if " via " in line).split()[0]
    shown, text = waiting.run("h1", f"ip route del {destination} && ip route show")
    assert shown.splitlines() == [line for line in before if not line.startswith(destination)] and len(text) == 1
    shown, text = waiting.run("h1", f"ip route add {destination} via 10.0.0.2 dev h1-eth0\nip route")
    assert (
        f"{destination} via 10.0.0.2 dev h1-eth0" in shown and len(shown.splitlines()) == len(before) and len(text) == 1
    )
    assert len(waiting.run("h1", QUICK)[1]) == len(before)
    assert waiting.run("h1", "ip route")[0].count("quickack 1") == len(before)
    # Another node has routes of its own.
    assert "quickack" not in waiting.run("h2", "ip route")[0]


def test_a_node_shows_its_routes_by_address() -> None:
    shown = [route.line for route in commands.routes_by_node(nl.Scenario(QUEUE, [nl.Ping("h1", "h2")], 1).plan())["r1"]]
    assert shown == sorted(shown) and all(" proto kernel scope link src 10.0." in line for line in shown)
