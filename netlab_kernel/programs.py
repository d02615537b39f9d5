"""Run programs that download and build, with a log and progress; none of them outlives its call."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from netlab.base.errors import KernelError

OnLine = Callable[[str], None]
LAST_LINES = 15
GRACE_S = 3.0


def run(
    command: Sequence[str],
    *,
    log: Path,
    doing: str,
    cwd: Path | None = None,
    env: Mapping[str, str | None] | None = None,
    on_line: OnLine | None = None,
    allow_failure: bool = False,
) -> int:
    """Run a command without input in its own process group, append it and its output to the file `log`, wait for its
    end and return its exit status (negative: a signal).

    If the call ends early (Ctrl-C, SIGTERM, an exception from `on_line`), the whole process group is ended before it
    returns.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    log : Path
        The log.
    doing : str
        The purpose, for errors, such as "compile the kernel".
    cwd : Path, optional
        The working directory.
    env : mapping, optional
        Changes of this process's environment variables; None removes a variable.
    on_line : callable, optional
        Called with each line of output.
    allow_failure : bool
        Return an exit status other than 0 instead of raising.

    Raises
    ------
    KernelError
        If the program is missing or fails; the message has the last lines of the log.
    """
    merged = {**os.environ, **(env or {})}
    environment = {name: value for name, value in merged.items() if value is not None}
    with log.open("a", encoding="utf-8", errors="replace") as out:
        out.write("$ " + " ".join(command) + "\n")
        out.flush()
        try:
            child = subprocess.Popen(
                command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise KernelError(f"Could not {doing}: {command[0]}: {error.strerror}.") from error
        assert child.stdout is not None
        try:
            for line in child.stdout:
                out.write(line)
                if on_line:
                    on_line(line)
            status = child.wait()
        finally:
            if child.poll() is None:
                _end_group(child)
            child.stdout.close()
    if status != 0 and not allow_failure:
        raise KernelError(failure(doing, status, log))
    return status


def make(architecture: str) -> list[str]:
    """Return the first words of a command that builds a kernel for an architecture of its source, such as "um"
    (User-Mode Linux) or "netlab" (the library kernel), with as many jobs as processors that this process may use.
    """
    return ["make", f"-j{len(os.sched_getaffinity(0))}", f"ARCH={architecture}"]


def first_line(command: list[str]) -> str:
    """Run a program (its name and arguments) and return the first line of its standard output, without white space
    around it; "" if the program is missing or prints nothing. Its exit status is ignored.
    """
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, errors="replace"
        )
    except OSError:
        return ""
    return (done.stdout.splitlines() or [""])[0].strip()


def failure(doing: str, status: int, log: Path) -> str:
    """Return the error message for a program that could not do `doing`, such as "compile the kernel": its exit status
    (negative: the number of the signal that ended it) and the last lines of its log.
    """
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    ending = f"ended by signal {-status}" if status < 0 else f"exit status {status}"
    tail = "\n".join("  " + line for line in lines[-LAST_LINES:])
    return f"Could not {doing} ({ending}). The log is {log}; its last lines:\n{tail}"


def _end_group(child: subprocess.Popen[str]) -> None:
    """End the process group of a child with SIGTERM, wait up to GRACE_S for the child, and then do the same with
    SIGKILL.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        # Signal the group even if its leader has ended: the leader's children may still run.
        with suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with suppress(subprocess.TimeoutExpired):
            child.wait(timeout=GRACE_S)
