"""Run Mininet scripts in a pocket kernel."""

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netlab import engines
from netlab.base.errors import EngineError, RunError
from netlab_engines.agent import replacements
from netlab_engines.files import ARTIFACTS
from netlab_engines.lab import player
from netlab_engines.lab.player import NO_LIMIT_S
from netlab_engines.lab.script_input import may_read_input
from netlab_engines.lab.session import GuestSession
from netlab_engines.lab.shared_directories import home_directory, shared_directories
from netlab_engines.lab.stopping import Stopping, print_notice
from netlab_engines.pocket import PocketEngine


@dataclass(frozen=True)
class ScriptResult:
    """The result of a Mininet script that has run."""

    code: int
    """Its exit status."""
    network_s: float
    """The network time that passed, in s."""
    copies: dict[str, Path]
    """Copies of the files that it wrote to the guest's own directories (/etc, /usr, /var, ...), by their paths there."""


def run_script(
    words: list[str],
    seed: int = 1,
    write: Callable[[str], None] | None = None,
    directory: Path | None = None,
    wall_limit_s: float = NO_LIMIT_S,
    input_text: str = "",
    copies_next_to: Path | None = None,
) -> ScriptResult:
    """Run a Mininet script in a pocket kernel to its end and return its exit status, its network time in s and copies
    of its files.

    The script writes to this machine's files with its user's permissions, except in the system's directories: files
    that it writes there are copied to the directory NAME.files, and their names are printed. Ctrl-C, SIGTERM, SIGHUP and
    the wall-clock limit interrupt the script, and kill it 10 s later.

    Parameters
    ----------
    words : list of str
        The script's path and its arguments.
    seed : int
        The seed of all random draws.
    write : callable, optional
        Receives the script's output instead of the standard output; the script then has no terminal.
    directory : Path, optional
        The script's working directory; the default is the current directory.
    wall_limit_s : float
        The longest wall-clock time in s.
    input_text : str
        The script's standard input, and the lines of Mininet's prompt if the script opens it; not used if the script
        has a terminal.
    copies_next_to : Path, optional
        A path next to which copies of files are left, instead of next to the script.

    Raises
    ------
    EngineError
        If the chosen engine is not the pocket kernel.
    KernelError
        If there is no pocket kernel.
    RunError
        If the script took longer than the wall-clock limit, or the output cannot be written because a disk is full.
    BrokenPipeError
        If the output was closed.
    """
    engine = engines.choose(None)
    if not isinstance(engine, PocketEngine):
        if not os.environ.get("NETLAB_ENGINE"):
            # The pocket engine was not chosen because something is missing; this error says what.
            engines.require(PocketEngine().requirements())
        raise EngineError(
            "Mininet scripts need the pocket kernel; unset $NETLAB_ENGINE, or run the script as root without netlab."
        )
    place = Path(os.path.abspath(directory or Path()))  # noqa: PTH100 (a link in it stays)
    home = home_directory()
    script = place / words[0]
    guest = engine.open(None, shared_directories(place, script.parent))
    try:
        stopping = Stopping(guest, wall_limit_s)
        with stopping.handle_signals():
            session = GuestSession(guest, NO_LIMIT_S, stopping=stopping)
            arguments: dict[str, Any] = {
                "words": words,
                "directory": str(place),
                "seed": seed,
                "home": str(home) if home.is_dir() else replacements.HOME,
            }
            if write is None and _is_interactive(script, place):
                rows, columns = player.size()
                pid = session.request().open_script(rows=rows, columns=columns, **arguments)["pid"]
                code = player.connect_terminal(session, pid, paced=False)
            else:
                show = stopping.guard_output(
                    player.write if write is None else lambda text: write(player.readable(text))
                )
                show_errors = player.write_errors if write is None else show
                request = session.request(show, on_error_text=show_errors)
                code = request.script(input_text=input_text, **arguments)["code"]
            network_s = session.now_s
            stopping.finish()
            session.request().end_programs()
            reply = session.request().keep_files()
            copies = _copy_out(guest.folder / ARTIFACTS, reply["files"], copies_next_to or script, place)
            for path, reason in reply["lost"].items():
                print_notice(f"cannot copy {path} from the guest: {reason}.")
            if report := stopping.report():
                print_notice(report)
        if (error := stopping.failed_output) is not None:
            if error.errno in (errno.EPIPE, errno.EIO):
                raise BrokenPipeError
            if write is None:
                player.discard_output(sys.stdout)
            raise RunError(
                f"The script's output cannot be written: {error.strerror}. The script was asked to end; its files are kept."
            )
        if stopping.reason == "limit":
            raise RunError(
                f"The script was stopped after {wall_limit_s:g} s of wall-clock time, at {network_s:.3f} s of network time. "
                "Its files are kept."
            )
        return ScriptResult(stopping.status(code), network_s, copies)
    finally:
        guest.close()


def _is_interactive(script: Path, directory: Path) -> bool:
    """Return whether the script gets a terminal: this process has one for its standard input, and all output goes there,
    too, or elsewhere, such as to `| tee log`, while the script may read its input. `directory` is the working directory.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout):
        return False
    output_is_shown = sys.stdout.isatty() and sys.stderr is not None and sys.stderr.isatty()
    return output_is_shown or may_read_input(script, directory)


def _copy_out(folder: Path, paths: list[str], script: Path, place: Path) -> dict[str, Path]:
    """Copy the files with the guest's paths `paths`, which `folder` holds, to a directory `NAME.files` next to `script`
    or, if that is not writable, in `place`, the home directory or a temporary one; print the path of each copy or why
    it failed, and return the paths of the copies by the guest's paths.
    """
    if not paths:
        return {}
    copies: dict[str, Path] = {}
    target = _directory_for_copies(script, place)
    for path in paths:
        copy = target / path.lstrip("/")
        try:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / path.lstrip("/"), copy)
        except OSError as error:
            print_notice(f"cannot copy {path} from the guest to {copy}: {error.strerror}.")
            continue
        copies[path] = copy
        print_notice(f"{path} is in the guest only; it was copied to {copy}.")
    return copies


def _directory_for_copies(script: Path, place: Path) -> Path:
    """Make a directory with the name of the file `script`, without .py, and ".files", and return its path. It is next
    to the script, in the directory `place` or in the home directory, the first that is writable, or else a temporary
    one.
    """
    name = f"{script.name.removesuffix('.py')}.files"
    for parent in (script.parent, place, home_directory()):
        with suppress(OSError):
            (parent / name).mkdir(exist_ok=True)
            if os.access(parent / name, os.W_OK):
                return parent / name
    return Path(tempfile.mkdtemp(prefix=f"{name}-"))
