"""Write a release to `dist`: wheels, source, page, site, the list of dependencies (an SBOM) and SHA256SUMS.

It starts from a clean working tree, and refuses one whose version, changelog and notebooks do not agree.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import components  # noqa: E402
import publish  # noqa: E402
import wheel  # noqa: E402
import wheel_file  # noqa: E402

from netlab.base.version import VERSION  # noqa: E402 (also of a clone that is not installed)

LOCK = ROOT / "requirements-release.lock"
HEADING = re.compile(r"^## \[(?P<version>\d+\.\d+\.\d+)\] - (?P<date>.*)$", re.MULTILINE)
UNRELEASED = re.compile(r"^## \[Unreleased\]\n+(?!\n|## |\Z)", re.MULTILINE)
"""The heading of changes that belong to no release, with at least one."""
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
SUMS = publish.SUMS
VALIDATE = """
import json, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = open(sys.argv[1], encoding="utf-8").read()
sys.exit(JsonStrictValidator(SchemaVersion.from_version(json.loads(text)["specVersion"])).validate_str(text))
"""
"""A program that ends with the first mistake in a list in CycloneDX's format."""
IMAGES = ("ova", "qcow2")
"""The suffixes of the disk images that a release has: for VirtualBox, and for QEMU and UTM."""
MACHINE = "Debian or Ubuntu on x86-64"
"""The machines on which all wheels can be made."""


def problems(root: Path, version: str) -> Iterator[str]:
    """Yield a sentence for each reason why the clone at `root` cannot be released as `version`."""
    changes = _output_of(root, "git", "status", "--porcelain").splitlines()
    if changes:
        yield f"{len(changes)} files differ from the last commit, such as {changes[0][3:]}; commit them or put them away"
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if UNRELEASED.search(changelog):
        yield "CHANGELOG.md has changes under '[Unreleased]'; move them under the version and the day of the release"
    newest = HEADING.search(changelog)
    if newest is None:
        yield "CHANGELOG.md has no heading such as '## [0.1.0] - 2026-11-26'"
    else:
        if newest["version"] != version:
            yield f"CHANGELOG.md begins with {newest['version']}, but netlab/base/version.py has {version}"
        if not DATE.fullmatch(newest["date"]):
            yield f"CHANGELOG.md gives {newest['version']} no date, but '{newest['date']}'; write the day, such as 2026-11-26"
    cited = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if cited is None or cited[1] != version:
        yield f"CITATION.cff must have the line 'version: {version}'"
    tags = _output_of(root, "git", "tag", "--points-at", "HEAD").split()
    if tags and f"v{version}" not in tags:
        yield f"the commit has the tag {', '.join(tags)}, but the version is {version}"


def missing_wheels(directory: Path) -> list[str]:
    """Return the names, as patterns, of the wheels of a release that are not in `directory`."""
    platforms = ["any", *(".".join(tags) for tags in wheel.PLATFORMS.values())]
    names = [*(f"{wheel.PROJECT}-py3-none-{tags}.whl" for tags in platforms), f"{wheel.CLASSROOM}-py3-none-any.whl"]
    return [name for name in names if not (directory / name).is_file()]


def why_incomplete(directory: Path, page: Path | None = None) -> str:
    """Return a sentence that names parts of a release that were not made, with the remedy; "" if all are there.

    Parameters
    ----------
    directory : Path
        The directory of the wheels.
    page : Path, optional
        The directory of the page; None: it need not be there yet.
    """
    no_page = page is not None and not (page / "index.html").is_file()
    missing = [*missing_wheels(directory), *["the page"] * no_page]
    if not missing:
        return ""
    return (
        f"netlab {VERSION} is not released, because these were not made: {', '.join(missing)}.\nThe messages above say why. "
        f"`sh tools/setup.sh --release` installs all compilers and programs for them; the machine must be {MACHINE}."
    )


def _output_of(root: Path, *command: str) -> str:
    """Return what a command prints in the directory `root`. Raises CalledProcessError if it fails."""
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def notebooks_agree(root: Path) -> bool:
    """Return whether the notebooks are those of their sources; what differs is printed."""
    return (
        subprocess.run([sys.executable, "-m", "netlab_course.authoring", "--check"], cwd=root, check=False).returncode
        == 0
    )


def write_source(directory: Path, metadata: bytes) -> Path:
    """Write the committed files and `metadata`, the PKG-INFO of the source distribution, to an archive in `directory`; return
    its path. The same commit gives the same bytes.
    """
    name = f"netlab-{VERSION}"
    plain = subprocess.run(
        ["git", "archive", "--format=tar", f"--prefix={name}/", "HEAD"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    packed = io.BytesIO(plain)
    with tarfile.open(fileobj=packed, mode="a") as archive:
        member = tarfile.TarInfo(f"{name}/PKG-INFO")
        member.size, member.mtime = len(metadata), wheel.written_s()
        archive.addfile(member, io.BytesIO(metadata))
    path = directory / f"{name}.tar.gz"
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=wheel.written_s()) as file:
        file.write(packed.getvalue())
    return path


def write_folder(directory: Path, folder: Path, name: str) -> Path:
    """Write the files of a folder to a zip archive `name`.zip in `directory`; return its path. The same files give the same
    bytes. Raises FileNotFoundError if there are none.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        raise FileNotFoundError(f"{folder} has no files")
    target = directory / f"{name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            member = zipfile.ZipInfo(str(path.relative_to(folder)), time.gmtime(wheel.written_s())[:6])
            member.external_attr = 0o644 << 16
            archive.writestr(member, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target


def write_dependencies(directory: Path, page: Path) -> Path:
    """Write the list of all packages that netlab needs, of the kernels in the wheels in `directory`, and of the packages in the page
    in the directory `page`, with versions and licences, in CycloneDX's format; return its path.

    CycloneDX's own program makes the list from requirements.lock, and its own library checks it with the additions. Raises
    CalledProcessError when that fails.
    """
    home = ROOT / "build" / "parts" / "release"
    if not (home / "bin" / "cyclonedx-py").is_file():
        venv.create(home, clear=True, with_pip=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--no-deps", "-r", str(LOCK)], check=True)
    path = directory / f"netlab-{VERSION}.cdx.json"
    subprocess.run(
        [str(home / "bin" / "cyclonedx-py"), "requirements", "--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible",
         "--output-file", str(path), str(ROOT / "requirements.lock")],
        check=True, env={**os.environ, "SOURCE_DATE_EPOCH": str(wheel.written_s())},
    )  # fmt: skip
    listed = json.loads(path.read_text())
    # The version in pyproject.toml is dynamic, which the program leaves out.
    listed["metadata"]["component"]["version"] = VERSION
    listed["components"] += [*components.kernels(directory.glob("netlab-*.whl")), *components.page(page)]
    path.write_text(json.dumps(listed, indent=2) + "\n")
    subprocess.run([str(home / "bin" / "python"), "-c", VALIDATE, str(path)], check=True)
    return path


def write_image(directory: Path, work: Path) -> list[Path]:
    """Make the disk images of a virtual machine for x86-64 with the wheel in dist, by vm/build.sh in `work`, and copy them to
    `directory`; return the copies. Raises CalledProcessError if that fails.
    """
    subprocess.run([str(ROOT / "vm" / "build.sh"), "amd64", str(work)], cwd=ROOT, check=True)
    return [Path(shutil.copy(work / f"netlab-{VERSION}-amd64.{suffix}", directory)) for suffix in IMAGES]


def write_sums(directory: Path) -> Path:
    """Write the SHA-256 of each file in `directory` to SHA256SUMS there, as `sha256sum -c` reads it; return its path."""
    files = publish.files(directory)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    target = directory / SUMS
    target.write_text("".join(lines))
    return target


def main() -> int:
    """Make the release, or print why there is none; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the clone can be released")
    parser.add_argument("--image", action="store_true", help="also make the disk image of a virtual machine")
    options = parser.parse_args()
    found = list(problems(ROOT, VERSION))
    if found:
        print(f"netlab {VERSION} cannot be released:", *found, sep="\n  - ", file=sys.stderr)
        return 1
    if not notebooks_agree(ROOT):
        print("The notebooks differ from their sources: run make notebooks, and commit them.", file=sys.stderr)
        return 1
    if options.check:
        print(f"netlab {VERSION} can be released.")
        return 0
    directory = ROOT / "dist"
    for old in (directory, ROOT / "build" / "lite", ROOT / "build" / "site"):
        shutil.rmtree(old, ignore_errors=True)
    directory.mkdir()
    # `make site` also makes the page.
    steps = 4 if options.image else 3
    for number, target in enumerate(("wheel", "site"), start=1):
        print(f"step {number} of {steps}: make {target}", flush=True)
        if subprocess.run(["make", target], cwd=ROOT, check=False).returncode:
            return 1
        if reason := why_incomplete(directory, ROOT / "build" / "lite" if target == "site" else None):
            print(reason, file=sys.stderr)
            return 1
    if options.image:
        print(f"step 3 of {steps}: vm/build.sh", flush=True)
        try:
            write_image(directory, ROOT / "build" / "vm")
        except subprocess.CalledProcessError as error:
            print(f"The disk image could not be made; the messages above say why ({error}).", file=sys.stderr)
            return 1
    print(f"step {steps} of {steps}: source, page, site, dependencies and sums", flush=True)
    write_folder(directory, ROOT / "build" / "lite", f"{wheel.PROJECT}-page")
    for audience in ("students", "instructors"):
        write_folder(directory, ROOT / "build" / "site" / audience / "html", f"{wheel.PROJECT}-site-{audience}")
    (portable,) = directory.glob(f"{wheel.PROJECT}-py3-none-any.whl")
    write_source(directory, wheel_file.read(portable)[f"{wheel.PROJECT}.dist-info/METADATA"])
    write_dependencies(directory, ROOT / "build" / "lite")
    # The definitions of virtual machines fetch it from the directory of the wheel.
    shutil.copy(ROOT / "vm" / "machine.sh", directory)
    print(write_sums(directory).read_text(), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
