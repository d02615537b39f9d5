"""Does the library kernel as WebAssembly answer as the native program does, in wasmtime and in V8, and how long does it take?

    python benchmarks/webassembly.py            # all plans, some minutes; on an idle machine
    python benchmarks/webassembly.py loss       # those with the word in their name

The plans of the tests at their full length, and every published measurement of the replication that the engine runs. Goals: all
equal to the byte, and at most 2.0 times the native time over all of them in wasmtime.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from netlab.base.errors import EngineError
from netlab.engines.library.engine import LibraryEngine
from netlab.kernel import library
from netlab.replication.rows import published
from netlab.runs.scenario import Scenario
from tests.engines import webassembly


def replicated() -> Iterator[tuple[str, Scenario]]:
    """The scenarios of the published labs, each once, that the library engine takes."""
    engine, seen = LibraryEngine(), set()
    for number, row in enumerate(published()):
        if row.measurement is None or str(row.measurement.scenario.plan()) in seen:
            continue
        seen.add(str(row.measurement.scenario.plan()))
        try:
            engine.refuse(row.measurement.scenario.plan())
        except EngineError:
            continue
        yield f"{row.source} {number}", row.measurement.scenario


def main(words: list[str]) -> int:
    """Print a line for each plan and the sums; returns 1 where one differs."""
    native, portable = library.ready(), library.ready(library.WASM)
    if native is None or portable is None:
        print("Build both kernels first: netlab kernel build, netlab kernel build --wasm", file=sys.stderr)
        return 2
    sums, count, equal = [0.0, 0.0, 0.0], 0, 0
    print(f"{'':34}{'native':>8} s{'wasmtime':>9} s{'node':>8} s")
    with tempfile.TemporaryDirectory() as folder:
        kernels = (native, portable, webassembly.in_node(portable, Path(folder)))
        for name, scenario in [*webassembly.plans(), *replicated()]:
            if words and not any(word in name for word in words):
                continue
            said, took_s = zip(*(webassembly.answers(kernel, scenario) for kernel in kernels), strict=True)
            same = said[0] == said[1] == said[2]
            count, equal, sums = count + 1, equal + same, [a + b for a, b in zip(sums, took_s, strict=True)]
            times = f"{took_s[0]:8.3f} s{took_s[1]:9.3f} s{took_s[2]:8.3f} s"
            print(f"{name:34}{times} {len(said[0]):9} bytes  {'equal' if same else 'DIFFERENT'}", flush=True)
    print(
        f"{equal} of {count} equal; native {sums[0]:.1f} s, wasmtime {sums[1]:.1f} s, node {sums[2]:.1f} s with its start"
    )
    return int(equal != count)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
