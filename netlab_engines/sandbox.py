"""Code that is not trusted, confined in a pocket kernel: it can read some paths of the host only and has no network.

A program of the caller's in the guest starts the code; it and the caller talk through a channel, and the program leaves
files in the guest's folder.
"""

import os
import socket
import stat
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from netlab_engines import launcher
from netlab_engines.guests import Guest
from netlab_engines.kernels import pocket_kernel
from netlab_engines.paths import python_path
from netlab_engines.protocol.messages import Request

CONSOLE_CHARACTERS = 2000


class Sandbox:
    """A guest of the pocket kernel with code that is not trusted, which boots when the object is made.

    Parameters
    ----------
    program : str
        The module whose `work` the guest runs, with a `HostChannel`.
    packages : sequence of str
        The directories from which the guest imports.
    readable : sequence of str
        The paths of the host that the guest may read in addition to system programs, as `python_paths` returns them.
    memory_mb : int
        The memory of the guest in MiB.
    """

    channel: socket.socket
    """The host's end of the channel, on which the caller and its program exchange bytes in a form of their own."""

    def __init__(self, program: str, packages: Sequence[str], readable: Sequence[str], memory_mb: int) -> None:
        """Start to boot the guest. Raises KernelError if there is no kernel."""
        self._guest = Guest(
            pocket_kernel.find(), pin=True, program=program, packages=packages, memory_mb=memory_mb, readable=readable
        )
        self.channel = self._guest.channel

    def send(self, request: Request) -> None:
        """Send the program in the guest a request. Raises RunError if the guest has ended."""
        self._guest.send(request)

    def has_ended(self) -> bool:
        """Return whether the guest has ended."""
        return self._guest.process.poll() is not None

    def cpu_state(self) -> tuple[float, bool]:
        """Return a pair of the processor time in s that the guest has used, and whether all its processes are asleep,
        so that it waits for the caller.
        """
        return group_state(self._guest.process.pid)

    def has_file(self, name: str) -> bool:
        """Return whether the guest's folder has a file with this name."""
        return (self._guest.folder / name).exists()

    def read_file(self, name: str, max_bytes: int) -> bytes | None:
        """Return the contents of a file in the guest's folder as `read_bounded` does."""
        return read_bounded(self._guest.folder / name, max_bytes)

    def console_end(self) -> str:
        """Return the last CONSOLE_CHARACTERS characters of the console of the guest's kernel."""
        return self._guest.log.read_text(errors="replace")[-CONSOLE_CHARACTERS:]

    def close(self) -> None:
        """End the guest and remove its folder; a second call does nothing."""
        self._guest.close()


def can_confine() -> bool:
    """Return whether this host can limit what a sandbox reads, which needs Landlock."""
    return launcher.landlock_version() >= 1


def site_packages() -> list[str]:
    """Return the directories in which packages for this Python are installed, without duplicates."""
    places = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return list(dict.fromkeys(place for place in places if place))


def python_paths(excluded: str) -> list[str]:
    """Return the paths that Python in a sandbox must read: the interpreter, its library, and all installed packages but
    those whose names begin with `excluded`; paths with a colon are left out. A directory with packages can be listed
    but not read, which `launcher.LIST_ONLY` before its path says.
    """
    found = [str(Path(sys.base_prefix).resolve() / "lib"), str(Path(os.path.realpath(sys.executable)))]
    for place in (*site_packages(), *python_path()[1:]):
        found.append(launcher.LIST_ONLY + place)
        # The packages are listed one by one, because an installed netlab with its checks may be among them.
        found += [entry.path for entry in os.scandir(place) if not entry.name.startswith(excluded)]
    return list(dict.fromkeys(path for path in found if ":" not in path))


def readable_place(path: Path, readable: Sequence[str]) -> str | None:
    """Return the path that makes `path` readable for a sandbox with these readable paths: one of them, or a directory
    of system programs; None if it cannot be read.
    """
    for place in (*launcher.ALWAYS_READABLE, *readable):
        if not place.startswith(launcher.LIST_ONLY) and path.resolve().is_relative_to(Path(place).resolve()):
            return place
    return None


def read_bounded(path: Path, max_bytes: int) -> bytes | None:
    """Return the contents of a regular file in a folder with untrusted files, cut to `max_bytes` + 1 bytes, so that
    more than `max_bytes` bytes show that it is too long; None if it cannot be opened, or is a link or not a regular
    file.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        return file.read(max_bytes + 1)


def group_state(group: int) -> tuple[float, bool]:
    """Return a pair of the processor time in s of the process group with this id, including children that have ended,
    and whether all its processes are asleep (True also without any).

    A process that waits for a CPU, as on a busy machine, does not count as asleep.
    """
    members = list(_members(group))
    ticks = sum(int(field) for fields in members for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK"), all(fields[0] == b"S" for fields in members)


def _members(group: int) -> Iterator[list[bytes]]:
    """Yield, for each process of the process group with this id, the fields of /proc/PID/stat as bytes, from the
    process's state (b"R", b"S", ...) on; see proc(5). Processes that end meanwhile are left out.
    """
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                # Reading the files of all processes many times a second would take a tenth of a grading.
                if os.getpgid(int(entry.name)) == group:
                    yield Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
