"""The trial of the image as a hub's student would have it: its files, the server, programs and chapters.

Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from image_programs import ARCHITECTURES, BUNDLE_PLACE, EMULATED_CPU, ImageError, need, run
from student_container import UID, ProgramResult, Student

ROOT = Path(__file__).resolve().parent.parent
MAX_BYTES = 1_200_000_000
# How much longer a trial may take under qemu-user.
EMULATED_SLOWER = 10
SERVER_S = 90
# Moby's own where its source package is installed (golang-github-docker-docker-dev), else Podman's, which is near it.
PROFILES = (
    Path("/usr/share/gocode/src/github.com/docker/docker/profiles/seccomp/default.json"),
    Path("/usr/share/containers/seccomp.json"),
)
CHAPTERS = ("00_start_here", "01_udp_loss")
EXECUTE = "jupyter nbconvert --log-level=WARN --to notebook --execute netlab-chapters/{}.ipynb --output-dir=/tmp"
HUB = Path(__file__).with_name("hub_stand_in.py")
LIVE_SCRIPT = """
import netlab as nl
with nl.live(nl.topologies.dumbbell(pairs=2, rate_mbps=5, delay_ms=10), seed=1) as lab:
    lab["h1"].run("ping -c3 h3")
    flow = lab.start(nl.Tcp("h2", "h4"))
    lab.advance(60)
    print(len(lab.flows), "flow")
"""


@contextmanager
def mounted_image(tag: str) -> Iterator[Path]:
    """The image's files."""
    container = run("buildah", "from", "--pull-never", tag)
    try:
        yield Path(run("buildah", "mount", container))
    finally:
        run("buildah", "rm", container)


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
    report_step("a live lab, 60 s of TCP", student.run("python", "-c", LIVE_SCRIPT))


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
        settings["Env"].append(f"QEMU_CPU={EMULATED_CPU}")
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
