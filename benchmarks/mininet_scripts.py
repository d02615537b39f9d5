"""Run Mininet's examples and well-known course topologies in the pocket kernel, and write down how each went.

    python benchmarks/mininet_scripts.py [NAME ...]     # all, or those named; writes docs/mininet_scripts.md

What counts is what came back (replies, rates), not the exit code: a script whose pings are all lost ends with 0 too.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import mininet

from netlab.errors import NetlabError
from netlab.lab.script import run_script

HERE = Path(__file__).parent
EXAMPLES = Path(mininet.__file__ or "").parent / "examples"
TARGET = HERE.parent / "docs" / "mininet_scripts.md"

NOT_HERE = {
    "cluster": "more than one machine",
    "clusterSanity": "more than one machine",
    "clustercli": "more than one machine",
    "clusterdemo": "more than one machine",
    "clusterperf": "more than one machine",
    "consoles": "a graphical display",
    "miniedit": "a graphical display",
    "hwintf": "a network card of the machine's",
    "cpu": "limits on CPU time, which virtual time has none of",
    "limit": "limits on CPU time, which virtual time has none of",
    "tree1024": "1024 hosts: more memory than a guest has",
    "sshd": "an SSH server on the machine",
    "baresshd": "an SSH server on the machine",
}

RESULTS = (
    (re.compile(r"Results: ([\d.]+)% dropped \((\d+)/(\d+) received\)"), "ping: {1} of {2} answered"),
    (re.compile(r"(\d+) packets transmitted, (\d+) received"), "ping: {1} of {0} answered"),
    (re.compile(r"rtt min/avg/max/mdev = [\d.]+/([\d.]+)/"), "RTT {0} ms"),
    (re.compile(r"\*\*\* Results: \[('[^\]]*')\]"), "iperf: {0}"),
    (re.compile(r"sec +[\d.]+ \w?Bytes +([\d.]+ \w?bits/sec)"), "iperf: {0}"),
    (re.compile(r"seen from outside: (\S+)"), "seen from outside: {0}"),
)


@dataclass(frozen=True)
class Row:
    """How a script went."""

    name: str
    went: str
    replies: str
    theory: str
    network_s: float
    wall_s: float


def scripts() -> dict[str, Path]:
    """Every script by name: Mininet's own examples, then the course's topologies."""
    examples = {path.stem: path for path in sorted(EXAMPLES.glob("*.py")) if not path.stem.startswith("__")}
    return {**examples, **{path.stem: path for path in sorted((HERE / "mininet").glob("*.py"))}}


def replies(said: str) -> str:
    """What came back, by what the script printed."""
    found = []
    for line in said.splitlines():
        for pattern, words in RESULTS:
            hit = pattern.search(line)
            if hit:
                found.append(words.format(*hit.groups()))
    return "; ".join(dict.fromkeys(found))


def run(name: str, path: Path) -> Row:
    """Run a script and look at what it printed."""
    theory = re.search(r"Theory: (.*)\"\"\"", path.read_text(errors="replace"))
    expected = theory[1] if theory else ""
    if name in NOT_HERE:
        return Row(name, f"not offered: it wants {NOT_HERE[name]}", "", expected, 0, 0)
    parts: list[str] = []
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        try:
            finished = run_script([str(path)], write=parts.append, directory=Path(directory), wall_limit_s=120)
        except NetlabError as error:
            return Row(
                name, str(error).splitlines()[0], replies("".join(parts)), expected, 0, time.monotonic() - began_s
            )
    said = "".join(parts)
    sys.stderr.write(f"--- {name}\n{said}\n")
    went = (
        "runs"
        if finished.code == 0
        else f"ends with {finished.code}: {(said.strip().splitlines() or ['(nothing)'])[-1][:80]}"
    )
    return Row(name, went, replies(said), expected, finished.network_s, time.monotonic() - began_s)


def main(names: list[str]) -> None:
    """Run the scripts and write the table."""
    known = scripts()
    rows = []
    for name, path in known.items():
        if not names or name in names:
            rows.append(run(name, path))
            print(f"{name}: {rows[-1].went}; {rows[-1].replies}", flush=True)
    if names:
        return
    lines = [
        "# Mininet's scripts in the pocket kernel",
        "",
        "Made by `python benchmarks/mininet_scripts.py`: Mininet's own examples, then topologies that courses use",
        "(`benchmarks/mininet/`). What came back is read from what each printed.",
        "",
        "| script | | what came back | theory | network time (s) | wall (s) |",
        "|---|---|---|---|---|---|",
        *(f"| {r.name} | {r.went} | {r.replies} | {r.theory} | {r.network_s:.1f} | {r.wall_s:.1f} |" for r in rows),
        "",
    ]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
