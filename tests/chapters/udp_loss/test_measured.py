"""What a link counts, and a sender that overloads it (`epfl` section 1, `siit`), against theory with stated tolerances."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab.chapters import udp_loss as chapter
from netlab.theory import udp_goodput_limit_mbps
from tests.figures import agrees

pytestmark = pytest.mark.pocket


@pytest.mark.parametrize("framing", ["tc", "ethernet"])
@pytest.mark.parametrize("payload_bytes", [32, 1000, 1472])
def test_a_link_counts_the_bytes_of_its_framing(framing: str, payload_bytes: int) -> None:
    """UDP goodput at an overloaded link within 0.1 % of the framing limit."""
    overload = [nl.Udp("h1", "h3", rate_mbps=6, payload_bytes=payload_bytes)]
    run = nl.run(chapter.settings.three_pcs(framing), overload, duration_s=2)
    expected_mbps = udp_goodput_limit_mbps(chapter.settings.RATE_MBPS, payload_bytes, framing)
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], expected_mbps, relative=0.001)


def test_a_sender_does_not_wait_for_its_own_interface() -> None:
    """A flow that overloads its first link loses what does not fit, ends in time and leaves the next one alone."""
    steps = chapter.settings.staircase([125, 125], send_s=1, pause_s=0.1, dst="h2", payload_bytes=1470)
    run = nl.run(chapter.settings.cable("tc"), steps, duration_s=2.2)
    for _, flow in run.flows.iterrows():
        agrees("sent datagrams", flow.sent_datagrams, 125e6 / (1470 * 8), absolute=1)
        agrees("goodput (Mbit/s)", flow.goodput_mbps, udp_goodput_limit_mbps(100, 1470), relative=0.001)


def test_the_unknown_path_is_as_fast_as_its_check_says() -> None:
    """A probe of 1 s, far above the bottleneck: its goodput is the check's figure less headers, within 0.1 %."""
    probe = [nl.Udp("h1", "h2", rate_mbps=60)]
    run = nl.run(chapter.check.mystery_path(), probe, duration_s=1)
    expected_mbps = udp_goodput_limit_mbps(chapter.check.mystery.expected)
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], expected_mbps, relative=0.001)
