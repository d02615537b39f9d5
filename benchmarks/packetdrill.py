"""Play Linux's own TCP tests (packetdrill scripts of the kernel's source) in the pocket kernel; write docs/conformance.md.

    PACKETDRILL=path/to/packetdrill python benchmarks/packetdrill.py [NAME ...]     # all, or those named

The scripts come from the `linux-source` package that `netlab kernel build` took. The program is in no package registry:
docs/conformance.md says where it comes from.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import netlab as nl
from netlab import kernel
from netlab.kernel import cache

TARGET = Path(__file__).parent.parent / "docs" / "conformance.md"
FOLDER = "tools/testing/selftests/net/packetdrill"
# As the kernel's own ksft_runner.sh has them for IPv4.
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

# Why a script fails here, where that is known.
REASONS = {
    "tcp_advmss_pmtu_ipv4": (
        "The script tests a change that Linux 7.3.4 took back (its ChangeLog: 'Revert \"net: advertise TCP MSS from the configured "
        "MTU, not the learned PMTU\"'); it was left in the source. With `ipv4_default_advmss()` looking at the interface's MTU again, "
        "in a kernel that was built for this alone, it passes."
    ),
}

PAGE = """# Linux's own tests of TCP, in virtual time

The kernel's source has tests of its TCP: scripts for *packetdrill*, which plays one end of a connection packet by packet and
looks at what Linux sends, and when. `benchmarks/packetdrill.py` plays them in the pocket kernel, in a host of a live network.

**{passed} of {number} scripts for IPv4 pass** (Linux {release}, {wall_s:.0f} s). Scripts for IPv6 alone are left out, because the
kernel is built without it. Each call of `send()` takes {call_us} us, because calls take time on a real clock and one script
(`tcp_eor_no-coalesce-retrans`) counts on it: RACK ignores an ACK that comes sooner than the smallest RTT, and the first RTT of that
script lasts as long as its ten calls.

{failures}
The program is in no package registry. It is `gtests/net/packetdrill` of <https://github.com/google/packetdrill>, tried at
2c4001c4d6fc (2026-05-14); `./configure && make packetdrill` builds it. It also needs `ethtool`.

The library kernel has no programs, so these scripts are not played there. Its TCP is compiled from the same source, and
`tests/engines/test_parity.py` holds its results against the pocket kernel's.

| script | what it holds | result |
|---|---|---|
{rows}
"""


def scripts(place: Path) -> Path:
    """The folder with the kernel's scripts, unpacked into `place`."""
    package = max(cache.sources().glob("linux-source-*.deb"), key=lambda path: path.stat().st_mtime)
    outer = f"dpkg-deb --fsys-tarfile '{package}' | tar -xO --wildcards '*/linux-source-*.tar.xz' | tar -xJ --wildcards '*/{FOLDER}/*'"
    subprocess.run(["bash", "-o", "pipefail", "-c", outer], cwd=place, check=True)
    return next(place.glob(f"*/{FOLDER}"))


def about(text: str) -> str:
    """The first sentence of a script's opening comment."""
    lines = re.findall(r"(?m)^(?://|/\*| \*) ?(.*)$", text.partition("`")[0])
    words = " ".join(line.strip(" */") for line in lines if "SPDX" not in line)
    return re.split(r"(?<=[.:]) ", " ".join(words.split()))[0].replace("|", "/")[:160]


def main(names: list[str]) -> int:
    """Play the scripts and write the page; returns how many failed."""
    program = shutil.which(os.environ.get("PACKETDRILL", "packetdrill"))
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if program is None or missing:
        sys.exit(
            f"Set PACKETDRILL to the program (docs/conformance.md says how it is built). Missing: {missing or 'packetdrill'}"
        )
    rows, failures, began_s = [], [], time.monotonic()
    with tempfile.TemporaryDirectory(dir=Path.home()) as place:
        folder, calls = scripts(Path(place)), Path(place) / "calls.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", calls], input=CALLS, text=True, check=True)
        chosen = [path for path in sorted(folder.glob("*.pkt")) if not names or path.name in names]
        with nl.live(nl.topologies.dumbbell(pairs=1), seed=1) as lab:
            for path in chosen:
                text = path.read_text()
                if "--ip_version=ipv6" in text:
                    continue
                said = lab["h1"].run(
                    f"cd {folder} && LD_PRELOAD={calls} unshare -n {Path(program).resolve()} {WORDS} {path.name} 2>&1; echo status=$?"
                )
                passed = "status=0" in str(said)
                rows.append(f"| `{path.stem}` | {about(text)} | {'passes' if passed else '**fails**'} |")
                if not passed:
                    line = next(
                        (line for line in str(said).splitlines() if line.startswith(path.name)), "no line of its own"
                    )
                    failures.append(
                        f"- `{path.stem}`: {line.partition(': ')[2] or line}. {REASONS.get(path.stem, '')}".rstrip()
                    )
                print(rows[-1], flush=True)
    wall_s = time.monotonic() - began_s
    text = "What fails:\n\n" + "\n".join(failures) + "\n" if failures else ""
    counts = {"passed": len(rows) - len(failures), "number": len(rows), "wall_s": wall_s, "call_us": CALL_US}
    if not names:
        TARGET.write_text(PAGE.format(**counts, release=kernel.find().release, failures=text, rows="\n".join(rows)))
    print("{passed} of {number} pass, {wall_s:.0f} s".format(**counts))
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
