"""Whether guests share a machine's CPUs, whoever starts them, and leave a CPU that something else uses. Needs root and two CPUs.

    python benchmarks/cpus.py [RUNS] [USERS]     # default 40 runs of 10 users; 0: the last part only

The users have numbers of their own and a TMPDIR each; first with one /tmp for all, as on a login server, then with a /tmp
each, as in containers, where nobody sees another's locks. Then one guest is kept beside a program that spins on its CPU.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from netlab import kernel
from netlab.kernel import library

ROOT = Path(__file__).resolve().parent.parent
# Other users may read no Python in this one's home: run it with the system's and name the packages.
PACKAGES = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
FIRST_UID = 61000
EVERY_S = 0.05
WORK = """
import sys, time
import netlab as nl
network = nl.topologies.dumbbell(pairs=4, rate_mbps=200, delay_ms=5, queue_packets=200)
flows = [nl.Tcp(f"h{number}", f"h{number + 4}") for number in range(1, 5)]
for number in range(int(sys.argv[1])):
    began_s = time.monotonic()
    nl.run(network, flows, duration_s=float(sys.argv[2]), seed=number, engine="pocket")
    print(time.monotonic() - began_s, flush=True)
"""


def busy_s() -> dict[int, float]:
    """Seconds that each CPU has worked since the machine started."""
    rows = [
        line.split() for line in Path("/proc/stat").read_text().splitlines() if line[:3] == "cpu" and line[3] != " "
    ]
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    return {int(row[0][3:]): (sum(map(int, row[1:9])) - int(row[4]) - int(row[5])) * tick_s for row in rows}


def guests(uids: set[int]) -> list[tuple[int, str, int, float]]:
    """Of each guest's processes that runs or waits to run: number, state, CPU, seconds of processor."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid not in uids:
                continue
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            words = rest.split()
        except (OSError, ValueError):
            continue
        if "python" not in name:
            found.append((int(folder.name), words[0], int(words[36]), (int(words[11]) + int(words[12])) / 100))
    return found


class Watch(threading.Thread):
    """Counts on which CPU guests work, and how many a CPU has."""

    def __init__(self, uids: set[int]) -> None:
        super().__init__(daemon=True)
        self.uids, self.seen, self.ended = uids, Counter[int](), threading.Event()

    def run(self) -> None:
        while not self.ended.wait(EVERY_S):
            self.seen.update(cpu for _pid, state, cpu, _used_s in guests(self.uids) if state == "R")


def command(uid: int, home: Path, own_tmp: bool, runs: int, duration_s: float) -> list[str]:
    words = [
        "setpriv",
        f"--reuid={uid}",
        f"--regid={uid}",
        "--clear-groups",
        sys.executable,
        "-c",
        WORK,
        str(runs),
        str(duration_s),
    ]
    if own_tmp:
        words = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /tmp && exec "$@"', str(home / "tmp"), *words]
    return words


def start(uid: int, folder: Path, own_tmp: bool, runs: int, duration_s: float) -> subprocess.Popen[str]:
    home = folder / str(uid)
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    for made in (home, home / "tmp"):
        os.chown(made, uid, uid)
    places = {
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "NETLAB_SHARED": str(folder / "shared"),
        "NETLAB_PROGRESS": "0",
    }
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([str(ROOT), *PACKAGES]), **places}
    return subprocess.Popen(
        command(uid, home, own_tmp, runs, duration_s), env=environment, cwd="/", stdout=subprocess.PIPE, text=True
    )


def crowd(folder: Path, own_tmp: bool, runs: int, users: int) -> None:
    uids = {FIRST_UID + number for number in range(users)}
    watch, before, began_s = Watch(uids), busy_s(), time.monotonic()
    watch.start()
    processes = [start(uid, folder, own_tmp, runs // users, 5) for uid in sorted(uids)]
    took_s = sorted(float(line) for process in processes for line in process.communicate()[0].splitlines())
    watch.ended.set()
    watch.join()
    wall_s, after = time.monotonic() - began_s, busy_s()
    failed = sum(process.returncode != 0 for process in processes)
    total = max(1, watch.seen.total())
    print(
        f"\n{'a /tmp each' if own_tmp else 'one /tmp'}: {len(took_s)} runs of {users} users, {failed} failed, {wall_s:.0f} s"
    )
    print(f"  a run took {took_s[0]:.1f} to {took_s[-1]:.1f} s, in the middle {took_s[len(took_s) // 2]:.1f} s")
    for cpu in sorted(after):
        share, worked = watch.seen[cpu] / total, (after[cpu] - before[cpu]) / wall_s
        print(
            f"  CPU {cpu}: {share:5.0%} of the guests' work; busy {worked:5.0%} of the time, with all that goes on here"
        )


def beside_a_spinning_program(folder: Path) -> None:
    process = start(FIRST_UID, folder, False, 1, 60)
    uids = {FIRST_UID}
    while not [one for one in guests(uids) if one[3] > 0.2]:
        time.sleep(EVERY_S)
        if process.poll() is not None:
            sys.exit("The guest ended before it was found.")
    (first, _state, cpu, _used_s) = max(guests(uids), key=lambda one: one[3])
    allowed = os.sched_getaffinity(first)
    print(f"\nA guest is kept on CPU {', '.join(map(str, allowed))}. A program begins to spin on CPU {cpu}.")
    spinning = subprocess.Popen(
        ["setpriv", "--", sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"]
    )
    began_s = time.monotonic()
    try:
        while time.monotonic() - began_s < 20 and process.poll() is None:
            time.sleep(EVERY_S)
            try:
                now = os.sched_getaffinity(first)
            except ProcessLookupError:
                break
            if now != allowed:
                print(
                    f"  after {time.monotonic() - began_s:4.1f} s it may run on CPU {', '.join(map(str, sorted(now)))}"
                )
                allowed = now
    finally:
        spinning.kill()
        spinning.wait()
        process.kill()
        process.communicate()
    print("  The guest left the CPU." if allowed != {cpu} else "  The guest stayed.")


def main() -> None:
    runs, users = ([int(word) for word in sys.argv[1:]] + [40, 10][len(sys.argv) - 1 :])[:2]
    if os.geteuid() != 0 or len(os.sched_getaffinity(0)) < 2:
        sys.exit("This starts programs as several users and needs two CPUs: run it as root.")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="netlab-cpus-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for found in (kernel.find(), library.find()):
            place = folder / "shared" / found.path.parent.parent.name / found.path.parent.name
            shutil.copytree(found.path.parent, place)
        subprocess.run(["chmod", "-R", "a+rX", str(folder / "shared")], check=True)
        for own_tmp in (False, True) if runs else ():
            crowd(folder, own_tmp, runs, users)
        beside_a_spinning_program(folder)


if __name__ == "__main__":
    main()
