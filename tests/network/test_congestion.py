"""The table of congestion controls: every row is whole, and the pocket kernel has it."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab_kernel import fragment
from netlab_kernel.edit import RECIPE


@pytest.mark.parametrize("name", CONGESTION_CONTROLS)
def test_the_pocket_kernels_recipe_has_each(name: str) -> None:
    config = fragment.render(fragment.parse((RECIPE / "pocket.config").read_text()), (7, 3))
    assert f"{CONGESTION_CONTROLS[name].symbol}=y\n" in config


@pytest.mark.parametrize("name", CONGESTION_CONTROLS)
def test_row_has_a_name_description_and_source(name: str) -> None:
    row = CONGESTION_CONTROLS[name]
    assert row.name == name
    assert row.description.endswith(".")
    assert row.source
    assert row.module in ("", f"tcp_{name}")


def test_unknown_control_is_refused_with_the_known_controls() -> None:
    allowed = "reno, cubic, bbr, dctcp, vegas, westwood, htcp, tahoe"
    assert nl.Tcp("h1", "h2", congestion="prague").problems("flow 1") == [
        f"flow 1: congestion: got 'prague'; allowed: {allowed}"
    ]
    (sentence,) = nl.Tcp("h1", "h2", congestion=["reno"]).problems("flow 1")
    assert f"allowed: {allowed}, or your own class with on_start" in sentence


@pytest.mark.pocket
def test_the_table_has_what_the_kernel_has_and_each_carries_data() -> None:
    """The running kernel lists each row of the table; a flow with each one crosses a queue that marks for those that need it."""
    traffic: list[nl.Tcp | nl.Command] = [
        nl.Command("h1", "sysctl -n net.ipv4.tcp_available_congestion_control"),
        *(nl.Tcp("h1", "h2", congestion=name) for name in CONGESTION_CONTROLS),
    ]
    topology = nl.topologies.dumbbell(
        pairs=1, rate_mbps=50, queue_packets=200, aqm="fq_codel", aqm_options={"ecn": True}
    )
    run = nl.run(topology, traffic, duration_s=5)
    # The pocket kernel has others of Linux, too, for commands in hosts.
    assert set(CONGESTION_CONTROLS) <= set(run.commands.stdout[0].split())
    assert (run.flows.goodput_mbps > 1).all(), run.flows[["flow", "goodput_mbps"]]
    marked = {name for name, marks in zip(CONGESTION_CONTROLS, run.flows.marks, strict=True) if marks}
    assert marked == {name for name, row in CONGESTION_CONTROLS.items() if row.needs_ecn}
