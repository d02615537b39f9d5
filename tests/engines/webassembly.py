"""Plans for the library kernel as a process and as WebAssembly, and what its program answers to each, to the byte."""

import dataclasses
import itertools
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import netlab as nl
from netlab.captures import Capture
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.network.queues import DISCIPLINES
from netlab.runs.scenario import Scenario
from netlab_engines.kernels import library_kernel
from netlab_engines.kernels.library_kernel import LibraryKernel
from netlab_engines.library import engine
from netlab_engines.library.kernel_program import KernelProgram, OnAnswers
from netlab_engines.protocol.session import OnWait
from netlab_kernel import wasm
from tests.engines import fields


def plans(duration_s: float = 6) -> Iterator[tuple[str, Scenario]]:
    """Every discipline, every congestion control, impairments, a capture, a fast, a crowded and a full path, changes and a trace."""
    dumbbell, tcp, udp, ping = nl.topologies.dumbbell, nl.Tcp, nl.Udp, nl.Ping
    for aqm in DISCIPLINES:
        topology = dumbbell(2, rate_mbps=10, delay_ms=10, aqm=aqm, queue_packets=50 if aqm == "fifo" else None)
        traffic = [tcp("h1", "h3"), tcp("h2", "h4", start_s=1), udp("h1", "h3", rate_mbps=3, spacing="random")]
        yield f"queue {aqm}", Scenario(topology, traffic, duration_s=duration_s, seed=7)
    for control in CONGESTION_CONTROLS:
        topology = dumbbell(1, rate_mbps=20, delay_ms=15, queue_packets=60)
        yield (
            f"congestion control {control}",
            Scenario(topology, [tcp("h1", "h2", congestion=str(control))], duration_s=duration_s),
        )
    jitter = dumbbell(1, rate_mbps=10, delay_ms=20, jitter_ms=5, queue_packets=60)
    yield "jitter", Scenario(jitter, [tcp("h1", "h2"), ping("h1", "h2")], duration_s=duration_s)
    losing = dumbbell(1, rate_mbps=10, delay_ms=20, loss_rate=0.02, duplicate_rate=0.01, queue_packets=60)
    traffic = [tcp("h1", "h2"), ping("h1", "h2"), udp("h1", "h2", rate_mbps=1)]
    yield "loss and duplicates", Scenario(losing, traffic, duration_s=duration_s)
    short = dumbbell(1, rate_mbps=5, delay_ms=10, queue_packets=30)
    yield "capture", Scenario(short, [tcp("h1", "h2")], duration_s=duration_s, captures=[Capture("r1", "r2")])
    fast = dumbbell(1, rate_mbps=2000, delay_ms=1, queue_packets=1000)
    yield "2 Gbit/s", Scenario(fast, [tcp("h1", "h2")], duration_s=duration_s / 3)
    crowd = [tcp(f"h{i}", f"h{i + 40}", start_s=i / 20) for i in range(1, 41)]
    yield "40 pairs", Scenario(dumbbell(40, rate_mbps=50, delay_ms=5, queue_packets=100), crowd, duration_s=duration_s)
    many = dumbbell(1, rate_mbps=20, delay_ms=5, queue_packets=100)
    yield "32 streams", Scenario(many, [tcp("h1", "h2", streams=32)], duration_s=duration_s)
    asking = [nl.Requests("h1", "h2", response_bytes=50_000, think_s=0.02, connections=4), tcp("h1", "h2")]
    yield "requests", Scenario(many, asking, duration_s=duration_s)
    links = [
        nl.Link("h1", "r1"),
        nl.Link("r1", "h2", rate_mbps=nl.Trace.named("walk_4g"), delay_ms=20, queue_packets=60),
    ]
    walk = nl.Topology(hosts=["h1", "h2"], routers=["r1"], links=links)
    changes = [
        nl.Change(at_s=duration_s / 4, link=("r1", "h2"), up=False),
        nl.Change(at_s=duration_s / 2, link=("r1", "h2"), up=True),
    ]
    for kind, group in itertools.groupby(fields.changed(), lambda each: each[0]):
        yield f"fields of {kind}", fields.in_one_scenario(item for *_, items in group for item in items)
    yield "a trace that is cut and mended", Scenario(walk, [tcp("h1", "h2")], duration_s=duration_s, changes=changes)


def built() -> LibraryKernel:
    """The library kernel as WebAssembly; a test that needs it is skipped where nobody has built it."""
    return library_kernel.ready(library_kernel.WASM) or pytest.skip(
        "netlab kernel build --wasm makes the WebAssembly kernel"
    )


def in_node(kernel: LibraryKernel, folder: Path, *words: str, flags: Sequence[str] = ()) -> LibraryKernel:
    """The WebAssembly kernel as a program that node, with the engine of Chromium, runs as a process; `flags` are options
    of node.
    """
    path = folder / "netlab-in-node"
    command = [shutil.which("node") or "node", *flags, wasm.JAVASCRIPT / "process.mjs", kernel.path, *words]
    path.write_text(f"#!/bin/sh\nexec {' '.join(map(str, command))}\n")
    path.chmod(0o755)
    return dataclasses.replace(kernel, path=path, machine="x86_64")


def answers(kernel: LibraryKernel, scenario: Scenario) -> tuple[bytes, float]:
    """All that the program of a kernel answers, and the time in s that it took from its start."""
    heard = bytearray()
    began_s = time.monotonic()

    class Recorded:
        def __init__(self, program: KernelProgram) -> None:
            self.program = program

        def __getattr__(self, name: str) -> object:
            return getattr(self.program, name)

        def listen(self, on_answers: OnAnswers, on_wait: OnWait | None) -> None:
            self.program.listen(lambda data: bool(heard.extend(data)) or on_answers(data), on_wait)

    start = engine.start_program
    runner = engine.LibraryEngine()
    runner.kernel = kernel
    try:
        engine.start_program = lambda one: Recorded(start(one))  # type: ignore[assignment,return-value]
        runner.execute(scenario.plan())
    finally:
        engine.start_program = start
    return bytes(heard), time.monotonic() - began_s
