"""Build the image of binder/Dockerfile without Docker, and try it as a hub's student would have it.

    python3 tools/image.py build [--base IMAGE] [--wheel FILE]      buildah; without --base, mmdebstrap makes one of Debian's packages
    python3 tools/image.py --tag netlab-arm64 build --architecture arm64 --wheel FILE      for the other processor, under qemu-user-static
    python3 tools/image.py test [--chapter NAME]...                 runc or crun; prints sizes, times and memory

Both need root, because they mount. `image_trial` is the trial, in containers of `student_container`.
One name for both: `buildah manifest create NAME netlab netlab-arm64`. Standard library only.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from image_programs import ARCHITECTURES, BUNDLE_PLACE, EMULATED_CPU, ImageError, need, run  # noqa: E402
from image_trial import CHAPTERS, TRIALS, try_image  # noqa: E402

from netlab_kernel import apt  # noqa: E402 (the kernel's room needs the standard library only)

RELEASE = "trixie"
BASE = "localhost/netlab-base"
TAG = "netlab"
BUNDLES = (Path("/etc/ssl/certs/ca-certificates.crt"), Path("/etc/pki/tls/certs/ca-bundle.crt"))
SLIM = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")


def make_base(architecture: str) -> str:
    """An image of Debian's own packages, from the mirror that this machine's apt is configured with."""
    need("mmdebstrap")
    base = f"{BASE}-{architecture}"
    targets = apt.parse_targets(run("apt-get", "indextargets", "--format", apt.TARGET_FORMAT))
    mirror = apt.debian_mirror(targets, RELEASE)
    if architecture == "arm64":
        os.environ["QEMU_CPU"] = EMULATED_CPU
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
    """Copy the files that Git tracks in the clone; other files in it are not part of an image."""
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
    return [*words, "--build-arg", f"QEMU_CPU={EMULATED_CPU}"] if architecture == "arm64" else words


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
    making.add_argument("--log", default="/tmp/netlab-image.log", help="the file for the builder's output")
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
