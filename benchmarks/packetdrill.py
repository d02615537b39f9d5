"""Play Linux's own TCP tests (packetdrill scripts of the kernel's source) in the pocket kernel; write docs/evidence/conformance.md.

    PACKETDRILL=path/to/packetdrill python benchmarks/packetdrill.py [--put-back] [NAME ...]     # all, or those named

A name is that of a script, with or without `.pkt`.

The scripts come from the `linux-source` package that `netlab kernel build` took. The program is in no package registry:
docs/evidence/conformance.md says where it comes from. One script tests a change that Linux took back: `--put-back` builds a kernel with
the change (about 5 minutes) and plays that script there.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import netlab as nl
from netlab_engines.kernels import cache, pocket_kernel
from netlab_kernel import building, sources

TARGET = Path(__file__).parent.parent / "docs" / "evidence" / "conformance.md"
FOLDER = "tools/testing/selftests/net/packetdrill"
# The options of the kernel's own ksft_runner.sh for IPv4.
WORDS = (
    "--ip_version=ipv4 --local_ip=192.168.0.1 --gateway_ip=192.168.0.1 --netmask_ip=255.255.0.0 --remote_ip=192.0.2.1 "
    "-D TFO_COOKIE=3021b9d889017eeb -D TFO_COOKIE_ZERO=b7c12350a90dc8f5 -D CMSG_LEVEL_IP=SOL_IP -D CMSG_TYPE_RECVERR=IP_RECVERR"
)
PROGRAMS = ("cc", "unshare", "ethtool", "ip", "tc", "sysctl", "python3")

CALL_US = 40
# Calls take time on a real clock, and tcp_eor_no-coalesce-retrans counts on it; in virtual time they take none.
CALLS = f"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <time.h>
ssize_t send(int fd, const void *data, size_t size, int flags)
{{
	struct timespec call = {{0, {CALL_US} * 1000}};
	nanosleep(&call, NULL);
	return ((ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send"))(fd, data, size, flags);
}}
"""

# The change that one script tests, and Linux took back: the file, its line, and the line with the change.
TAKEN_BACK = "tcp_advmss_pmtu_ipv4"
CHANGE = (
    "net/ipv4/route.c",
    "advmss = max_t(unsigned int, ipv4_mtu(dst) - header_size,",
    "advmss = max_t(unsigned int, (dst_metric_raw(dst, RTAX_MTU) ?: READ_ONCE(dst_dev_rcu(dst)->mtu)) - header_size,",
)

PAGE = """# Linux's own tests of TCP, in virtual time

The kernel's source has tests of its TCP: scripts for *packetdrill*, which plays one end of a connection packet by packet and
looks at what Linux sends, and when. `benchmarks/packetdrill.py` plays them in the pocket kernel, in a host of a live network.

**{passed} of {number} scripts for IPv4 pass{where}** (Linux {release}, {wall_s:.0f} s). Scripts for IPv6 alone are left out, because the
kernel is built without it. Each call of `send()` takes {call_us} us, because calls take time on a real clock and one script
(`tcp_eor_no-coalesce-retrans`) counts on it: RACK ignores an ACK that comes sooner than the smallest RTT, and the first RTT of that
script lasts as long as its ten calls.

{failures}`tcp_advmss_pmtu_ipv4` tests a change that Linux 7.3.4 took back (its ChangeLog: 'Revert "net: advertise TCP MSS from the
configured MTU, not the learned PMTU"') and left in the source, so the kernel that netlab runs cannot pass it. With `--put-back`
that script is played again in a kernel of the same source whose `ipv4_default_advmss()` looks at the configured MTU.

The program is in no package registry. It is `gtests/net/packetdrill` of <https://github.com/google/packetdrill>, tried at
2c4001c4d6fc (2026-05-14); `./configure && make packetdrill` builds it. It also needs `ethtool`.

The library kernel has no programs, so these scripts are not played there. Its TCP is compiled from the same source, and
`tests/engines/test_parity.py` holds its results against the pocket kernel's.

| script | what it holds | result |
|---|---|---|
{rows}
"""


def unpack_source(place: Path, part: str) -> Path:
    """The kernel's source, of which a part is unpacked into `place`."""
    package = max(sources.downloads().glob("linux-source-*.deb"), key=lambda path: path.stat().st_mtime)
    outer = f"dpkg-deb --fsys-tarfile '{package}' | tar -xO --wildcards '*/linux-source-*.tar.xz' | tar -xJ --wildcards '*/{part}'"
    subprocess.run(["bash", "-o", "pipefail", "-c", outer], cwd=place, check=True)
    return next(place.glob("linux-source-*"))


def changed_kernel(place: Path) -> Path:
    """A kernel with the change that was taken back: built once, and kept next to netlab's own in a cache of its own."""
    own = cache.root() / "taken-back"
    for kernel in own.glob("kernels/*/linux"):
        return kernel
    source, (name, line, changed) = unpack_source(place, "*"), CHANGE
    text = (source / name).read_text()
    if text.count(line) != 1:
        sys.exit(f"{name} of this source has not the one line {line!r}.")
    (source / name).write_text(text.replace(line, changed))
    os.environ["NETLAB_CACHE"] = str(own)
    building.build(source, kinds=(building.POCKET,))
    return next(own.glob("kernels/*/linux"))


def choose_scripts(paths: dict[str, Path], names: list[str]) -> dict[str, Path]:
    """The scripts of these names, by name without `.pkt`; all of them without a name.

    Ends the program, naming similar ones, when there is no script of a name, or one is for IPv6 alone.
    """
    chosen_names = dict.fromkeys(Path(name).name.removesuffix(".pkt") for name in names)
    problems = []
    for name in chosen_names:
        if name not in paths:
            close = similar_names(name, list(paths))
            similar = (
                f"did you mean {' or '.join(close)}?" if close else f"there are {len(paths)}, such as {min(paths)}."
            )
            problems.append(f"There is no script {name}; {similar}")
        elif for_ipv6_alone(paths[name]):
            problems.append(f"{name} is for IPv6 alone, and the kernel is built without it.")
    if problems:
        sys.exit("\n".join(problems))
    return {name: paths[name] for name in chosen_names or paths if not for_ipv6_alone(paths[name])}


def similar_names(name: str, known: list[str]) -> list[str]:
    """At most five of the known names that have this one in them or differ in a few letters; capitals, `-` and `_` do not count."""
    plain = {re.sub("[-_]", "", one.lower()): one for one in known}
    wanted = re.sub("[-_]", "", name.lower())
    close = [one for one in plain if len(wanted) > 2 and wanted in one] + difflib.get_close_matches(wanted, plain, n=5)
    return [plain[one] for one in dict.fromkeys(close)][:5]


def for_ipv6_alone(script: Path) -> bool:
    """True if a script runs over IPv6 only."""
    return "--ip_version=ipv6" in script.read_text()


def first_sentence(text: str) -> str:
    """The first sentence of a script's opening comment."""
    lines = re.findall(r"(?m)^(?://|/\*| \*) ?(.*)$", text.partition("`")[0])
    words = " ".join(line.strip(" */") for line in lines if "SPDX" not in line)
    return re.split(r"(?<=[.:]) ", " ".join(words.split()))[0].replace("|", "/")[:160]


def find_packetdrill() -> str:
    """The path of packetdrill. Ends the program with all that is missing, if that or another program is not installed."""
    given = os.environ.get("PACKETDRILL")
    program = shutil.which(given or "packetdrill")
    problems = []
    if program is None:
        seen = f"PACKETDRILL is {given}, where no program is" if given else "packetdrill is not installed"
        problems.append(f"{seen}. Build it as docs/evidence/conformance.md says, and set PACKETDRILL to its path.")
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        problems.append(f"Not installed: {', '.join(missing)}. Install {'them' if missing[1:] else 'it'}.")
    if program is None or problems:
        sys.exit("\n".join(problems))
    return program


def play(paths: list[Path], words: str) -> dict[str, str]:
    """Why each script fails, "" where it passes, by name."""
    found = {}
    with nl.live(nl.topologies.dumbbell(pairs=1), seed=1) as lab:
        for path in paths:
            output = str(lab["h1"].run(f"cd {path.parent} && {words} {path.name} 2>&1; echo status=$?"))
            line = next((line for line in output.splitlines() if line.startswith(path.name)), "no line of its own")
            found[path.stem] = "" if "status=0" in output else line.partition(": ")[2] or line
            print(f"{path.stem}: {found[path.stem] or 'passes'}", flush=True)
    return found


def main(arguments: list[str]) -> int:
    """Play the scripts and write the page; returns how many failed."""
    names = [name for name in arguments if not name.startswith("-")]
    if unknown := [name for name in arguments if name.startswith("-") and name != "--put-back"]:
        sys.exit(f"Unknown option: {', '.join(unknown)}. There is --put-back.")
    program = find_packetdrill()
    release, where = pocket_kernel.find().release, ""
    with tempfile.TemporaryDirectory(dir=Path.home()) as place:
        source, calls = unpack_source(Path(place), f"{FOLDER}/*"), Path(place) / "calls.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", calls], input=CALLS, text=True, check=True)
        words = f"LD_PRELOAD={calls} unshare -n {Path(program).resolve()} {WORDS}"
        paths = choose_scripts({path.stem: path for path in sorted((source / FOLDER).glob("*.pkt"))}, names)
        began_s = time.monotonic()
        failures = play(list(paths.values()), words)
        wall_s = time.monotonic() - began_s
        results = {name: "**fails**" if reason else "passes" for name, reason in failures.items()}
        if "--put-back" in arguments and failures.get(TAKEN_BACK):
            os.environ["NETLAB_KERNEL"] = str(changed_kernel(Path(place)))
            if not play([paths[TAKEN_BACK]], words)[TAKEN_BACK]:
                results[TAKEN_BACK] = f"fails: {failures.pop(TAKEN_BACK)}; **passes with the change that it tests**"
                where = ", one of them in a kernel with the change that it tests"
        rows = [
            f"| `{path.stem}` | {first_sentence(path.read_text())} | {results[path.stem]} |" for path in paths.values()
        ]
    failed = {name: reason for name, reason in failures.items() if reason}
    failure_lines = "".join(f"- `{name}`: {reason}.\n" for name, reason in failed.items())
    counts: dict[str, Any] = {"passed": len(rows) - len(failed), "number": len(rows), "wall_s": wall_s, "where": where}
    if not names:
        failing = f"What fails:\n\n{failure_lines}\n" if failure_lines else ""
        TARGET.write_text(
            PAGE.format(**counts, call_us=CALL_US, release=release, failures=failing, rows="\n".join(rows))
        )
    print("{passed} of {number} pass{where}, {wall_s:.0f} s".format(**counts))
    return len(failed)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
