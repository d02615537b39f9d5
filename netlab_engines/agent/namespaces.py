"""Network namespaces: keep one open with a thread, and enter one for a while."""

import fcntl
import os
import queue
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from netlab_engines.libc import check, libc

CLONE_NEWNET = 0x40000000
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
SIOCGIFFLAGS = 0x8913
IFF_RUNNING = 0x40


def create_namespace(hostname: str = "") -> int:
    """Start a thread that keeps new network, mount and hostname namespaces open as long as this process runs, and
    return the thread's id, which can be used like a pid. `hostname` is the host name there; with "" the machine's name
    stays. Raises OSError if the kernel refuses.

    A thread, because to fork this process would take ten times as long.
    """
    answers: queue.SimpleQueue[int | OSError] = queue.SimpleQueue()
    threading.Thread(target=_hold, args=(answers, hostname), name="namespace", daemon=True).start()
    answer = answers.get()
    if isinstance(answer, OSError):
        raise OSError(f"cannot create a network namespace ({answer}); this needs root and a kernel with CONFIG_NET_NS")
    return answer


def _hold(answers: queue.SimpleQueue[int | OSError], hostname: str) -> None:
    """Make new network, mount and hostname namespaces for the calling thread, and keep them open as long as the process
    runs. Put the thread's id or the kernel's OSError into `answers`; `hostname` is the new host name, and "" leaves the
    machine's.
    """
    try:
        check(libc.unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS), "unshare")
        if hostname:
            socket.sethostname(hostname)
    except OSError as error:
        answers.put(error)
        return
    answers.put(threading.get_native_id())
    threading.Event().wait()


@contextmanager
def enter_namespace(pid: int) -> Iterator[None]:
    """Return a context manager that runs its block in the network namespace of the process or thread with the id `pid`,
    for the calling thread only; sockets made in the block stay in that namespace. Raises OSError if the namespace is
    gone or may not be entered.
    """
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    target = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        check(libc.setns(target, CLONE_NEWNET), "setns")
        try:
            yield
        finally:
            check(libc.setns(home, CLONE_NEWNET), "setns")
    finally:
        os.close(home)
        os.close(target)


def is_running(interface: str) -> bool:
    """Return whether the interface with the name `interface`, in the network namespace of the calling thread, is up and
    has a carrier, so that its queue accepts packets. Raises OSError if there is no such interface.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", interface.encode(), 0)
        (flags,) = struct.unpack_from("=H", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request), 16)
    return bool(flags & IFF_RUNNING)
