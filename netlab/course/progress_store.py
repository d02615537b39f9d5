"""What a student has passed so far, kept in their own data directory."""

import json
import os
import tempfile
from pathlib import Path

VARIABLE = "NETLAB_DATA"


def directory() -> Path:
    """Return where netlab keeps what belongs to this user: `$NETLAB_DATA`, or `netlab` in the user's data directory."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "netlab"


def record(topic: str, key: str) -> None:
    """Keep that an exercise of a chapter was passed. A disk that cannot be written costs the record, not the lesson."""
    known = read()
    if key in known.get(topic, ()):
        return
    known.setdefault(topic, []).append(key)
    path = directory() / "passed.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two chapters may be open at once: a reader must never see half a file.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".passed-", delete=False) as file:
            json.dump(known, file, indent=1)
        Path(file.name).replace(path)
    except OSError:
        return


def read() -> dict[str, list[str]]:
    """Return the passed exercises of each chapter; nothing where nothing is kept or the file is damaged."""
    try:
        found = json.loads((directory() / "passed.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(topic): [str(key) for key in keys] for topic, keys in found.items() if isinstance(keys, list)}
