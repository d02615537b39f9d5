"""Kill labs, shells, notebooks, scripts and runs at random moments, and look whether anything is left.

    python benchmarks/kills.py [native] [ROUNDS [FIRST [SECONDS]]]     # default 200 from 0, an hour at most; it may be done in pieces

Left would be: a process a minute later (one that needs more than ten seconds, as on a busy machine, is told), or any file of
netlab's but the lock after the next run has begun. With `native`, as root, notebooks are killed while a lab or a run goes on
on the native engine; then an interface or a named network namespace of the machine's that was not there before is left too.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from pathlib import Path

from netlab.base import scratch

LATE_S = 10.0
PATIENCE_S = 60.0
GUEST_PATIENCE_S = 60.0
NETLAB = str(Path(sys.executable).parent / "netlab")
NETWORK = {"hosts": ["h1", "h2"], "links": [{"a": "h1", "b": "h2", "rate_mbps": 5, "delay_ms": 10}]}
OPEN = f"import netlab as nl; lab = nl.live({NETWORK!r}, wall_limit_s=1000)"

LAB = f"""
{OPEN}
terminal = lab["h1"].terminal()
capture = lab.capture("h1", "h2")
capture.stop()
server = lab["h2"].start("python3 -m http.server 80")
flow = lab.start(nl.Tcp("h1", "h2"))
while True:
    lab["h1"].run("ping -c20 h2")
    lab.advance(20)
"""
BUSY = f"""
{OPEN}
lab["h1"].run("trap '' INT; while :; do :; done")
"""
RUNS = f"""
import netlab as nl
while True:
    kept = nl.run(nl.Topology.from_dict({NETWORK!r}), [nl.Tcp("h1", "h2")], duration_s=30, captures=[nl.Capture("h1", "h2")])
"""
NATIVE_LAB = f"""
{OPEN}
capture = lab.capture("h1", "h2")
server = lab["h2"].start("python3 -m http.server 80; sleep 1000 & disown")
while True:
    flow = lab.start(nl.Tcp("h1", "h2"))
    lab["h1"].run("ping -c2 h2")
    lab.advance(3)
"""
NATIVE_RUNS = f"""
import netlab as nl
traffic = [nl.Tcp("h1", "h2"), nl.Command("h1", "sleep 1000 & ping h2")]
while True:
    kept = nl.run({NETWORK!r}, traffic, duration_s=30, captures=[nl.Capture("h1", "h2")])
"""


def notebook(cell: str) -> str:
    """A program that runs a cell in a notebook's kernel, whose process it prints."""
    return f"""
import time
from jupyter_client import KernelManager
kernel = KernelManager()
kernel.start_kernel()
client = kernel.client()
client.start_channels()
print(kernel.provisioner.pid, flush=True)
client.execute({cell!r})
time.sleep(1000)
"""


SCRIPT = """
from mininet.cli import CLI
from mininet.net import Mininet
from mininet.topo import LinearTopo
net = Mininet(LinearTopo(k=2))
net.start()
while True:
    net.pingAll()
    net["h1"].cmd("sleep 5")
"""
KINDS = ("lab", "busy", "runs", "notebook", "prompt", "script")
NATIVE_KINDS = ("native lab", "native run")
NOTEBOOKS = {"notebook": LAB, "native lab": NATIVE_LAB, "native run": NATIVE_RUNS}
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def command(kind: str, place: Path) -> list[str]:
    """What is started."""
    if kind in ("prompt", "script"):
        (place / "network.json").write_text(json.dumps(NETWORK))
        (place / "script.py").write_text(SCRIPT)
        own = f"{NETLAB} live network.json" if kind == "prompt" else f"{NETLAB} mininet script.py"
        # On a terminal, which goes when it is killed.
        return ["script", "-qec", own, "/dev/null"]
    code = notebook(NOTEBOOKS[kind]) if kind in NOTEBOOKS else {"lab": LAB, "busy": BUSY, "runs": RUNS}[kind]
    return [sys.executable, "-c", textwrap.dedent(code)]


def sessions(tag: str) -> set[int]:
    """Sessions of the processes that were started with this directory."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if tag.encode() in (path / "environ").read_bytes():
                found.add(os.getsid(int(path.name)))
        except (OSError, ProcessLookupError):
            continue
    return found


def has_guest(tag: str) -> bool:
    """Whether a guest was started with this directory."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        # A kernel's command line has it; the native engine's agent is told by its path.
        if tag.encode() in words and (b"uml_dir=" in words or b"netlab.agent.local" in words):
            return True
    return False


def of_the_machine() -> set[str]:
    """Interfaces and named network namespaces of the machine itself; one without a name goes with its last process."""
    names = {f"interface {path.name}" for path in Path("/sys/class/net").iterdir()}
    return names | {f"namespace {path.name}" for path in Path("/run/netns").glob("*")}


def living(wanted: set[int]) -> list[str]:
    """Processes of these sessions, but for the dead that nobody has waited for; one with threads that still end is not dead."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        try:
            threads = len(list(path.with_name("task").iterdir()))
        except OSError:
            continue
        if int(fields[3]) in wanted and (fields[0] not in "ZX" or threads > 1):
            found.append(f"{path.parent.name} {head.partition('(')[2]} ({fields[0]})")
    return found


def kill(kind: str, how: signal.Signals, after_s: float, place: Path, *, with_guest: bool) -> tuple[bool, list[str]]:
    """Start something and end it after a while, counted from its guest's start or its own; returns whether a guest was there
    then, and what is left.
    """
    tmp = place / "tmp"
    tmp.mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp), "NETLAB_PROGRESS": "0", "NETLAB_WARM": "1"}
    if kind in NATIVE_KINDS:
        environment["NETLAB_ENGINE"] = "native"
    child = subprocess.Popen(
        command(kind, place), cwd=place, env=environment, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert child.stdin is not None
    if kind == "prompt":
        child.stdin.write(b"h1 ping h2\n")
        child.stdin.flush()
    begin_s = time.monotonic()
    while with_guest and not has_guest(str(tmp)) and time.monotonic() < begin_s + GUEST_PATIENCE_S:
        time.sleep(0.1)
    time.sleep(after_s)
    started, there = sessions(str(tmp)), has_guest(str(tmp))
    target = child.pid
    if kind in NOTEBOOKS:
        assert child.stdout is not None
        os.set_blocking(child.stdout.fileno(), False)
        said = child.stdout.read() or b""
        target = int(said.split()[0]) if said.strip() else child.pid
    os.kill(target, how)
    if how == signal.SIGINT or (kind in NOTEBOOKS and how != signal.SIGKILL):
        # A first Ctrl-C may stop a command only; the terminal is closed after it.
        time.sleep(1)
    if child.poll() is None:
        child.kill()
    child.wait()
    started |= sessions(str(tmp))
    since_s = time.monotonic()
    late: list[str] = []
    while (left := living(started)) and (took_s := time.monotonic() - since_s) < PATIENCE_S:
        if took_s > LATE_S:
            late = left
        time.sleep(0.1)
    if late:
        print(f"{kind} {how.name} after {after_s:.2f} s: {late} took {took_s:.0f} s to end", flush=True)
    os.environ["TMPDIR"] = str(tmp)
    with scratch.run_directory(0, for_guests=False):
        pass
    # A notebook's connection file is Jupyter's.
    left += [str(path) for path in tmp.glob("netlab*/**/*") if not path.is_dir() and path.name != "lock"]
    for session in started:
        # Whatever was left must not disturb the next round.
        for name in living({session}):
            os.kill(int(name.split()[0]), signal.SIGKILL)
    return there, left


def main(rounds: int, first: int, limit_s: int, *, native: bool = False) -> int:
    """Kill so many times, from the first of a fixed order on; returns an exit code."""
    kinds, signals = (NATIVE_KINDS, SIGNALS[:2]) if native else (KINDS, SIGNALS)
    # In the background of a shell Ctrl-C is ignored, under nohup a terminal's end too, and by what is started from there.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    chance = random.Random(1)  # noqa: S311
    moments_s = [chance.uniform(0.2, 8) for _ in range(first + rounds)]
    done: Counter[str] = Counter()
    bad = guests = 0
    end_s = time.monotonic() + limit_s
    for number in range(first, first + rounds):
        if time.monotonic() > end_s:
            break
        kind, how = kinds[number % len(kinds)], signals[number // len(kinds) % len(signals)]
        after_s = moments_s[number]
        # On a busy machine a moment soon after the start would always be before the guest's.
        with_guest = number // (len(kinds) * len(signals)) % 2 == 0
        before = of_the_machine() if native else set()
        with tempfile.TemporaryDirectory(prefix="netlab-kills-", ignore_cleanup_errors=True) as place:
            there, left = kill(kind, how, after_s, Path(place), with_guest=with_guest)
        left += sorted(of_the_machine() - before) if native else []
        done[f"{kind} {how.name}"] += 1
        guests += there
        if left:
            bad += 1
            print(f"{kind} {how.name} after {after_s:.2f} s left {left}", flush=True)
    print(
        f"{done.total()} kills from {first} on, {guests} while a guest was there, {bad} left something: {dict(done)}",
        flush=True,
    )
    return 1 if bad else 0


if __name__ == "__main__":
    native = sys.argv[1:2] == ["native"]
    given = [int(word) for word in sys.argv[2 if native else 1 :]]
    sys.exit(main(*given, *(200, 0, 3600)[len(given) :], native=native))
