"""The pocket kernel in a sandbox such as a teaching hub gives: no privilege, little of everything."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

import netlab as nl
from netlab_engines.kernels import pocket_kernel

pytestmark = pytest.mark.pocket


ROOT = pathlib.Path(__file__).parent.parent.parent
NOBODY = 65534
SCENARIO = nl.Scenario(nl.topologies.portfolio(), [nl.Tcp("h1", "h4"), nl.Tcp("h7", "h9")], duration_s=10)
PROGRAM = textwrap.dedent(
    """
    import json, os, resource, sys
    import netlab as nl
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    run = nl.run(json.load(sys.stdin), progress=False)
    print(json.dumps({
        "uid": os.getuid(),
        "capabilities": int(status["CapEff"], 16) | int(status["CapBnd"], 16),
        "no_new_privs": int(status["NoNewPrivs"]),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "home_writable": os.access(os.environ["HOME"], os.W_OK),
        "received_bytes": [int(n) for n in run.flows.received_bytes],
    }))
    """
)


def python_for(uid: int) -> str:
    """A Python that this user can start (root's own may be out of his reach)."""
    # Started twice: the first start may still be with the privileges that it is about to lose.
    program = "import subprocess, sys; subprocess.check_call([sys.executable, '-c', '']); print(sys.version_info[:2])"
    for candidate in (sys.executable, "/usr/bin/python3"):
        probe = subprocess.run(
            ["setpriv", f"--reuid={uid}", "--clear-groups", "--bounding-set=-all", candidate, "-c", program],
            capture_output=True,
            text=True,
        )
        if probe.returncode == 0 and probe.stdout.strip() == str(sys.version_info[:2]):
            return candidate
    pytest.skip("no Python of this version that an ordinary user could start")


@pytest.mark.root
def test_sandboxed_run_gives_the_same_bytes(tmp_path_factory: pytest.TempPathFactory) -> None:
    """uid nobody, no capabilities, no-new-privs, /dev/shm of 64 MB noexec, HOME read-only, 1024 files, 1 GB of memory."""
    here = pathlib.Path(subprocess.check_output(["mktemp", "-d", "/var/tmp/netlab-sandbox-XXXXXX"], text=True).strip())
    try:
        for name in ("home", "scratch"):
            (here / name).mkdir()
        here.chmod(0o755)
        (here / "home").chmod(0o555)
        os.chown(here / "scratch", NOBODY, NOBODY)
        shutil.copytree(pocket_kernel.find().path.parent, here / "kernel")
        packages = [path for path in sys.path if path.endswith("site-packages")]
        environment = {
            "HOME": str(here / "home"),
            "TMPDIR": str(here / "scratch"),
            "NETLAB_KERNEL": str(here / "kernel" / "linux"),
            "PYTHONPATH": ":".join([str(ROOT), *packages]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        }
        inside = [
            "prlimit",
            "--nofile=1024:1024",
            "setpriv",
            f"--reuid={NOBODY}",
            f"--regid={NOBODY}",
            "--clear-groups",
            "--no-new-privs",
            "--bounding-set=-all",
            "--inh-caps=-all",
            python_for(NOBODY),
            "-c",
            PROGRAM,
        ]
        script = 'mount -t tmpfs -o size=64m,noexec,nodev,nosuid none /dev/shm && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", script, "sandbox", *inside]
        words = json.dumps(SCENARIO.to_dict())
        with memory_limit(1 << 30) as join:
            done = subprocess.run(
                command,
                input=words,
                capture_output=True,
                text=True,
                env=environment,
                cwd="/",
                preexec_fn=join,
                timeout=120,
            )
        # The same Python outside: another version reads the clock at other moments, and that moves packets.
        free = subprocess.run(
            inside[-3:], input=words, capture_output=True, text=True, env=environment, cwd="/", timeout=120
        )
    finally:
        shutil.rmtree(here)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["uid"], seen["capabilities"], seen["no_new_privs"], seen["home_writable"]) == (NOBODY, 0, 1, False)
    assert seen["files"] == [1024, 1024]
    assert seen["received_bytes"] == json.loads(free.stdout)["received_bytes"]


class memory_limit:  # noqa: N801 (used like a function)
    """A memory cgroup for a child process, where this machine lets us make one."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._group: pathlib.Path | None = None

    def __enter__(self) -> object:
        for parent, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            if not (pathlib.Path(parent) / "cgroup.procs").exists():
                continue
            group = pathlib.Path(parent) / f"netlab-sandbox-{os.getpid()}"
            try:
                group.mkdir()
                (group / file).write_text(str(self._limit_bytes))
            except OSError:
                if group.exists():
                    group.rmdir()
                continue
            self._group = group
            return lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
        return None

    def __exit__(self, *error: object) -> None:
        if self._group is not None:
            self._group.rmdir()
