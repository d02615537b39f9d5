"""Checks of the chapter "Congestion collapse". The answers are below."""

from netlab import theory
from netlab.measure.results import Run
from netlab.network.link import LinkShape
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab_course.answers import with_unit
from netlab_course.chapters.congestion_collapse import settings
from netlab_course.chapters.congestion_collapse.settings import network as given_network
from netlab_course.checks import Number
from netlab_course.conditions import (
    Build,
    Condition,
    Measurement,
    minimum_duration,
    plain_links,
    share_slow_links,
    traffic_in_words,
    traffic_items,
)
from netlab_course.function_checks import Function
from netlab_course.misconceptions import slips
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.scenario_differences import first_differences
from netlab_course.statements import Statement

_OFFERED_MBPS = {"h1-h4": settings.MODEST_MBPS, "h2-h3": settings.AGGRESSOR_MBPS}
_MIN_H1_MBPS = 0.95
_MIN_TOTAL_MBPS = 1.4
_PAYLOAD_SHARE = 1000 / theory.udp_wire_bytes(1000)


def _rates(network: Topology) -> dict[frozenset[str], LinkShape]:
    """Return the properties of those of the chapter's five links that a network has, in the direction of the flows, by
    the set of the names of both ends; other links are left out.
    """
    # Iterate in reverse, because the first of parallel links carries the traffic.
    hops = [hop for hop in reversed(network.hops()) if (hop.src, hop.dst) in _FORWARD]
    return {frozenset((hop.src, hop.dst)): hop.shape for hop in hops}


_FORWARD = {("h1", "r1"), ("h2", "r1"), ("r1", "r2"), ("r2", "h4"), ("r2", "h3")}
_GIVEN_RATES = _rates(given_network())


def _changed_links(network: Topology) -> dict[str, bool]:
    """Return whether each link of the chapter that has another rate in a network is faster, by its name, such as
    "h2-r1".
    """
    found = _rates(network)
    pairs = {f"{src}-{dst}": frozenset((src, dst)) for src, dst in sorted(_FORWARD)}
    rates = {name: (found[ends].mean_mbps, _GIVEN_RATES[ends].mean_mbps) for name, ends in pairs.items()}
    return {name: rate > given for name, (rate, given) in rates.items() if rate != given}


def _network_differences(run: Run) -> str:
    """Return a text on the first differences of a run's network from the chapter's; "" if there are none."""
    return first_differences({**run.scenario, "traffic": []}, Scenario(given_network(), [], duration_s=1))


def _forecast_mbps(network: Topology) -> dict[str, float]:
    """Return theory's goodputs in Mbit/s of h1, which offers 1, and of h2, which offers 10 Mbit/s, in a network of FIFO
    links, by flow ("h1-h4", "h2-h3"); 0 for both in a network without the chapter's five links.
    """
    if set(_rates(network)) != set(_GIVEN_RATES):
        return dict.fromkeys(_OFFERED_MBPS, 0.0)
    offered = {flow: rate / _PAYLOAD_SHARE for flow, rate in _OFFERED_MBPS.items()}
    found = theory.fifo_network(network.capacities_mbps(), network.routes(settings.SEND_PAIRS), offered)
    return {flow: rate * _PAYLOAD_SHARE for flow, rate in found.delivered_mbps.items()}


def _udp_mbps(run: Run) -> dict[tuple[str, str], float]:
    """Return the offered rate in Mbit/s of each flow of a run, by its hosts (sender, receiver); 0 for a flow without a
    rate.
    """
    return {(item["src"], item["dst"]): item.get("rate_mbps", 0.0) for item in traffic_items(run)}


def _dropped_percent(run: Run) -> float:
    """Return the packets that r2 drops on the way to h3 in a whole run, in per cent of those that cross the shared link.
    Raises IndexError if the run has no such queues.
    """
    # Interfaces are numbered in the order of the links, which is the student's own.
    counts = run.queues.set_index("link")
    dropped, crossed = counts.loc[["r2 to h3"], "drops"].iloc[-1], counts.loc[["r1 to r2"], "sent_packets"].iloc[-1]
    return float(100 * dropped / crossed) if crossed else 0.0


def clockwork_mbps(gap_ms: float, service_ms: float, offered_mbps: float) -> float:
    """Return the goodput in Mbit/s of a clockwork flow whose datagrams arrive `gap_ms` after one of a faster flow, at a
    link that needs `service_ms` for each.
    """
    return offered_mbps * min(1.0, gap_ms / service_ms)


class Checks:
    """The checks of the chapter "Congestion collapse", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        theory_mbps = settings.goodput_mbps(
            settings.MODEST_MBPS, own.pushy_mbps, settings.MIDDLE_MBPS, settings.EXITS_MBPS[0], own.payload_bytes
        )
        self.repeated = Repetition(
            name="goodput behind two routers",
            scenario=lambda: settings.two_udp(own),
            made_by="scenario",
            values=lambda table: table.loc[table["src"] == "h1", "goodput_mbps"],
            expected=lambda _table: theory_mbps,
            unit="Mbit/s",
            compared="G_1, the value by theory,",
            statement=Statement(own.stated_mbps, is_close=abs(own.stated_mbps / theory_mbps - 1) < settings.CLOSE),
            right="Each datagram has the same chance, from either sender. So the host that offers more gets more of the shared link.",
            hints=[
                'my_table[my_table["src"] == "h1"] are the rows of h1, one for each seed.',
                "Theory: h1 offers 1 Mbit/s, the acceptance ratio is alpha, and its exit carries u times 1 Mbit/s at most.",
            ],
        )
        self.share = Number(
            name="rate that leaves h1 its share",
            expected=lambda: settings.MIDDLE_MBPS / own.share - settings.MODEST_MBPS,
            unit="Mbit/s",
            tolerance=0.01,
            misconceptions=slips(
                settings.MIDDLE_MBPS * _PAYLOAD_SHARE / own.share - 1,
                "This is a share of what h1 sends. Asked for is a share of what it gets alone, and that is less than 1 Mbit/s.",
                settings.MIDDLE_MBPS / (own.share * _PAYLOAD_SHARE) - 1,
                "The shared link pays for headers as well as the exit: it carries 1.5 u of data.",
                settings.MIDDLE_MBPS / own.share,
                "This is what both send together. How much of it is h2's?",
            ),
            right="Nothing of what h2 sends beyond 0.5 Mbit/s arrives anywhere.",
            hints=[
                "What does h1 get alone? Its exit decides. It must reach the given share of that.",
                "Beside a rate X2 of h2 it gets 1.5 * u / (1 + X2), with u = 1000 / 1042. Alone it gets 1 * u.",
                "The first must be the share times the second: solve that for X2.",
            ],
        )

        self.my_run = Measurement(
            name="a run of your own",
            conditions=[
                Condition(
                    lambda run: (
                        set(_udp_mbps(run)) == set(settings.SEND_PAIRS)
                        and _udp_mbps(run)[settings.SEND_PAIRS[0]] == settings.MODEST_MBPS
                        and share_slow_links(run, 1)
                    ),
                    "Two UDP flows must send all the time: h1 to h4 at 1 Mbit/s, h2 to h3 at the rate of your choice, and nothing else.",
                    "Copy the list `senders` from above and change a rate.",
                    traffic_in_words,
                ),
                Condition(
                    lambda run: not _network_differences(run),
                    "The network must be the one from above: its links, their rates and their queues.",
                    "Hand `network` to nl.run as it is.",
                    _network_differences,
                ),
                minimum_duration(settings.COUNTED_S, f"duration_s={settings.COUNTED_S}"),
                Condition(
                    lambda run: (
                        -settings.DROPPED_BELOW <= _dropped_percent(run) - own.dropped_percent <= settings.DROPPED_ABOVE
                    ),
                    f"Of the packets that cross the shared link, {own.dropped_percent} % must be dropped behind it, at r2 "
                    f"(-{settings.DROPPED_BELOW} to +{settings.DROPPED_ABOVE} points).",
                    "my_run.queues has the counters. Which part of what crosses is h2's, and which part does its exit take?",
                    lambda run: with_unit(
                        _dropped_percent(run),
                        "%",
                        own.dropped_percent - settings.DROPPED_BELOW,
                        own.dropped_percent + settings.DROPPED_ABOVE,
                    ),
                ),
            ],
            right="The next cell reads the counters.",
            hints=[
                "The run is the one from above with another rate of h2: nl.run(network, [...two flows...], duration_s=200, interval_s=1).",
                "The shared link gives each sender a part of what it carries, in proportion to what it offers: h2 has x of 1 + x parts.",
                "Of all that crosses, h2's exit takes its own rate over the rate of the shared link. The rest of h2's part is dropped.",
            ],
        )

        self.clockwork = Function(
            name="share of a clockwork flow",
            reference=clockwork_mbps,
            cases=[
                {"gap_ms": 0.5, "service_ms": 5, "offered_mbps": 2},
                {"gap_ms": 0.8, "service_ms": 5.557, "offered_mbps": 1},
                {"gap_ms": 0.2, "service_ms": 5.557, "offered_mbps": 1},
            ],
            unit="Mbit/s",
            tolerance=0.001,
            misconceptions=slips(
                lambda gap_ms, service_ms, offered_mbps: offered_mbps * (1 - gap_ms / service_ms),
                "This is the chance that the place became free at another time: then h2 has taken it.",
                lambda gap_ms, service_ms, offered_mbps: gap_ms / service_ms,
                "This is the share of h1's datagrams. Asked for is the goodput: multiply by what h1 offers.",
                lambda gap_ms, service_ms, offered_mbps: offered_mbps / service_ms,
                "Where is the gap? Twice the gap, twice the chance that the place becomes free in it.",
                lambda gap_ms, service_ms, offered_mbps: offered_mbps * service_ms / gap_ms,
                "The division is upside down: no more can arrive than is offered, and a longer gap must be better.",
                lambda gap_ms, service_ms, offered_mbps: offered_mbps * gap_ms / 8,
                "8 ms lie between h1's datagrams. But places become free every service_ms.",
            ),
            hints=[
                "One place becomes free in each service_ms. When must that happen for h1's datagram to find it still free?",
                "In the gap_ms before it, after h2's latest datagram. What part of all moments is that?",
                "That part of the offered rate passes. What if the gap is longer than a service time?",
            ],
        )

        self.rescue = Build(
            name="a network without collapse",
            kind=Topology,
            conditions=[
                Condition(
                    lambda network: not network.problems(),
                    "The network must be one that can run.",
                    "Write numbers without quotes.",
                    lambda network: " ".join(network.problems()),
                ),
                Condition(
                    lambda network: set(_rates(network)) == set(_GIVEN_RATES),
                    "The five links must stay: h1-r1, h2-r1, r1-r2, r2-h4, r2-h3.",
                    "Copy the network from above and change a rate.",
                    lambda network: ", ".join(f"{link.a}-{link.b}" for link in network.links),
                ),
                Condition(
                    lambda network: list(_changed_links(network).values()) == [False],
                    "Exactly one link must have another rate, and none a higher one.",
                    "Look at `rate_mbps` of your links; a link without a rate may get one.",
                    lambda network: (
                        ", ".join(
                            f"{name} is {'faster' if is_faster else 'slower'}"
                            for name, is_faster in _changed_links(network).items()
                        )
                        or "no other rate"
                    ),
                ),
                plain_links(lambda network: list(_rates(network).values())),
                Condition(
                    lambda network: _forecast_mbps(network)["h1-h4"] >= _MIN_H1_MBPS,
                    f"By theory h1 must get at least {_MIN_H1_MBPS:g} Mbit/s while h2 offers 10.",
                    "Where do h2's useless datagrams meet h1's? They must be gone before that.",
                    lambda network: f"{_forecast_mbps(network)['h1-h4']:.3g} Mbit/s",
                ),
                Condition(
                    lambda network: sum(_forecast_mbps(network).values()) >= _MIN_TOTAL_MBPS,
                    f"By theory both together must get at least {_MIN_TOTAL_MBPS:g} Mbit/s.",
                    "Alone, each gets what its exit carries, less the headers. Which of them lacks some of that?",
                    lambda network: "{:.3g} Mbit/s of h1 and {:.3g} Mbit/s of h2".format(
                        *_forecast_mbps(network).values()
                    ),
                ),
            ],
            right="h2 loses as many datagrams as before, but now it loses them where they take no place from others.",
            hints=[
                "A datagram that will be dropped anyway should be dropped early. Which link does h2 have for itself before r1?",
                "If no more than h2's exit takes ever reaches r1, nothing is wasted.",
                "A link with a rate lets no more through. Give h2-r1 one, and leave the rest as it is.",
            ],
        )
