"""The library kernel as WebAssembly answers as the native program does; both are built."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

import netlab as nl
from netlab.base.errors import EngineError, RunError
from netlab.runs.scenario import Scenario
from netlab_engines.kernels import library_kernel
from netlab_engines.kernels.library_kernel import LibraryKernel
from netlab_engines.library.engine import LibraryEngine
from netlab_kernel import library_build, wasm
from netlab_replication.rows import published_rows
from tests.engines import webassembly

pytestmark = pytest.mark.library
PLANS = dict(webassembly.plans(duration_s=2))


@pytest.fixture(scope="module")
def native() -> LibraryKernel:
    kernel = library_kernel.ready()
    assert kernel is not None, "build it with `netlab kernel build`"
    return kernel


@pytest.fixture(scope="module")
def portable() -> LibraryKernel:
    return webassembly.built()


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_gives_the_native_programs_bytes(
    name: str, native: LibraryKernel, portable: LibraryKernel, tmp_path: Path
) -> None:
    expected, _ = webassembly.answers(native, PLANS[name])
    assert webassembly.answers(portable, PLANS[name])[0] == expected
    assert in_node_with_a_check_of_each_swap(portable, PLANS[name], tmp_path) == expected


def published_by_table() -> dict[str, Scenario]:
    """The first scenario of each table of the replication that the library engine runs."""
    found: dict[str, Scenario] = {}
    for row in published_rows():
        if row.measurement is not None:
            with suppress(EngineError):
                LibraryEngine().refuse(row.measurement.scenario.plan())
                found.setdefault(f"{row.source} {row.table}", row.measurement.scenario)
    return found


# With NETLAB_LONG=1 alone: a check of every swap takes ten times as long as the run.
PUBLISHED = published_by_table() if os.environ.get("NETLAB_LONG") else {}


@pytest.mark.parametrize("name", PUBLISHED)
def test_functions_listed_as_atomic_are_never_on_a_swapped_stack(
    name: str, portable: LibraryKernel, tmp_path: Path
) -> None:
    in_node_with_a_check_of_each_swap(portable, PUBLISHED[name], tmp_path)


def in_node_with_a_check_of_each_swap(kernel: LibraryKernel, scenario: Scenario, folder: Path) -> bytes:
    found = folder / "found"
    words = (kernel.path.parent / library_build.SYMBOLS, wasm.HOME / "atomic.txt", found)
    # The quick compiler halves the time, and which functions wait does not depend on it.
    node = webassembly.in_node(kernel, folder, *map(str, words), flags=["--liftoff-only"])
    text, _ = webassembly.answers(node, scenario)
    assert not found.exists(), f"in atomic.txt, and on a stack that was swapped: {set(found.read_text().split())}"
    return text


def test_a_live_network_does_the_same(
    native: LibraryKernel, portable: LibraryKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = []
    for kernel in (native, portable, webassembly.in_node(portable, tmp_path)):
        monkeypatch.setenv("NETLAB_LIBRARY", str(kernel.path))
        with nl.live(nl.topologies.dumbbell(1, rate_mbps=5, delay_ms=10, queue_packets=20), engine="library") as lab:
            flow = lab.start(nl.Tcp("h1", "h2"))
            lab.advance(1)
            lab.link("r1", "r2").change(rate_mbps=2)
            lab.advance(1)
            flow.stop()
            messages.append((lab.flows.to_json(), lab.queues.to_json()))
    assert messages[0] == messages[1] == messages[2]


def test_a_refused_setting_is_the_same_sentence(
    native: LibraryKernel, portable: LibraryKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = []
    for kernel in (native, portable):
        monkeypatch.setenv("NETLAB_LIBRARY", str(kernel.path))
        topology = nl.topologies.dumbbell(1, rate_mbps=5, delay_ms=10, queue_packets=20)
        with pytest.raises(RunError) as error:
            nl.run(topology, [nl.Ping("h1", "h2")], engine="library", duration_s=1, sysctls={"net.ipv4.tcp_sack": "x"})
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_run_of_a_millisecond_takes_well_under_a_second(portable: LibraryKernel) -> None:
    scenario = Scenario(nl.topologies.dumbbell(1, rate_mbps=5, delay_ms=10), [nl.Ping("h1", "h2")], duration_s=0.1)
    webassembly.answers(portable, scenario)
    assert webassembly.answers(portable, scenario)[1] < 1
