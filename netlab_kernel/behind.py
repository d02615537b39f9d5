"""Build the pocket kernel in the background after the set-up; a file in the cache has the progress of the build."""

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from netlab.base import cache as base_cache
from netlab.base.errors import KernelError
from netlab_kernel import building
from netlab_kernel.progress import BuildProgress

TOLD_EVERY_S = 1.0
MAX_LOOK_S = 0.01


def _path() -> Path:
    return base_cache.root() / "pocket-kernel.json"


def start() -> subprocess.Popen[bytes]:
    """Start a process that builds the pocket kernel at the lowest priority and outlives this one."""
    return subprocess.Popen(
        [sys.executable, "-m", "netlab_kernel.behind"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def underway() -> BuildProgress | None:
    """Return the progress of the background build, or None if none is running."""
    if sys.platform != "linux":
        return None
    import fcntl

    try:
        with _path().open("r+") as file:
            try:
                # A shared lock, so that two processes which check at the same time do not take each other for a build.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return BuildProgress(
                    **_said(file.read()).get("moment", {"phase": "fetch", "fraction": 0, "remaining_s": 0})
                )
    except OSError:
        pass
    return None


def failure() -> str:
    """Return why the last background build failed, or "" if it did not."""
    try:
        return str(_said(_path().read_text()).get("failure", ""))
    except OSError:
        return ""


def _said(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text)
    except ValueError:  # the build is writing the file
        said = {}
    return said if isinstance(said, dict) else {}


def _begin() -> IO[str] | None:
    """Open and lock the file with the progress, or return None if another process builds."""
    import fcntl

    while True:
        file = _path().open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _path().exists() and os.path.samestat(os.fstat(file.fileno()), _path().stat()):
                return file
            # Try again: a build that has just ended removed this file.
        except BlockingIOError:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return None
            # Another process holds the lock only to read the progress; try again.
        file.close()
        time.sleep(random.uniform(0, MAX_LOOK_S))  # noqa: S311 (so that two builds do not retry in step)


def main() -> int:
    """Build the pocket kernel, write the progress to the file and return the exit code."""
    os.nice(19)
    base_cache.root().mkdir(parents=True, exist_ok=True)
    last_s = float("-inf")
    begun = _begin()
    if begun is None:
        return 0
    with begun as file:

        def tell(words: dict[str, Any]) -> None:
            file.seek(0)
            file.truncate()
            file.write(json.dumps(words))
            file.flush()

        def heard(moment: BuildProgress) -> None:
            nonlocal last_s
            if time.monotonic() - last_s >= TOLD_EVERY_S:
                last_s = time.monotonic()
                tell({"moment": asdict(moment)})

        try:
            building.build(progress=heard, kinds=(building.POCKET,))
        except (KernelError, OSError) as error:
            tell({"failure": str(error)})
            return 1
        except KeyboardInterrupt:
            tell({"failure": "The build was stopped."})
            return 130
        _path().unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
