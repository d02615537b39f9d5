"""The progress of the pocket kernel's build that the set-up leaves running; a file in the cache has it."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netlab.base import cache


@dataclass(frozen=True)
class BuildProgress:
    """The state of a build at some time: the name of its phase, such as "compile", the fraction that is done and the
    time that remains. As text it is a line for the user.
    """

    phase: str
    fraction: float
    """The fraction of all work that is done, in [0, 1]."""
    remaining_s: float
    """The estimated remaining time in s."""
    detail: str = ""
    """The present work, such as the name of a file."""

    def __str__(self) -> str:
        """Return one line of text for the user: the finished part in percent, the remaining time in s, the phase and,
        in parentheses, the detail.
        """
        detail = f" ({self.detail})" if self.detail else ""
        return f"kernel: {self.fraction:4.0%}, about {self.remaining_s:3.0f} s left: {self.phase}{detail}"


def path() -> Path:
    """Return the path of the file with the progress of a build in the background, in the user's cache; the build holds
    it locked while it runs, and it need not exist.
    """
    return cache.root() / "pocket-kernel.json"


def current_progress() -> BuildProgress | None:
    """Return the progress of the build of the pocket kernel that runs in the background now (0 in the phase "fetch" if
    it has not written any); None if none runs or the system is not Linux.
    """
    if sys.platform != "linux":
        return None
    import fcntl

    try:
        with path().open("r+") as file:
            try:
                # A shared lock, so that two processes which check at the same time do not take each other for a build.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return BuildProgress(
                    **_parse_entries(file.read()).get("moment", {"phase": "fetch", "fraction": 0, "remaining_s": 0})
                )
    except OSError:
        pass
    return None


def failure() -> str:
    """Return the text that says why the last build of the pocket kernel in the background failed; "" if it did not
    fail, none was tried or the file cannot be read.
    """
    try:
        return str(_parse_entries(path().read_text()).get("failure", ""))
    except OSError:
        return ""


def _parse_entries(text: str) -> dict[str, Any]:
    """Return the entries of the progress file whose text is `text`, by name: "moment" (the fields of a BuildProgress)
    or "failure" (a text); {} if the text is incomplete, because the build is writing it.
    """
    try:
        entries = json.loads(text)
    except ValueError:  # the build is writing the file
        entries = {}
    return entries if isinstance(entries, dict) else {}
