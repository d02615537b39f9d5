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
PROGRAMS = ("unshare", "ethtool", "ip", "tc", "sysctl", "python3")

# Why a script fails here, where that is known.
REASONS = {
    "tcp_advmss_pmtu_ipv4": (
        "The script asks for an MSS made of the interface's MTU. `ipv4_default_advmss()` in this source's `net/ipv4/route.c` "
        "takes the learned path MTU instead, so Linux of this version fails its own test anywhere. Linux 6.18 on a real clock says "
        "the same 1160. Nothing in the tests' own `config`, `defaults.sh` and `ksft_runner.sh` changes it."
    ),
    "tcp_eor_no-coalesce-retrans": (
        "After a retransmission RACK ignores an ACK that is quicker than the connection's smallest RTT. The script takes it that this "
        "one is, by the time that its own eleven calls need between the first segment and its ACK. On a real clock they do: the "
        "first RTT is 1.4 to 1.6 ms, the retransmission's below 1 ms, and the script passes 59 times in 60 (Linux 6.18, BBR and Reno). "
        "In virtual time calls need no time. Both are 1.02 ms, to the microsecond, so RACK takes the ACK and marks the rest as lost. With "
        "990 us in the script it passes."
    ),
}

PAGE = """# Linux's own tests of TCP, in virtual time

The kernel's source has tests of its TCP: scripts for *packetdrill*, which plays one end of a connection packet by packet and
looks at what Linux sends, and when. `benchmarks/packetdrill.py` plays them in the pocket kernel, in a host of a live network.

**{passed} of {number} scripts for IPv4 pass** (Linux {release}, {wall_s:.0f} s). Scripts for IPv6 alone are left out, because the
kernel is built without it.

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
        folder = scripts(Path(place))
        chosen = [path for path in sorted(folder.glob("*.pkt")) if not names or path.name in names]
        with nl.live(nl.topologies.dumbbell(pairs=1), seed=1) as lab:
            for path in chosen:
                text = path.read_text()
                if "--ip_version=ipv6" in text:
                    continue
                said = lab["h1"].run(
                    f"cd {folder} && unshare -n {Path(program).resolve()} {WORDS} {path.name} 2>&1; echo status=$?"
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
    counts = {"passed": len(rows) - len(failures), "number": len(rows), "wall_s": wall_s}
    if not names:
        TARGET.write_text(PAGE.format(**counts, release=kernel.find().release, failures=text, rows="\n".join(rows)))
    print("{passed} of {number} pass, {wall_s:.0f} s".format(**counts))
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
