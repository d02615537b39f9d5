"""Runs in the library kernel, and requests to its program."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path
from typing import Any

import netlab as nl
from netlab_engines.kernels import library_kernel
from netlab_engines.library.wire_format import Request

FRAME = struct.Struct("<II")


def dumbbell(**words: Any) -> nl.Topology:
    return nl.topologies.dumbbell(**{"pairs": 1, "rate_mbps": 10, "delay_ms": 10, "queue_packets": 50, **words})


def routed(**words: Any) -> nl.Topology:
    """A bottleneck behind a router: at the sender's own interface TCP's small-queue limit would keep the queue short."""
    bottleneck = nl.Link("r1", "h2", **{"rate_mbps": 10, "delay_ms": 10, "queue_packets": 100, **words})
    return nl.Topology(hosts=["h1", "h2"], routers=["r1"], links=[nl.Link("h1", "r1"), bottleneck])


def run(topology: nl.Topology, traffic: list[Any], **words: Any) -> nl.Run:
    return nl.run(topology, traffic, engine="library", progress=False, **words)


def status_and_answers(requests: bytes, **words: Any) -> tuple[int, list[tuple[int, bytes]]]:
    """Return the program's exit status and its answers to these requests."""
    done = subprocess.run(
        [str(library_kernel.find().path), str(os.getpid())],
        input=requests,
        capture_output=True,
        check=False,
        timeout=120,
        **words,
    )
    frames, at = [], 0
    while at < len(done.stdout):
        kind, length = FRAME.unpack_from(done.stdout, at)
        frames.append((kind, done.stdout[at + 8 : at + 8 + length]))
        at += 8 + length
    return done.returncode, frames


def frame(kind: int, payload: bytes = b"") -> bytes:
    return FRAME.pack(kind, len(payload)) + payload


def begin(memory_mb: int = 256) -> bytes:
    return frame(Request.START, struct.pack("<QQQQQ", memory_mb << 20, 1, 0, 0, 1))


def computed_s(pid: int) -> float:
    """Return the CPU time in s of a process in user mode."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(after_name[11]) / os.sysconf("SC_CLK_TCK")


def children() -> list[int]:
    """Processes of ours that run the library kernel."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == str(library_kernel.find().path).encode() and words[1:2] == [str(os.getpid()).encode()]:
            found.append(int(entry.parent.name))
    return found
