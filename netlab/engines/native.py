"""The native engine: the same agent with root on this machine's own kernel, in real time."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import threading

from netlab.agent import files
from netlab.engines import scratch
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
)
from netlab.engines.paths import python_path, system_path
from netlab.plan import AgentPlan, Outcome, Plan

PROGRAM = """
import json, os, sys
boot = json.load(open(sys.argv[1] + "/boot.json"))
sys.path.extend(boot["packages"])
os.environ["PATH"] = ":".join(boot["path"])
os.environ.setdefault("SHELL", "/bin/sh")
from pathlib import Path
from netlab.agent.main import run
sys.exit(run(Path(sys.argv[1])))
"""
RESULT_BYTES = 64 << 20
PROBE = "ip link add nlprobe0 type ifb && tc qdisc add dev nlprobe0 root netem delay 1ms"


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
            package = {"mnexec": "mininet (or build the pocket kernel, which brings one)", "unshare": "util-linux"}.get(
                tool, "iproute2"
            )
            found.append(Requirement(tool, place is not None, place or "not found", f"Install the package {package}."))
        if all(requirement.ok for requirement in found):
            found.append(_netem_requirement(prefix or []))
        return found

    def execute(self, plan: Plan, *, on_event: OnEvent, cancel: threading.Event | None = None) -> Outcome:
        """Run the agent as root and bring its result back; see `PocketEngine.execute` for what it raises."""
        require(self.requirements())
        refuse_media(plan, self.clock, self.name)
        with scratch.run_directory(RESULT_BYTES) as directory:
            folder = run_folder(directory)
            whole: AgentPlan = {**plan, "clock": self.clock, "machine_sysctls": {}}
            (folder / files.PLAN).write_text(json.dumps(whole))
            (folder / files.BOOT).write_text(json.dumps({"packages": python_path(), "path": system_path()}))
            log = directory / "console.log"
            tail = EventTail(folder, on_event)
            # In a network namespace of its own, so that nothing of the run shows in the machine's; and the agent dies
            # with the process that started it, its namespaces and interfaces with it.
            command = [
                *(privilege() or []),
                "unshare",
                "--net",
                "--kill-child",
                sys.executable,
                "-I",
                "-S",
                "-c",
                PROGRAM,
                str(folder),
            ]
            with log.open("wb") as out:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd="/"
                )
            try:
                follow(process, tail, cancel)
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait()
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


def privilege() -> list[str] | None:
    """Words before a command that give it root: none for root, `sudo -n` where that works, None where nothing does."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


def _netem_requirement(prefix: list[str]) -> Requirement:
    done = subprocess.run(
        [*prefix, "unshare", "--net", "sh", "-c", PROBE],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": ":".join(system_path())},
    )
    return Requirement(
        "netem and ifb",
        done.returncode == 0,
        "the kernel has them"
        if done.returncode == 0
        else f"the kernel has not ({done.stderr.strip() or 'it said nothing'})",
        "Load the modules sch_netem and ifb (Debian: linux-image, not -cloud), or use the pocket engine.",
    )
