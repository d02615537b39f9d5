"""Network namespaces: hold one open with a process, visit one from a thread."""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

CLONE_NEWNET = 0x40000000
CLONE_NEWNS = 0x00020000
PR_SET_PDEATHSIG = 1
SIOCGIFFLAGS = 0x8913
IFF_RUNNING = 0x40
READY = b"."

_libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise OSError for a C call that failed."""
    if result != 0:
        errno = ctypes.get_errno()
        raise OSError(errno, f"{what}: {os.strerror(errno)}")


def hold_new_namespace() -> int:
    """Start a process that does nothing but keep new network and mount namespaces; returns its pid.

    It dies with the process that started it, and the namespaces and their interfaces with it.
    """
    ready, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            check(_libc.unshare(CLONE_NEWNET | CLONE_NEWNS), "unshare")
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.write(report, READY)
            while True:
                signal.pause()
        except OSError as error:
            os.write(report, str(error).encode())
        finally:
            os._exit(1)
    os.close(report)
    answer = os.read(ready, select.PIPE_BUF)
    os.close(ready)
    if answer != READY:
        os.waitpid(pid, 0)
        reason = answer.decode() or "its process ended"
        raise OSError(
            f"a network namespace could not be made ({reason}); this needs root and a kernel with CONFIG_NET_NS"
        )
    return pid


@contextmanager
def visit(pid: int) -> Iterator[None]:
    """Be in the network namespace of process `pid`; sockets made inside stay in it for good. For this thread only."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    target = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        check(_libc.setns(target, CLONE_NEWNET), "setns")
        try:
            yield
        finally:
            check(_libc.setns(home, CLONE_NEWNET), "setns")
    finally:
        os.close(home)
        os.close(target)


def is_running(interface: str) -> bool:
    """Whether an interface of the present namespace is up and has a carrier, so that its queue takes packets."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", interface.encode(), 0)
        (flags,) = struct.unpack_from("=H", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request), 16)
    return bool(flags & IFF_RUNNING)
