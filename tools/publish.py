"""Publish the release in `dist` on GitHub: the program `gh` creates the release of the commit's tag with these files.

The notes are the version's section of CHANGELOG.md. Standard library only, because nothing else is needed here.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from netlab.base.version import VERSION  # noqa: E402 (also of a clone that is not installed)

SUMS = "SHA256SUMS"


def problems(root: Path, version: str) -> Iterator[str]:
    """Yield a sentence for each reason why the files in `root`/dist cannot be published as `version`."""
    tagged = subprocess.run(
        ["git", "tag", "--points-at", "HEAD"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()
    if f"v{version}" not in tagged:
        yield f"the commit has no tag v{version}; make it with `git tag v{version}`, and push it"
    if shutil.which("gh") is None:
        yield "the program gh is missing; install Debian's package gh, or take it from https://cli.github.com"
    directory = root / "dist"
    try:
        lines = (directory / SUMS).read_text().splitlines()
    except FileNotFoundError:
        yield f"there is no dist/{SUMS}; run make release"
        return
    promised = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files(directory)}
    differing = sorted(name for name in {*promised, *found} if promised.get(name) != found.get(name))
    if differing:
        yield f"dist/{SUMS} does not describe {', '.join(differing)}; run make release again"


def files(directory: Path) -> list[Path]:
    """Return the files of a release in `directory` but for the one with the sums, sorted by name."""
    return sorted(path for path in directory.iterdir() if path.is_file() and path.name != SUMS)


def notes(changelog: str, version: str) -> str:
    """Return the section of a version in the text of a changelog, without its heading. Raises ValueError if there is none."""
    found = re.search(rf"^## \[{re.escape(version)}\] .*\n((?:(?!## ).*\n)*)", changelog + "\n", re.MULTILINE)
    if found is None:
        raise ValueError(f"CHANGELOG.md has no section of version {version}.")
    return found[1].strip() + "\n"


def main() -> int:
    """Publish the release, or print why it cannot be; return the exit status."""
    found = list(problems(ROOT, VERSION))
    if found:
        print(f"netlab {VERSION} cannot be published:", *found, sep="\n  - ", file=sys.stderr)
        return 1
    text = notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), VERSION)
    directory = ROOT / "dist"
    command = [
        "gh",
        "release",
        "create",
        f"v{VERSION}",
        "--verify-tag",
        "--title",
        f"netlab {VERSION}",
        "--notes-file",
        "-",
    ]
    command += [str(path) for path in (*files(directory), directory / SUMS)]
    return subprocess.run(command, cwd=ROOT, input=text, text=True, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
