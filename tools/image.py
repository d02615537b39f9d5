"""Build the image of binder/Dockerfile without Docker, and try it as a hub's student would have it.

    python3 tools/image.py build [--base IMAGE] [--wheel FILE]      buildah; without --base, mmdebstrap makes one of Debian's packages
    python3 tools/image.py --tag netlab-arm64 build --architecture arm64 --wheel FILE      for the other processor, under qemu-user-static
    python3 tools/image.py test [--chapter NAME]...                 runc or crun; prints sizes, times and memory

Both need root, because they mount. The trial is what Kubernetes gives a student: user 1000, no capability, no new
privileges, moby's seccomp profile, a root that cannot be written, one CPU, 2 GB; only home (empty at first) and /tmp are writable.
One name for both: `buildah manifest create NAME netlab netlab-arm64`. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from netlab_kernel import apt  # noqa: E402 (the kernel's room needs the standard library only)

RELEASE = "trixie"
BASE = "localhost/netlab-base"
# The names of processors in Debian, Docker and the profiles.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
TAG = "netlab"
MAX_BYTES = 1_200_000_000
# The processor that qemu-user takes by itself signs pointers, which is most of its time.
EMULATED = "cortex-a72"
# How much longer a trial may take there.
EMULATED_SLOWER = 10
SERVER_S = 90
UID = 1000
HOME = "/home/jovyan"
MEMORY_BYTES = 2 << 30
CPUS = 1.0
PROCESSES = 512
# The limit of containerd, if this machine allows as much.
OPEN_FILES = min(1 << 20, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
BUNDLES = (Path("/etc/ssl/certs/ca-certificates.crt"), Path("/etc/pki/tls/certs/ca-bundle.crt"))
# A directory that every Debian has and no package uses: nothing of the bundle stays, not even a place to mount it on.
BUNDLE_PLACE = "/mnt"
SLIM = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
# Moby's own where its source package is installed (golang-github-docker-docker-dev), else Podman's, which is near it.
PROFILES = (
    Path("/usr/share/gocode/src/github.com/docker/docker/profiles/seccomp/default.json"),
    Path("/usr/share/containers/seccomp.json"),
)
CHAPTERS = ("00_start_here", "01_udp_loss")
EXECUTE = "jupyter nbconvert --log-level=WARN --to notebook --execute netlab-chapters/{}.ipynb --output-dir=/tmp"
HUB = Path(__file__).with_name("hub_stand_in.py")
LIVE = """
import netlab as nl
with nl.live(nl.topologies.dumbbell(pairs=2, rate_mbps=5, delay_ms=10), seed=1) as lab:
    lab["h1"].run("ping -c3 h3")
    flow = lab.start(nl.Tcp("h2", "h4"))
    lab.advance(60)
    print(len(lab.flows), "flow")
"""


class ImageError(Exception):
    """The image cannot be built or does not do what it must; the text says what was seen."""


def run(*words: str | Path) -> str:
    """Run a program whose output is asked for; a failure is told with its last words."""
    process = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise ImageError(
            f"{words[0]} {words[1]} ended with status {process.returncode}: {process.stderr.strip()[-2000:]}"
        )
    return process.stdout.strip()


def need(*programs: str) -> None:
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        raise ImageError(
            f"These programs are missing: {', '.join(missing)}. On Debian: apt-get install {' '.join(missing)}"
        )
    if os.geteuid() != 0:
        raise ImageError("This mounts file systems: run it as root.")


# Building -----------------------------------------------------------------------------------------------------


def make_base(architecture: str) -> str:
    """An image of Debian's own packages, from the mirror that this machine's apt is configured with."""
    need("mmdebstrap")
    base = f"{BASE}-{architecture}"
    targets = apt.parse_targets(run("apt-get", "indextargets", "--format", apt.TARGET_FORMAT))
    mirror = apt.debian_mirror(targets, RELEASE)
    if architecture == "arm64":
        os.environ["QEMU_CPU"] = EMULATED
    with tempfile.TemporaryDirectory(prefix="netlab-image-") as folder:
        packed = Path(folder) / "base.tar"
        words = ["--quiet", f"--architectures={architecture}", "--variant=minbase", "--include=ca-certificates"]
        words += [f"--dpkgopt=path-exclude={pattern}" for pattern in SLIM]
        run("mmdebstrap", *words, RELEASE, packed, *([mirror] if mirror else []))
        container = run("buildah", "from", "scratch")
        try:
            run("buildah", "config", "--arch", architecture, container)
            run("buildah", "add", container, packed, "/")
            run("buildah", "commit", "-q", container, base)
        finally:
            run("buildah", "rm", container)
    return base


def stage(context: Path, wheel: Path | None) -> None:
    """Copy what is in the clone's keeping; what lies around in it beside that is not part of an image."""
    names = run("git", "-C", ROOT, "ls-files", "-z").rstrip("\0").split("\0")
    for name in names:
        source, target = ROOT / name, context / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    if wheel:
        shutil.copy(wheel, context / "binder" / wheel.name)


def builder_words(architecture: str, base: str) -> list[str]:
    """The processor, as the builder takes it."""
    words = ["--isolation", "chroot", "--arch", architecture, "--build-arg", f"BASE={base}"]
    return [*words, "--build-arg", f"QEMU_CPU={EMULATED}"] if architecture == "arm64" else words


def build(options: argparse.Namespace) -> None:
    need("buildah", "git")
    began_s = time.monotonic()
    base = options.base or make_base(options.architecture)
    print(f"base: {base}, {time.monotonic() - began_s:.0f} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="netlab-image-") as folder:
        context, bundle = Path(folder) / "context", Path(folder) / "bundle"
        for made in (context, bundle):
            made.mkdir()
        stage(context, options.wheel)
        words: list[str | Path] = [*builder_words(options.architecture, base), "--tag", options.tag]
        found = next((path for path in BUNDLES if path.is_file()), None)
        if found:
            # This machine's network may have a certificate of its own.
            shutil.copy(found, bundle / "bundle.crt")
            words += ["--volume", f"{bundle}:{BUNDLE_PLACE}:ro", "--build-arg", f"PIP_CERT={BUNDLE_PLACE}/bundle.crt"]
        log = Path(options.log)
        with log.open("w") as out:
            command = ["buildah", "build", *map(str, words), "--file", str(context / "binder/Dockerfile"), str(context)]
            status = subprocess.run(command, stdout=out, stderr=out, check=False).returncode
        if status != 0:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            raise ImageError(f"The image was not built. The end of {log}:\n{tail}")
    print(f"{options.tag}: built in {time.monotonic() - began_s:.0f} s ({log} has the words)")


# Trying -------------------------------------------------------------------------------------------------------


@contextmanager
def mounted_image(tag: str) -> Iterator[Path]:
    """The image's files."""
    container = run("buildah", "from", "--pull-never", tag)
    try:
        yield Path(run("buildah", "mount", container))
    finally:
        run("buildah", "rm", container)


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
            When it fails, with its last words.
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


def size_bytes(rootfs: Path) -> int:
    return sum(path.lstat().st_size for path in rootfs.rglob("*") if path.is_file() and not path.is_symlink())


def require(true: bool, otherwise: str) -> None:
    if not true:
        raise ImageError(otherwise)


def demo_table() -> list[str]:
    """The README's table of the demo, which is exact."""
    lines = [line.strip() for line in (ROOT / "README.md").read_text().splitlines()]
    first = next(number for number, line in enumerate(lines) if line.startswith("flow   "))
    return [" ".join(line.split()) for line in lines[first : lines.index("", first)]]


def look_at_files(rootfs: Path) -> None:
    """The image's size, and that it holds what the Dockerfile names and nothing of the instructor's or of the build's."""
    size = size_bytes(rootfs)
    print(f"size: {size / 1e6:.0f} MB of files", flush=True)
    require(size <= MAX_BYTES, f"The image has {size / 1e6:.0f} MB, more than {MAX_BYTES / 1e6:.0f}.")
    there = {path.name for path in (rootfs / "opt/netlab").iterdir()}
    wheels = {name for name in there if name.startswith("netlab-") and name.endswith(".whl")}
    require(len(wheels) == 1, f"/opt/netlab has the wheels {sorted(wheels)}, not one.")
    more = there - wheels - {".venv", "requirements.lock", "requirements-hub.lock"}
    require(not more, f"Too much is in /opt/netlab: {sorted(more)}.")
    instructor_files = [path for path in rootfs.rglob("*") if path.name in {"solutions", "examiners"} and path.is_dir()]
    instructor_files = [path for path in instructor_files if not in_foreign_package(path)]
    instructor_files += rootfs.glob("opt/netlab/.venv/lib/*/site-packages/netlab_classroom")
    require(not instructor_files, f"The instructor's files are in the image: {instructor_files}.")
    # The image's trusted certificates, with Debian's names.
    debian = certificates(rootfs / "usr/share/ca-certificates")
    require(bool(debian), "The image has no certificates of Debian's.")
    foreign = certificates(rootfs / "etc/ssl") - debian
    require(not foreign, f"{len(foreign)} certificates of the machine that built the image are in it.")
    require(not any((rootfs / BUNDLE_PLACE.lstrip("/")).iterdir()), f"{BUNDLE_PLACE} of the image is not empty.")


def in_foreign_package(path: Path) -> bool:
    """Return whether a path lies in a Python package that is not netlab's."""
    _, found, inside = str(path).partition("/site-packages/")
    return bool(found) and not inside.startswith("netlab")


def certificates(folder: Path) -> set[str]:
    mark = re.compile("-----BEGIN CERTIFICATE-----(.*?)-----END", re.DOTALL)
    texts = [path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {"".join(found.split()) for text in texts for found in mark.findall(text)}


def report_step(what: str, result: ProgramResult) -> ProgramResult:
    print(f"{what:40} {result.wall_s:6.1f} s, CPU {result.cpu_s:6.1f} s, {result.memory_mb:5.0f} MB", flush=True)
    return result


def try_server(student: Student, _options: argparse.Namespace) -> None:
    shutil.copy(HUB, student.tmp / HUB.name)
    report_step(
        "jupyterhub-singleuser, empty home", student.run("python", f"/tmp/{HUB.name}", str(SERVER_S * student.slower))
    )
    copies = sorted(path.name for path in (student.home / "netlab-chapters").glob("??_*.ipynb"))
    chapters = sorted(path.name for path in (ROOT / "notebooks").glob("??_*.ipynb"))
    require(copies == chapters, f"The home has {copies} instead of {chapters}.")


def try_doctor(student: Student, _options: argparse.Namespace) -> None:
    result = report_step("netlab doctor", student.run("netlab", "doctor"))
    require("Ready" in result.output, f"netlab doctor is not ready:\n{result.output}")


def try_demo(student: Student, _options: argparse.Namespace) -> None:
    result = report_step("netlab demo", student.run("netlab", "demo"))
    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    missing = [line for line in demo_table() if line not in lines]
    require(not missing, f"netlab demo does not say {missing}:\n{result.output}")


def try_live(student: Student, _options: argparse.Namespace) -> None:
    report_step("a live lab, 60 s of TCP", student.run("python", "-c", LIVE))


def try_chapters(student: Student, options: argparse.Namespace) -> None:
    student.run("netlab", "lab", "--update-only")
    for chapter in options.chapter or CHAPTERS:
        report_step(chapter, student.run(*EXECUTE.format(chapter).split()))
        written = json.loads((student.tmp / f"{chapter}.ipynb").read_text())
        outputs = [output for cell in written["cells"] for output in cell.get("outputs", ())]
        require(len(outputs) > 3, f"{chapter} has {len(outputs)} outputs.")
        wrong = [output["evalue"] for output in outputs if output["output_type"] == "error"]
        require(not wrong, f"{chapter}: {wrong}")


TRIALS = {"server": try_server, "doctor": try_doctor, "demo": try_demo, "live": try_live, "chapters": try_chapters}


def try_image(options: argparse.Namespace) -> None:
    profile = options.seccomp or next((path for path in PROFILES if path.is_file()), None)
    if profile is None:
        raise ImageError(
            f"None of {', '.join(map(str, PROFILES))} is there: name a seccomp profile with --seccomp FILE."
        )
    need("buildah", options.runtime)
    image = json.loads(run("buildah", "inspect", "--type", "image", options.tag))["OCIv1"]
    settings, foreign = image["config"], image["architecture"] != ARCHITECTURES.get(os.uname().machine)
    if foreign:
        settings["Env"].append(f"QEMU_CPU={EMULATED}")
    require(str(settings.get("User")) == str(UID), f"The image's user is {settings.get('User')!r}, not {UID}.")
    print(f"{options.runtime}, {profile}, load {os.getloadavg()[0]:.1f}")
    with (
        mounted_image(options.tag) as rootfs,
        tempfile.TemporaryDirectory(prefix="netlab-image-", dir="/var/tmp") as folder,
    ):
        look_at_files(rootfs)
        slower = EMULATED_SLOWER if foreign else 1
        student = Student(options.runtime, rootfs, settings, profile, Path(folder), slower)
        for name, trial in TRIALS.items():
            if name in (options.only or TRIALS):
                trial(student, options)
    print("The image does what it must.")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", default=TAG, help=f"the image's name (default: {TAG})")
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("build")
    making.add_argument("--base", help="an image to start from, such as docker.io/library/debian:trixie-slim")
    making.add_argument(
        "--wheel", type=Path, help="netlab's wheel for the image's processor; else it is built, for some minutes"
    )
    making.add_argument(
        "--architecture",
        default=ARCHITECTURES.get(os.uname().machine, "amd64"),
        choices=ARCHITECTURES.values(),
        help="default: this machine's; another one needs qemu-user-static, binfmt-support and arch-test",
    )
    making.add_argument("--log", default="/tmp/netlab-image.log", help="where the builder's words go")
    trying = commands.add_parser("test")
    trying.add_argument("--runtime", default="runc", choices=["runc", "crun"])
    trying.add_argument("--seccomp", type=Path, help="a profile of Docker's form")
    trying.add_argument("--chapter", action="append", help=f"default: {', '.join(CHAPTERS)}")
    trying.add_argument("--only", action="append", choices=TRIALS, help="default: all of them")
    options = parser.parse_args(arguments)
    try:
        (build if options.command == "build" else try_image)(options)
    except ImageError as error:
        print(f"netlab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
