"""The native engine: the same agent with root on this machine's own kernel, in real time."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from netlab.agent import files
from netlab.base import scratch
from netlab.base.errors import NotHereError
from netlab.engines import host_kernel
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
from netlab.protocol.plan import AgentPlan, Outcome, Plan

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


class NativeEngine:
    """Runs plans on this machine's kernel, as root or through sudo without a password."""

    name = "native"
    clock = "real"

    def requirements(self) -> list[Requirement]:
        """All that it needs on this machine."""
        prefix = host_kernel.privilege()
        found = [
            Requirement(
                "root",
                prefix is not None,
                "yes" if prefix is not None else "neither root nor sudo without a password",
                "Run as root, or allow this user sudo without a password; the pocket and the library engine need neither.",
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
        for ask in (_namespaces, host_kernel.links):
            if all(requirement.ok for requirement in found):
                found.append(ask())
        return found

    def refuse(self, plan: Plan) -> None:
        """Raise NotHereError when the plan asks for what this machine's kernel or its clock cannot do."""
        refuse_media(plan, self.clock, self.name)
        missing = sorted(wanted_parts(plan) & set(host_kernel.lacking()))
        if missing:
            raise NotHereError(
                f"This experiment needs {', '.join(missing)}, which this machine's own kernel does not have. "
                + host_kernel.remedy(missing)
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
    command = [
        *(host_kernel.privilege() or []),
        *NAMESPACES,
        sys.executable,
        "-I",
        "-S",
        "-c",
        START + program,
        str(folder),
    ]
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


def _namespaces() -> Requirement:
    command = [*(host_kernel.privilege() or []), *NAMESPACES, "true"]
    environment = {**os.environ, "PATH": ":".join(system_path())}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    remedy = "The pocket and the library engine need none."
    if host_kernel.in_container():
        remedy = f"Root of a container may make none, unless it is started so (`docker run --privileged`). {remedy}"
    made = done.returncode == 0
    return Requirement("namespaces", made, "can be made" if made else done.stderr.strip() or "cannot be made", remedy)
