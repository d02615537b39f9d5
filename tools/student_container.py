"""A container as a hub makes it for a student: its limits, and programs in it with their time and memory.

It has what Kubernetes gives a student: user 1000, no capability, no new privileges, moby's seccomp profile, a root that
cannot be written, one CPU, 2 GB; only home and /tmp are writable. Standard library only.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from image_programs import ARCHITECTURES, ImageError

UID = 1000
HOME = "/home/jovyan"
MEMORY_BYTES = 2 << 30
CPUS = 1.0
PROCESSES = 512
# The limit of containerd, if this machine allows as much.
OPEN_FILES = min(1 << 20, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def applies(rule: dict[str, Any], machine: str, kernel: tuple[int, ...]) -> bool:
    """Return whether a rule of a profile holds for a container without capabilities on this machine."""
    only, never = rule.get("includes") or {}, rule.get("excludes") or {}
    least = tuple(int(part) for part in only.get("minKernel", "0.0").split("."))
    return (
        not only.get("caps")
        and kernel >= least
        and machine in only.get("arches", [machine])
        and machine not in never.get("arches", [])
    )


def seccomp(profile: dict[str, Any]) -> dict[str, Any]:
    """A profile of Docker's form as the runtime takes it, for a container without capabilities."""
    machine = os.uname().machine
    native = f"SCMP_ARCH_{machine.upper()}"
    kernel = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    row = next(row for row in profile["archMap"] if row["architecture"] == native)
    rules = []
    for rule in profile["syscalls"]:
        if not applies(rule, ARCHITECTURES[machine], kernel):
            continue
        kept = {name: rule[name] for name in ("names", "action", "errnoRet") if rule.get(name) is not None}
        rules.append({**kept, "args": rule.get("args") or []})
    return {
        "defaultAction": profile["defaultAction"],
        "defaultErrnoRet": profile.get("defaultErrnoRet", 1),
        "architectures": [native, *(row.get("subArchitectures") or [])],
        "syscalls": rules,
    }


def specification(
    name: str, rootfs: Path, settings: dict[str, Any], home: Path, tmp: Path, profile: Path, words: Sequence[str]
) -> dict[str, Any]:
    """A container as a hub makes it, for the runtime."""

    def bind(source: Path, target: str, *more: str) -> dict[str, Any]:
        return {
            "destination": target,
            "type": "bind",
            "source": str(source),
            "options": ["rbind", "nosuid", "nodev", *more],
        }

    kept = ["nosuid", "noexec", "nodev"]
    masked = [
        "/proc/acpi",
        "/proc/kcore",
        "/proc/keys",
        "/proc/timer_list",
        "/proc/sched_debug",
        "/proc/scsi",
        "/sys/firmware",
    ]
    return {
        "ociVersion": "1.0.2",
        "hostname": "jupyter-ann",
        "root": {"path": str(rootfs), "readonly": True},
        "process": {
            "terminal": False,
            "user": {"uid": UID, "gid": UID},
            "args": [*settings.get("Entrypoint", []), *words],
            "env": [*settings["Env"], f"HOME={HOME}"],
            "cwd": settings["WorkingDir"],
            "capabilities": {name: [] for name in ("bounding", "effective", "permitted", "inheritable", "ambient")},
            "noNewPrivileges": True,
            "rlimits": [{"type": "RLIMIT_NOFILE", "hard": OPEN_FILES, "soft": 1024}],
        },
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc", "options": kept},
            {
                "destination": "/dev",
                "type": "tmpfs",
                "source": "tmpfs",
                "options": ["nosuid", "mode=755", "size=65536k"],
            },
            {
                "destination": "/dev/pts",
                "type": "devpts",
                "source": "devpts",
                "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
            },
            {
                "destination": "/dev/shm",
                "type": "tmpfs",
                "source": "shm",
                "options": [*kept, "mode=1777", "size=65536k"],
            },
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": [*kept, "ro"]},
            bind(home, HOME),
            bind(tmp, "/tmp"),
        ],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")],
            "maskedPaths": masked,
            "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
            "cgroupsPath": f"/{name}",
            "resources": {
                "memory": {"limit": MEMORY_BYTES, "swap": MEMORY_BYTES},
                "cpu": {"quota": int(CPUS * 100_000), "period": 100_000},
                "pids": {"limit": PROCESSES},
                "devices": [{"allow": False, "access": "rwm"}],
            },
            "seccomp": seccomp(json.loads(profile.read_text())),
        },
    }


@dataclass(frozen=True)
class ProgramResult:
    """The outcome of a program in the container: its output, seconds of wall-clock and processor time, and its peak memory."""

    output: str
    wall_s: float
    cpu_s: float
    memory_mb: float


class Student:
    """Containers of one student, one after the other: the same home, which is empty at first."""

    def __init__(
        self, runtime: str, rootfs: Path, settings: dict[str, Any], profile: Path, folder: Path, slower: int = 1
    ) -> None:
        self.slower = slower
        self._runtime, self._rootfs, self._settings, self._profile = runtime, rootfs, settings, profile
        self._bundle, self.home, self.tmp = folder / "bundle", folder / "home", folder / "tmp"
        for made in (self._bundle, self.home, self.tmp):
            made.mkdir()
        for own in (self.home, self.tmp):
            os.chown(own, UID, UID)

    def run(self, *words: str, patience_s: float = 540.0) -> ProgramResult:
        """Run a program as the student.

        Raises
        ------
        ImageError
            If it fails, with its last words.
        """
        name = f"netlab-image-{os.getpid()}"
        runtime_config = specification(name, self._rootfs, self._settings, self.home, self.tmp, self._profile, words)
        (self._bundle / "config.json").write_text(json.dumps(runtime_config))
        began_s = time.monotonic()
        out = self._bundle / "out"
        with out.open("w+") as said:
            process = subprocess.Popen(
                [self._runtime, "run", "--bundle", str(self._bundle), name],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
            most, cpu_s = 0.0, 0.0
            try:
                while process.poll() is None:
                    memory, cpu = usage(name)
                    most, cpu_s = max(most, memory), max(cpu_s, cpu)
                    if time.monotonic() - began_s > patience_s * self.slower:
                        raise ImageError(
                            f"{words[0]} had not ended after {patience_s * self.slower:.0f} s. It said:\n{out.read_text()}"
                        )
                    time.sleep(0.1)
            finally:
                if process.poll() is None:
                    subprocess.run([self._runtime, "kill", name, "KILL"], check=False)
                    process.wait()
                subprocess.run([self._runtime, "delete", "--force", name], capture_output=True, check=False)
        text = out.read_text(errors="replace")
        if process.returncode != 0:
            raise ImageError(f"{' '.join(words)} ended with status {process.returncode}:\n{text[-3000:]}")
        return ProgramResult(text, time.monotonic() - began_s, cpu_s, most / 1e6)


def usage(name: str) -> tuple[float, float]:
    """Bytes of memory that a control group needs now (its working set, as Kubernetes counts it) and its processor seconds."""
    groups = Path("/sys/fs/cgroup")
    try:
        if (groups / "memory").is_dir():
            memory = groups / "memory" / name
            used, idle = int((memory / "memory.usage_in_bytes").read_text()), "total_inactive_file"
            cpu_s = int((groups / "cpuacct" / name / "cpuacct.usage").read_text()) / 1e9
        else:
            memory = groups / name
            used, idle = int((memory / "memory.current").read_text()), "inactive_file"
            cpu_s = int(facts(memory / "cpu.stat")["usage_usec"]) / 1e6
        return used - int(facts(memory / "memory.stat")[idle]), cpu_s
    except (OSError, KeyError, ValueError):
        # The process has not started yet, or has ended.
        return 0.0, 0.0


def facts(path: Path) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in path.read_text().splitlines() if " " in line)
