"""Atomic files of grader and contest, and results that a later run of them reuses."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netlab.base.files import replacement


def place(folder: Path, decided_by: Any) -> Path:
    """Return the path in `folder` of the JSON file for a result that depends on `decided_by` (data for JSON): a name by
    its SHA-256, so different data give different paths. Nothing is written.
    """
    text = json.dumps(decided_by, sort_keys=True)
    return folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def load(path: Path) -> dict[str, Any] | None:
    """Return the result (a dictionary) that `store` wrote to a path; None if the file is missing or damaged."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found


def store(path: Path, result: Mapping[str, Any]) -> None:
    """Store a result (data for JSON) at a path, atomically; an earlier file is replaced. Raises OSError when it cannot
    be written.
    """
    write_whole(path, json.dumps(result, indent=1))


def write_whole(path: Path, text: str) -> None:
    """Write a text file in UTF-8 atomically: after a crash or on a full disk there is either the old file or the new
    one. Raises OSError when it cannot be written.
    """
    with replacement(path) as new:
        new.write_text(text, encoding="utf-8", errors="replace")
