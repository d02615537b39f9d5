"""Run Mininet's examples and well-known course topologies in the pocket kernel, and write down how each went.

    python benchmarks/mininet_scripts.py [NAME ...]     # all, or those named; writes docs/evidence/mininet_scripts.md

What counts is what came back (replies, rates), not the exit code: a script whose pings are all lost ends with 0 too.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

import mininet

from netlab.base.errors import NetlabError
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab_engines.lab.script import run_script
from netlab_replication.labs import epfl

DIRECTORY = Path(__file__).parent
EXAMPLES = Path(mininet.__file__ or "").parent / "examples"
TARGET = DIRECTORY.parent / "docs" / "evidence" / "mininet_scripts.md"

NAMES_BY_REQUIREMENT = {
    "more than one machine": "cluster clusterSanity clustercli clusterdemo clusterperf",
    "a graphical display": "consoles miniedit",
    "a network card of the machine's": "hwintf",
    "limits on CPU time, which virtual time has none of": "cpu limit",
    "1024 hosts: more memory than a guest has": "tree1024",
    "an SSH server on the machine": "sshd baresshd",
    "Open vSwitch's own programs": "mobility numberedports scratchnet",
    "OpenFlow's reference programs": "scratchnetuser",
}
NOT_HERE = {name: requirement for requirement, names in NAMES_BY_REQUIREMENT.items() for name in names.split()}

EXPECTED_RESULTS = {
    "bind": "ten hosts, every ping answered",
    "controllers": "four hosts, every ping answered",
    "controllers2": "four hosts, every ping answered",
    "controlnet": "four hosts, every ping answered",
    "emptynet": "two hosts, both pings answered",
    "intfoptions": "5 Mbit/s give 4.78 and what the bucket held; then half of iperf's 10M is lost: 5.24 Mbit/s arrive",
    "linearbandwidth": "10 Mbit/s give 9.57, less over more links, as the last segments take longer",
    "linuxrouter": "three hosts and a router, every ping answered",
    "many_programs": "h2 fetches a hundred files from h1, each with a curl of its own",
    "multilink": "two links, one ping over each",
    "multiping": "all answer but an address that nobody has",
    "multipoll": "three hosts ping for 3 s, once a second, none lost",
    "multitest": "four hosts, every ping answered",
    "nat": "four hosts reach each other and the NAT's node; there is no network outside",
    "natnet": "14 of 20: hosts behind a NAT reach h0 and the NATs, and nobody outside reaches them",
    "popen": "every ping answered, without a delay",
    "popenpoll": "three hosts ping for 10 s, once a second, none lost",
    "simpleperf": "two links that lose 10 %: 81 % of iperf's 10M arrive, 8.49 Mbit/s",
    "treeping64": "64 hosts, twice 4032 pings, every one answered",
    "vlanhost": "three VLANs of two hosts: 6 of 30 pings answered",
}

RESULTS = (
    (re.compile(r"Results: ([\d.]+)% dropped \((\d+)/(\d+) received\)"), "ping: {1} of {2} answered"),
    (re.compile(r"(\d+) packets transmitted, (\d+) received"), "ping: {1} of {0} answered"),
    (re.compile(r"rtt min/avg/max/mdev = [\d.]+/([\d.]+)/"), "RTT {0} ms"),
    (re.compile(r"\*\*\* Results: \[('[^\]]*')\]"), "iperf: {0}"),
    (re.compile(r"sec +[\d.]+ \w?Bytes +([\d.]+ \w?bits/sec)"), "iperf: {0}"),
    (re.compile(r"(\d+) of (\d+) fetched"), "{0} of {1} files fetched"),
    (re.compile(r"seen from outside: (\S+)"), "seen from outside: {0}"),
    (re.compile(r"(forwarded port, [^:]+): (.+)"), "{0}: {1}"),
)


def two_bottlenecks() -> Topology:
    """Return the network of a published lab with two slow links in a row."""
    found = epfl.measurements()
    (rows,) = [rows for (experiment, _), rows in found.items() if experiment == "two-bottlenecks"]
    return next(iter(rows.values())).scenario.topology


PAGE_HEAD = """# Mininet's scripts in the pocket kernel

Made by `python benchmarks/mininet_scripts.py`: Mininet's own examples, topologies that courses use (`benchmarks/mininet/`),
and networks of published labs as `to_mininet()` writes them (`lab_...`). What came back is read from what each
printed. Wall time is that of 2 cores shared with a dozen other programs. What takes it is starting programs: treeping64 starts 8064.

Not offered, and said so by the program that meets it:

- Open vSwitch, and controllers of OpenFlow (`mn --switch ovsk --controller remote`): Linux bridges stand in for the switches and
  learn by themselves, as Mininet's own controller lets switches learn. `ovs-vsctl` and `ovs-ofctl` end with a sentence.
- A network outside: a NAT's node translates (with the machine's `iptables-nft`), but the guest has no way to the machine's
  network. Hosts of `mn --nat` and of `net.addNAT()` reach the node and no further, and the script says so.
- Limits on CPU time: computing takes none of the pocket kernel's time. They are ignored, with a sentence.

| script | | what came back | theory | network time (s) | wall (s) |
|---|---|---|---|---|---|
"""

LABS: dict[str, tuple[Topology, str, str]] = {
    "lab_simpleperf": (
        topologies.portfolio(),
        "pingall\nh1 ping -c3 -q h9\niperf h1 h9\n",
        "all answer; RTT 80 ms and h1 to h9 at most 20 Mbit/s, 19.1 of data",
    ),
    "lab_epfl": (
        topologies.three_pcs(queue_packets=100),
        "pingall\niperf h1 h3\n",
        "all answer; at most 5 Mbit/s, 4.78 of data",
    ),
    "lab_epfl_two_bottlenecks": (two_bottlenecks(), "pingall\n", "all answer"),
    "lab_ece6110": (
        topologies.chain([5, 1, 5], [10, 20, 10], queue_packets=50),
        "pingall\nh1 ping -c3 -q h2\niperf h1 h2\n",
        "all answer; RTT 80 ms and the frames' times; at most 1 Mbit/s, 0.96 of data",
    ),
}
"""Published labs: a network, written as a Mininet script, what is typed at its prompt, and theory."""


def scripts() -> dict[str, Path]:
    """Every script by name: Mininet's own examples, then the course's topologies."""
    examples = {path.stem: path for path in sorted(EXAMPLES.glob("*.py")) if not path.stem.startswith("__")}
    own = {path.stem: path for path in sorted((DIRECTORY / "mininet").glob("*.py"))}
    return {**examples, **own, **{name: Path(name) for name in LABS}}


def replies(output: str) -> str:
    """Return a summary of a script's results from its output."""
    found = []
    for line in output.splitlines():
        for pattern, words in RESULTS:
            hit = pattern.search(line)
            if hit:
                found.append(words.format(*hit.groups()))
    answers = len(re.findall(r"^.*\b64 bytes from ", output, re.MULTILINE))
    if not found and answers:
        found.append(f"{answers} ping replies")
    # Programs that print for each of many pings would fill the table.
    return "; ".join(list(dict.fromkeys(found))[:6])


def run(name: str, path: Path) -> list[str]:
    """Run a script and look at what it printed; returns its row of the table."""
    # Enter commands if an example opens Mininet's prompt.
    lab, keys, expected = LABS.get(name, (None, "pingall\n", EXPECTED_RESULTS.get(name, "")))
    text = lab.to_mininet() if lab else path.read_text(errors="replace")
    if theory := re.search(r"Theory: (.*)\"\"\"", text):
        expected = theory[1]
    if name in NOT_HERE:
        return [name, f"not offered: it wants {NOT_HERE[name]}", "", expected, "", ""]
    parts: list[str] = []
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        if lab:
            path = Path(directory) / f"{name}.py"
            path.write_text(text)
        try:
            place = Path(directory)
            finished = run_script([str(path)], write=parts.append, directory=place, wall_limit_s=1800, input_text=keys)
        except NetlabError as error:
            took = f"{time.monotonic() - began_s:.1f}"
            return [name, str(error).partition(". ")[0], replies("".join(parts)), expected, "0.0", took]
    output = "".join(parts)
    sys.stderr.write(f"--- {name}\n{output}\n")
    last = (output.strip().splitlines() or ["(nothing)"])[-1][:80]
    went = "runs" if finished.code == 0 else f"ends with {finished.code}: {last}"
    return [name, went, replies(output), expected, f"{finished.network_s:.1f}", f"{time.monotonic() - began_s:.1f}"]


def main(names: list[str]) -> None:
    """Run the scripts and write the table."""
    paths = scripts()
    lines = {}
    for name, path in paths.items():
        if not names or name in names:
            row = run(name, path)
            lines[name] = f"| {' | '.join(row)} |".replace("  ", " ")
            print(f"{name}: {row[1]}; {row[2]}", flush=True)
    if names:
        # The others stay as they were.
        old = {text.split(" | ")[0].removeprefix("| "): text for text in TARGET.read_text().splitlines()}
        lines = {name: lines.get(name) or old[name] for name in paths if name in lines or name in old}
    TARGET.write_text(PAGE_HEAD + "".join(f"{text}\n" for text in lines.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
