"""Build the pocket kernel in the background after the set-up; a file in the cache has the progress of the build."""

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import asdict
from typing import IO, Any

from netlab.base import cache as base_cache
from netlab.base.errors import KernelError
from netlab_engines.kernels import background_build
from netlab_engines.kernels.background_build import BuildProgress
from netlab_kernel import building

WRITE_EVERY_S = 1.0
MAX_RETRY_PAUSE_S = 0.01


def start() -> subprocess.Popen[bytes]:
    """Start a process that builds the pocket kernel in the background and outlives this one, and return it without
    waiting; its output is discarded, and its progress is in a file of the cache.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "netlab_kernel.background_builder"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _begin() -> IO[str] | None:
    """Open the file with the progress of the background build, made if needed, lock it for this process and return it;
    None if another process holds the lock because it builds. Waits while another only reads the progress.
    """
    import fcntl

    while True:
        file = background_build.path().open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file.fileno()), background_build.path().stat()):
                return file
            # Try again: another build has just begun.
        except FileNotFoundError:
            # Try again: a build that has just ended removed this file.
            pass
        except BlockingIOError:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return None
            # Another process holds the lock only to read the progress; try again.
        file.close()
        time.sleep(random.uniform(0, MAX_RETRY_PAUSE_S))  # noqa: S311 (so that two builds do not retry in step)


def main() -> int:
    """Build the pocket kernel at the lowest priority, with its progress in the file that
    `background_build.current_progress` reads, and return the exit status: 0 also if another process builds already, 1
    after a failure, 130 after Ctrl-C. The file is removed after success and has the error after a failure.
    """
    os.nice(19)
    base_cache.root().mkdir(parents=True, exist_ok=True)
    last_s = float("-inf")
    progress_file = _begin()
    if progress_file is None:
        return 0
    with progress_file as file:

        def write_entries(words: dict[str, Any]) -> None:
            """Replace the contents of the progress file by the entries `words`, as a JSON object."""
            file.seek(0)
            file.truncate()
            file.write(json.dumps(words))
            file.flush()

        def report(moment: BuildProgress) -> None:
            """Write the progress `moment` of the build to the progress file, unless that was done less than
            WRITE_EVERY_S ago.
            """
            nonlocal last_s
            if time.monotonic() - last_s >= WRITE_EVERY_S:
                last_s = time.monotonic()
                write_entries({"moment": asdict(moment)})

        try:
            building.build(progress=report, kinds=(building.POCKET,))
        except (KernelError, OSError) as error:
            write_entries({"failure": str(error)})
            return 1
        except Exception as error:  # noqa: BLE001 (this process has no terminal for a traceback)
            write_entries(
                {"failure": f"{type(error).__name__}: {error}. This is a mistake in netlab; please report it."}
            )
            return 1
        except KeyboardInterrupt:
            write_entries({"failure": "The build was stopped."})
            return 130
        background_build.path().unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
