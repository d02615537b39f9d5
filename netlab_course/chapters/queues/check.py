"""The checks of the chapter "Queues that speak up", for one student's numbers."""

from dataclasses import dataclass
from typing import Any

from netlab import theory
from netlab.base.headers import FRAME_BYTES
from netlab.measure.results import Run
from netlab_course.chapters.queues.experiments import WARM_UP_S, full_queue_wait_ms
from netlab_course.chapters.queues.settings import FULL, call_beside_download
from netlab_course.conditions import (
    Condition,
    Measurement,
    minimum_duration,
    share_slow_links,
    slow_links,
    traffic_in_words,
    traffic_items,
)
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement

MIN_DURATION_S = 20
_RTTS_MS = (24, 26, 28, 30, 32, 34, 36, 38, 40)
_SMALLEST_PACKETS: dict[int, tuple[int | None, ...]] = {
    16: (None, 3, None, None, 3, None, None, None, None),
    18: (None, None, 5, 5, 5, 5, 5, 5, 5),
    20: (5, None, None, 5, 4, 5, 5, None, 5),
    22: (5, None, 4, 5, 5, None, 5, 5, None),
    25: (None, None, 5, None, 5, 5, None, None, 6),
    28: (None, 5, None, None, 5, None, 6, 5, None),
    30: (5, None, 6, None, 6, None, None, None, 6),
}
"""The smallest thresholds in packets with which a run of 20 s fills the link to 99.9 %, by rate in Mbit/s, for each of
`_RTTS_MS`: found by runs with each threshold from 2 to 8 and five seeds. None if the answer depends on the seed (a
goodput within 0.01 % of the limit asked for), or some larger threshold does not fill the link; no copy gets such a link.
"""


@dataclass(kw_only=True, repr=False)
class _Threshold(Measurement):
    """A check of a run with a threshold of marks, on a link of which the smallest that fills it is known."""

    smallest_packets: int | None
    """The smallest threshold in packets with which the link is full; None if no threshold is that for all seeds."""

    def tells_apart(self) -> bool:
        """Return whether the link has a smallest threshold, from which on all fill it: a copy without one is not drawn."""
        return self.smallest_packets is not None


def _slow_link(run: Run) -> dict[str, Any]:
    """Return the fields in the scenario file of the only link with a rate in a run. Raises ValueError if there is not
    exactly one.
    """
    (link,) = slow_links(run)
    return link


def _sender(run: Run) -> str:
    """Return the name of the congestion control of a run's only flow, "" if it has none. Raises ValueError if there is
    not exactly one flow, or it has several streams, does not go to h3 all the time, or has a size or window of its own.
    """
    (flow,) = traffic_items(run)
    if flow.get("streams", 1) != 1 or flow["dst"] != "h3" or not share_slow_links(run, WARM_UP_S):
        raise ValueError
    return str(flow.get("congestion", ""))


def _goodput_mbps(run: Run) -> float:
    """Return the goodput in Mbit/s of a run's only flow after the first 5 s. Raises ValueError for a run that `_sender`
    refuses, as with several flows.
    """
    return float(run.goodput_mbps(after_s=WARM_UP_S).sum()) if _sender(run) else 0.0


def _threshold_packets(run: Run) -> int:
    """Return the threshold in packets at which the slow link's queue begins to mark. Raises ValueError for a run that
    `_sender` refuses, as with several flows.
    """
    return int(_slow_link(run)["aqm_options"]["min_packets"]) if _sender(run) else 0


class Checks:
    """The checks of the chapter "Queues that speak up", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        rate_mbps, rtt_ms = own.rate_mbps, own.base_rtt_ms
        limit_mbps = theory.tcp_goodput_limit_mbps(rate_mbps)
        smallest_packets = _SMALLEST_PACKETS[rate_mbps][_RTTS_MS.index(rtt_ms)]
        self.repeated = Repetition(
            name="a call beside a download",
            scenario=lambda: call_beside_download(own),
            made_by="beside_download",
            values=lambda table: table.loc[table["kind"] == "udp", "delay_ms"],
            expected=lambda _table: full_queue_wait_ms(own.queue_packets, rate_mbps, FRAME_BYTES),
            unit="ms",
            compared="the wait behind a full queue",
            statement=Statement(own.stated_ms, above=False),
            right=(
                "The queue is not always full: each loss makes the download's window smaller for a while. But after the start it "
                "is never near empty."
            ),
            hints=[
                'my_table[my_table["kind"] == "udp"] are the rows of the call; delay_ms is the mean one-way delay of its datagrams.',
                "Theory: the bits of a full queue of frames of 1514 bytes, divided by the rate.",
            ],
        )

        def goodput_in_words(run: Run) -> str:
            """Return the goodput of a run's only flow after the first 5 s as text, in Mbit/s and per cent of the limit."""
            goodput_mbps = _goodput_mbps(run)
            percent = 100 * goodput_mbps / limit_mbps
            return f"{goodput_mbps:.4g} Mbit/s, {percent:.4g} % of the {limit_mbps:.4g} Mbit/s of a full link"

        here = [
            Condition(
                lambda run: (
                    _slow_link(run)["rate_mbps"] == rate_mbps
                    and rtt_ms - 1 < run.flows["rtt_min_ms"].min() < rtt_ms + 5
                ),
                "The slow link must have the rate and the round-trip time that the exercise asks for.",
                "Look at rate_mbps and base_rtt_ms of your network.",
                lambda run: (
                    _sender(run) and f"{_slow_link(run)['rate_mbps']:g} Mbit/s, {run.flows['rtt_min_ms'].min():.4g} ms"
                ),
            ),
            minimum_duration(MIN_DURATION_S, "Look at duration_s."),
        ]
        self.ecn_run = Measurement(
            name="marks instead of losses",
            conditions=[
                *here,
                Condition(
                    lambda run: _sender(run) == "cubic",
                    "There must be one flow: TCP to h3 in one stream, by CUBIC, to the end and without window_bytes.",
                    "Look at the list of traffic that you gave to `nl.run`.",
                    traffic_in_words,
                ),
                Condition(
                    lambda run: run.queues["marks"].max() > 0,
                    "The queue must have marked packets.",
                    "Two must agree: the queue marks (aqm_options, if it does not by itself), and the sender asks for it (sysctls).",
                    lambda run: f"{run.queues['marks'].max():g} marks",
                ),
                Condition(
                    lambda run: run.flows["retransmits"].sum() == 0,
                    "No segment may have been sent again.",
                    "Was there room for slow start? Or did the queue drop what it might have marked?",
                    lambda run: f"{run.flows['retransmits'].sum():g} retransmissions",
                ),
                Condition(
                    lambda run: _goodput_mbps(run) > 0.88 * limit_mbps,
                    f"After {WARM_UP_S} s the goodput must be 88 % of the link's limit at least.",
                    "Print run.goodput_mbps(after_s=5). Does the queue mark too early for this path?",
                    goodput_in_words,
                ),
            ],
            right="The sender slowed down each time, and not one packet was lost.",
            hints=[
                "one_link(...) builds the network; aqm= and aqm_options= say what the queue does.",
                'aqm="codel" with aqm_options={"ecn": True}, or "fq_codel", which marks by itself, and 1000 packets of room.',
                "Both ends must also ask for ECN: nl.run(network, [nl.Tcp(...)], duration_s=20, sysctls={...: 1}).",
            ],
        )
        self.threshold_run = _Threshold(
            name="full and nearly empty",
            answer_name="best_run",
            smallest_packets=smallest_packets,
            conditions=[
                *here,
                Condition(
                    lambda run: _sender(run) == "dctcp",
                    "There must be one flow: TCP to h3 in one stream, by DCTCP, to the end and without window_bytes.",
                    "Look at the list of traffic that you gave to `nl.run`.",
                    traffic_in_words,
                ),
                Condition(
                    lambda run: (
                        _slow_link(run).get("aqm") == "red"
                        and _slow_link(run)["aqm_options"]["max_packets"]
                        == _slow_link(run)["aqm_options"]["min_packets"] + 1
                    ),
                    "The queue must be a step of marks.",
                    "marking(threshold, rate_mbps, base_rtt_ms) builds it.",
                    lambda run: f"aqm={_slow_link(run).get('aqm', 'fifo')}, {_slow_link(run).get('aqm_options')}",
                ),
                Condition(
                    lambda run: _goodput_mbps(run) > FULL * limit_mbps,
                    f"After {WARM_UP_S} s the goodput must be {100 * FULL:g} % of the link's limit at least.",
                    "The queue runs empty at times: let it grow a little longer before it marks.",
                    goodput_in_words,
                ),
                Condition(
                    lambda run: smallest_packets is not None and _threshold_packets(run) <= smallest_packets + 1,
                    "The threshold must be the smallest that does it, or one packet more.",
                    "More waits in the queue than is needed: let it mark earlier.",
                    lambda run: f"a step at {_threshold_packets(run)} packets",
                ),
            ],
            right="The link is full, and a shorter queue would run empty when the window is small.",
            hints=[
                "How many frames are a bandwidth-delay product? nl.theory.bdp_bytes(rate_mbps, rtt_ms) / 1514.",
                "The text above says by how many packets a window of this size swings. A queue of so many never runs empty. Does less do?",
                "Try it: nl.run(marking(threshold, ...), [nl.Tcp(..., congestion=...)], duration_s=20).",
            ],
        )
