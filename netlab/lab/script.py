"""Run Mininet's scripts in a pocket kernel."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netlab import engines
from netlab.agent.files import ARTIFACTS
from netlab.base.errors import EngineError
from netlab.engines.pocket import PocketEngine
from netlab.lab import player
from netlab.lab.player import NO_LIMIT_S
from netlab.lab.session import Session

GRACE_S = 1.0
"""How long a script may go on after Ctrl-C. Nothing of its network is to be used afterwards."""


@dataclass(frozen=True)
class Finished:
    """How a script ended: its exit code, how much network time passed in s, and the files that it wrote."""

    code: int
    network_s: float
    files: list[str]


def run_script(
    words: list[str],
    seed: int = 1,
    write: Callable[[str], None] | None = None,
    directory: Path | None = None,
    wall_limit_s: float = NO_LIMIT_S,
    keys: str = "",
) -> Finished:
    """Run a Mininet script, given as its path and its arguments, in a pocket kernel, and copy what it wrote in
    `directory` back to it.

    `write` gets what it prints instead of the standard output; the script then has no terminal, and Mininet's prompt
    gets the lines `keys` where the script opens it.
    """
    engine = engines.choose(None)
    if not isinstance(engine, PocketEngine):
        raise EngineError("Mininet's scripts need the pocket kernel; with root, run them without netlab.")
    place = (directory or Path()).absolute()
    guest = engine.open(None)
    try:
        session = Session(guest, wall_limit_s, GRACE_S)
        given: dict[str, Any] = {"words": words, "directory": str(place), "seed": seed}
        if write is None and sys.stdin.isatty() and sys.stdout.isatty():
            rows, columns = player.size()
            pid = session.request().open_script(rows=rows, columns=columns, **given)["pid"]
            code = player.play(session, pid, paced=False)
        else:
            typed = keys if write is not None or sys.stdin.isatty() else sys.stdin.read()
            code = session.request(write or player.write).script(keys=typed, **given)["code"]
        files = session.request().keep_files()["files"]
        for name in files:
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(guest.folder / ARTIFACTS / name, target)
        return Finished(int(code) if code >= 0 else 128 - int(code), session.now_s, files)
    finally:
        guest.close()
