"""Chapters as a student meets them, and the experiments that they lean on."""

from __future__ import annotations

from pathlib import Path

import pytest

import netlab as nl
from netlab.authoring import Chapter, chapters, execute, student_notebook
from netlab.theory import udp_goodput_limit_mbps
from tests.figures import agrees

pytestmark = pytest.mark.pocket


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("chapter", chapters(ROOT), ids=lambda chapter: chapter.source.stem)
def test_a_notebook_nobody_has_worked_on_runs_to_its_end(chapter: Chapter) -> None:
    """Nothing raises, and every check says 'not attempted yet'."""
    notebook = execute(student_notebook(chapter.source), chapter.student.parent)
    checks = [cell for cell in notebook.cells if cell.id.endswith("-check")]
    assert checks
    for cell in checks:
        said = "".join(output.get("text", "") for output in cell.outputs)
        assert "not attempted yet" in said, f"{cell.id}: {said!r}"


@pytest.mark.parametrize("framing", ["tc", "ethernet"])
@pytest.mark.parametrize("payload_bytes", [32, 1000, 1472])
def test_a_link_counts_the_bytes_of_its_framing(framing: str, payload_bytes: int) -> None:
    """UDP goodput at an overloaded link within 0.1 % of the framing limit."""
    topology = nl.topologies.three_pcs(rate_mbps=5, framing=framing)
    run = nl.run(topology, [nl.Udp("h1", "h3", rate_mbps=6, payload_bytes=payload_bytes)], duration_s=2)
    expected_mbps = udp_goodput_limit_mbps(5, payload_bytes, framing)
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], expected_mbps, relative=0.001)


def test_a_sender_does_not_wait_for_its_own_interface() -> None:
    """A flow that overloads its first link loses what does not fit, ends in time and leaves the next one alone."""
    cable = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=100, queue_packets=100)])
    flows = [
        nl.Udp("h1", "h2", rate_mbps=125, payload_bytes=1470, spacing="even", start_s=1.1 * step, duration_s=1)
        for step in range(2)
    ]
    run = nl.run(cable, flows, duration_s=2.2)
    for _, flow in run.flows.iterrows():
        agrees("sent datagrams", flow.sent_datagrams, 125e6 / (1470 * 8), absolute=1)
        agrees("goodput (Mbit/s)", flow.goodput_mbps, udp_goodput_limit_mbps(100, 1470), relative=0.001)
