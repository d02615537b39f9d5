"""The native engine: the same agent with root on this machine's own kernel, in real time."""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
from collections.abc import Collection
from pathlib import Path

from netlab import scratch
from netlab.agent import files
from netlab.congestion import CONGESTION_CONTROLS, OWN
from netlab.engines.base import (
    EventTail,
    OnEvent,
    Requirement,
    follow,
    read_result,
    refuse_media,
    require,
    run_folder,
    take_artifacts,
    wanted_parts,
)
from netlab.engines.paths import python_path, system_path
from netlab.errors import NotHereError
from netlab.plan import AgentPlan, Outcome, Plan
from netlab.queues import DISCIPLINES, Wanted

START = """
import json, os, sys
boot = json.load(open(sys.argv[1] + "/boot.json"))
sys.path.extend(boot["packages"])
os.environ["PATH"] = ":".join(boot["path"])
os.environ.setdefault("SHELL", "/bin/sh")
"""
PROGRAM = """
from pathlib import Path
from netlab.agent.local import end_with_input, in_memory
end_with_input()
from netlab.agent.main import run
sys.exit(run(Path(sys.argv[1]), work=in_memory(Path(sys.argv[1]))))
"""
# The agent is the first process of its namespace: when it goes, whatever its hosts started goes too.
NAMESPACES = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
RESULT_BYTES = 64 << 20
PATIENCE_S = 5.0
DEVICE = "nlprobe0"
PROBE = (
    f"ip link add {DEVICE} type ifb && tc qdisc add dev {DEVICE} root netem delay 1ms && tc qdisc add dev {DEVICE} ingress"
    f" && tc filter add dev {DEVICE} ingress matchall action mirred egress redirect dev {DEVICE}"
)
EXAMPLE = Wanted(rate_mbps=10, queue_packets=100)
# Says which congestion controls a socket cannot have; a module is loaded by asking for it, as root.
ASK_CONTROLS = """
import socket, sys
for name in sys.argv[1:]:
    try:
        with socket.socket() as asked:
            asked.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except OSError:
        print(name)
"""
REMEDY = (
    "Load the modules, or install those that your distribution has in a package of their own (Ubuntu: "
    "linux-modules-extra-$(uname -r), Fedora: kernel-modules-extra; Debian's kernels, cloud ones too, have them); "
    "else use the pocket or the library engine, which bring their own kernel."
)


class NativeEngine:
    """Runs plans on this machine's kernel, as root or through sudo without a password."""

    name = "native"
    clock = "real"

    def requirements(self) -> list[Requirement]:
        """All that it needs on this machine."""
        prefix = privilege()
        found = [
            Requirement(
                "root",
                prefix is not None,
                "yes" if prefix is not None else "neither root nor sudo without a password",
                "Run as root, allow sudo, or use the pocket engine, which needs no privilege.",
            )
        ]
        for tool in ("ip", "tc", "unshare", "mnexec"):
            place = shutil.which(tool, path=":".join(system_path()))
            package = {
                "mnexec": "mininet, or run `netlab kernel build`: each kernel brings one",
                "unshare": "util-linux",
            }
            remedy = f"Install the package {package.get(tool, 'iproute2')}."
            found.append(Requirement(tool, place is not None, place or "not found", remedy))
        if all(requirement.ok for requirement in found):
            found.append(_netem_requirement(prefix or []))
        return found

    def refuse(self, plan: Plan) -> None:
        """Raise NotHereError when the plan asks for what this machine's kernel or its clock cannot do."""
        refuse_media(plan, self.clock, self.name)
        missing = sorted(wanted_parts(plan) & set(lacking()))
        if missing:
            raise NotHereError(
                f"This experiment needs {', '.join(missing)}, which this machine's own kernel does not have. {_remedy(missing)}"
            )

    def execute(self, plan: Plan, *, on_event: OnEvent, cancel: threading.Event | None = None) -> Outcome:
        """Run the agent as root and bring its result back; see `PocketEngine.execute` for what it raises."""
        require(self.requirements())
        self.refuse(plan)
        with scratch.run_directory(RESULT_BYTES) as directory:
            folder = run_folder(directory)
            whole: AgentPlan = {**plan, "clock": self.clock, "machine_sysctls": {}}
            (folder / files.PLAN).write_text(json.dumps(whole))
            (folder / files.BOOT).write_text(json.dumps({"packages": python_path(), "path": system_path()}))
            (folder / files.WORK).mkdir()
            log = directory / "console.log"
            tail = EventTail(folder, on_event)
            # The agent ends when its input does, also where whoever started it was killed.
            process = start_agent(PROGRAM, folder, log, stdin=subprocess.PIPE)
            assert process.stdin is not None
            try:
                with process.stdin:
                    follow(process, tail, cancel)
            finally:
                wait_for_the_end(process)
            tail.poll()
            counters = read_result(folder, tail, log)
            kept = take_artifacts(folder)
        settings = {
            "engine": self.name,
            "clock": self.clock,
            "seeded": False,
            "confined": False,
            "machine": platform.node(),
        }
        return {**counters, "engine": settings, "artifacts": kept}


def start_agent(program: str, folder: Path, log: Path, *, stdin: int) -> subprocess.Popen[bytes]:
    """Start a Python program as root in namespaces of its own, so that nothing of it shows in the machine's network.

    Parameters
    ----------
    program : str
        What it does after `START`: `boot` is what `boot.json` in the folder says, `sys.argv[1]` the folder.
    folder, log : Path
        Its folder, and where what it prints goes.
    stdin : int
        As for `subprocess.Popen`.
    """
    command = [*(privilege() or []), *NAMESPACES, sys.executable, "-I", "-S", "-c", START + program, str(folder)]
    with log.open("wb") as out:
        return subprocess.Popen(
            command, stdin=stdin, stdout=out, stderr=subprocess.STDOUT, cwd="/", start_new_session=True
        )


def wait_for_the_end(process: subprocess.Popen[bytes]) -> None:
    """Wait for an agent that was told to end, or has."""
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        # It may be another user's. What kills unshare(1) takes the agent along.
        process.kill() if os.geteuid() == 0 else process.terminate()
        process.wait()


def privilege() -> list[str] | None:
    """Words before a command that give it root: none for root, `sudo -n` where that works, None where nothing does."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


@functools.cache
def lacking() -> tuple[str, ...]:
    """Which queue disciplines and congestion controls this machine's kernel lacks; to be asked where the rest is there."""
    prefix = privilege() or []
    script = f"ip link add {DEVICE} type dummy || exit; " + "; ".join(
        f"tc qdisc replace dev {DEVICE} root {row.tc(EXAMPLE)} || echo {row.name}" for row in DISCIPLINES.values()
    )
    found = _probe(prefix, ["sh", "-c", script]).stdout.split()
    found += _probe(prefix, [sys.executable, "-I", "-S", "-c", ASK_CONTROLS, *CONGESTION_CONTROLS]).stdout.split()
    return tuple(found)


def features() -> Requirement:
    """What `lacking` says, and what to do. A scenario needs few of them, so none is required."""
    missing = lacking()
    return Requirement(
        "kernel features",
        not missing,
        f"lacks {', '.join(missing)}" if missing else "all that netlab uses",
        _remedy(missing),
        required=False,
    )


def _remedy(missing: Collection[str]) -> str:
    own = f"In netlab's own kernels only: {', '.join(sorted(OWN))}." if OWN & set(missing) else ""
    return " ".join(text for text in ("" if set(missing) <= OWN else REMEDY, own) if text)


def _probe(prefix: list[str], command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": ":".join(system_path())}
    return subprocess.run(
        [*prefix, "unshare", "--net", *command], capture_output=True, text=True, env=environment, check=False
    )


def _netem_requirement(prefix: list[str]) -> Requirement:
    done = _probe(prefix, ["sh", "-c", PROBE])
    return Requirement(
        "netem and ifb",
        done.returncode == 0,
        "the kernel has them"
        if done.returncode == 0
        else f"the kernel has not ({done.stderr.strip() or 'it said nothing'})",
        REMEDY,
    )
