"""The record of passed exercises in the user's data directory."""

import json
import os
import tempfile
from pathlib import Path

from netlab_course.locks import locked

MAX_WAIT_S = 2.0
"""The longest wait in s for another process that writes; writing takes milliseconds, and the notebook must not hang."""
VARIABLE = "NETLAB_DATA"


def directory() -> Path:
    """Return netlab's data directory of this user: `$NETLAB_DATA`, or `netlab` in the user's data directory."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "netlab"


def record(topic: str, key: str) -> None:
    """Record that the exercise `key` of a chapter was passed. If the disk is not writable, or another process holds the
    lock too long, do nothing.
    """
    if key in read().get(topic, ()):
        return
    path = directory() / "passed.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two chapters may be open at once: neither may lose the other's record, or read half a file.
        with locked(path.with_name(".passed.lock"), MAX_WAIT_S):
            known = read()
            if key in known.setdefault(topic, []):
                return
            known[topic].append(key)
            with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".passed-", delete=False) as file:
                json.dump(known, file, indent=1)
            Path(file.name).replace(path)
    except OSError:
        return


def read() -> dict[str, list[str]]:
    """Return the keys of the passed exercises of each chapter, by topic; empty if there is no file or it is damaged."""
    try:
        found = json.loads((directory() / "passed.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(topic): [str(key) for key in keys] for topic, keys in found.items() if isinstance(keys, list)}
