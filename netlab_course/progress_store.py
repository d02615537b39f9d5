"""The record of passed exercises and of wrong tries in the user's data directory."""

import json
import os
from pathlib import Path
from typing import Any

from netlab.base.files import replacement
from netlab_course.locks import locked

MAX_WAIT_S = 2.0
"""The longest wait in s for another process that writes; writing takes milliseconds, and the notebook must not hang."""
MAX_TRIES = 100
"""The number of wrong answers to an exercise that are kept."""
VARIABLE = "NETLAB_DATA"
OF_TOKENS = "of tokens"
"""The key in the file of wrong tries under which those of copies with own numbers are kept, by token; the tries of other
copies are beside it, by topic, where earlier versions kept all.
"""
_tries_here: dict[tuple[str, str, str], list[str]] = {}
"""The wrong answers in this process, by topic, key and token."""


def directory() -> Path:
    """Return the folder of netlab's data of this user, which need not exist yet: `$NETLAB_DATA`, or else `netlab` in
    `$XDG_DATA_HOME` or ~/.local/share.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "netlab"


def record_wrong_try(topic: str, key: str, answer: str, token: str = "") -> int:
    """Record a wrong answer to the exercise `key` of the chapter `topic` in the copy of a `token` ("" for the printed
    numbers), unless it was given before; return the number of different ones so far, at most 100. If the disk is not
    writable, only those that this process knows count.
    """
    tries = _tries_here.setdefault((topic, key, token), [])
    if answer not in tries:
        tries.append(answer)
    path = directory() / "tries.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.with_name(".tries.lock"), MAX_WAIT_S):
            known = _read_object(path)
            stored = _strings_in(known, topic, key, token)
            tries[:] = [*stored, *(each for each in tries if each not in stored)][-MAX_TRIES:]
            if tries != stored:
                *places, last = _place_of_tries(topic, key, token)
                inner = known
                for place in places:
                    inner[place] = inner = _object_in(inner, place)
                inner[last] = tries
                _write(path, known)
    except OSError:
        pass
    return len(tries)


def wrong_tries(topic: str, key: str, token: str = "") -> int:
    """Return the number of different wrong answers to the exercise `key` of the chapter `topic` so far, in the copy of a
    `token` ("" for the printed numbers).
    """
    stored = _strings_in(_read_object(directory() / "tries.json"), topic, key, token)
    return len({*stored, *_tries_here.get((topic, key, token), [])})


def _place_of_tries(topic: str, key: str, token: str) -> tuple[str, ...]:
    """Return the keys that lead to the wrong answers to an exercise in the content of `tries.json`."""
    return (OF_TOKENS, token, topic, key) if token else (topic, key)


def _object_in(outer: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the object with this key in an object of JSON; a new one if there is none, or it is damaged."""
    found = outer.get(key)
    return found if isinstance(found, dict) else {}


def _strings_in(known: dict[str, Any], topic: str, key: str, token: str) -> list[str]:
    """Return the wrong answers to the exercise `key` of the chapter `topic` in the copy of a token in the content of
    `tries.json`; what is damaged is left out.
    """
    *places, last = _place_of_tries(topic, key, token)
    for place in places:
        known = _object_in(known, place)
    found = known.get(last)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def record(topic: str, key: str) -> None:
    """Record that the exercise `key` of the chapter `topic` was passed; do nothing if it is recorded already, or the
    disk is not writable.
    """
    if key in passed_exercises().get(topic, ()):
        return
    path = directory() / "passed.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two chapters may be open at once: neither may lose the other's record, or read half a file.
        with locked(path.with_name(".passed.lock"), MAX_WAIT_S):
            known = passed_exercises()
            if key in known.setdefault(topic, []):
                return
            known[topic].append(key)
            _write(path, known)
    except OSError:
        return


def passed_exercises() -> dict[str, list[str]]:
    """Return the keys of the passed exercises of each chapter, by topic; an empty dict if there is no file or it is
    damaged.
    """
    found = _read_object(directory() / "passed.json")
    return {str(topic): [str(key) for key in keys] for topic, keys in found.items() if isinstance(keys, list)}


def _read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty dict if there is no file or it has no JSON object."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, content: dict[str, Any]) -> None:
    """Replace a file atomically by one with this JSON object, which other users may not read. Raises OSError if that is
    impossible.
    """
    with replacement(path) as new:
        new.chmod(0o600)
        new.write_text(json.dumps(content, indent=1), encoding="utf-8")
