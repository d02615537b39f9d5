"""Does the library kernel as WebAssembly answer as the native program does, in wasmtime and in Chromium, and how long does it take?

    python benchmarks/webassembly.py [--page build/lite] [WORD...]     # plans with one of the words in their name; none: all; idle

The plans of the tests at their full length, and every published measurement of the replication that the engine runs. --page runs them
in the page that `make lite` made too, after a first run. Goals: all equal to the byte, in wasmtime at most 2.0 times the native
time over all of them, in Chromium 2.5 times.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import nbformat
import tab
from endurance import published_scenarios

from netlab.base.errors import EngineError
from netlab.runs.scenario import Scenario
from netlab_engines.kernels import library_kernel
from netlab_engines.library.engine import LibraryEngine
from tests.engines import webassembly

NAME = "01_udp_loss"
CELL_SOURCE = """from __future__ import annotations
import hashlib, json, time
from netlab_engines.library import engine
from netlab_engines.kernels import library_kernel
from netlab.runs.scenario import Scenario

{answers}
scenarios = [Scenario.from_dict(each) for each in json.loads({told!r})]
for scenario in [scenarios[0], *scenarios]:
    said, took_s = answers(library_kernel.find(), scenario)
    print(hashlib.sha256(said).hexdigest(), took_s)
"""


def plans(words: list[str]) -> Iterator[tuple[str, Scenario]]:
    """All plans that the library engine takes, with one of the words in their name."""
    for name, scenario in [*webassembly.plans(), *published_scenarios()]:
        try:
            LibraryEngine().refuse(scenario.plan())
        except EngineError:
            continue
        if not words or any(word in name for word in words):
            yield name, scenario


def in_chromium(page: Path, scenarios: list[Scenario]) -> list[tuple[str, float]]:
    """The hash of the answers to each, and the time in s, in a notebook of the page."""
    documents = json.dumps([scenario.to_dict() for scenario in scenarios])
    source = CELL_SOURCE.format(answers=inspect.getsource(webassembly.answers), told=documents)
    kernel = {"kernelspec": {"name": "python", "display_name": "Python"}}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)], metadata=kernel)
    with tab.serve_page(page.resolve(), {NAME: notebook}) as address, tab.chromium() as open_page:
        visible = tab.visible_outputs(tab.run(open_page, address, NAME)[1]["cells"][0])
    lines = visible[0]["text"].split("\n")[1 : len(scenarios) + 1] if visible else []
    assert len(lines) == len(scenarios), f"The page's cell shows: {str(visible)[-2000:]}"
    return [(line.split()[0], float(line.split()[1])) for line in lines]


def main() -> int:
    """Print a line for each plan and the sums; returns 1 where one differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, metavar="DIRECTORY")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    native, portable = library_kernel.ready(), library_kernel.ready(library_kernel.WASM)
    if native is None or portable is None:
        parser.error("build both kernels first: netlab kernel build, netlab kernel build --wasm")
    chosen = list(plans(options.words))
    places = ["native", "wasmtime", *(["Chromium"] if options.page else [])]
    found: list[list[tuple[str, float]]] = []
    for _, scenario in chosen:
        answered = [webassembly.answers(kernel, scenario) for kernel in (native, portable)]
        found.append([(sha256(data).hexdigest(), took_s) for data, took_s in answered])
    if options.page:
        for row, page_row in zip(found, in_chromium(options.page, [each for _, each in chosen]), strict=True):
            row.append(page_row)
    print(f"{'':56}" + "".join(f"{place:>11}" for place in places))
    for (name, _), row in zip(chosen, found, strict=True):
        verdict = "equal" if len({data for data, _ in row}) == 1 else "DIFFERENT"
        print(f"{name[:55]:56}" + "".join(f"{took_s:9.3f} s" for _, took_s in row) + f"  {verdict}")
    equal = sum(len({data for data, _ in row}) == 1 for row in found)
    sums = [sum(took_s for _, took_s in column) for column in zip(*found, strict=True)]
    times = ", ".join(
        f"{place} {total:.1f} s ({total / sums[0]:.2f})" for place, total in zip(places, sums, strict=True)
    )
    print(f"{equal} of {len(found)} equal; {times}; load {os.getloadavg()[0]:.1f}")
    return int(equal != len(found))


if __name__ == "__main__":
    raise SystemExit(main())
