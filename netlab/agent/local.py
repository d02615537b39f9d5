"""The agent on this machine's own kernel, where time is the wall's; requests come over sockets.

It is the first process of namespaces of its own (network, mounts, processes), so whatever its hosts started ends with it. Where
the hosts' shells keep their files is in memory, and the names of hosts are in an /etc/hosts that only they see.
"""

import contextlib
import os
import signal
import socket
import threading
from pathlib import Path

from netlab.agent import guest
from netlab.agent.files import GATE, URGENT
from netlab.agent.gate import Gate
from netlab.agent.lab import work

MS_BIND = 4096
WORK = "/run"
HOSTS = f"{WORK}/hosts"


class LocalGate(Gate):
    """The gate as sockets in a folder; there are no draws to seed, and time goes on between requests."""

    def __init__(self, folder: str) -> None:
        self._buffer = bytearray()
        self._group = 0
        self._socket, self._interrupts = (_connect(f"{folder}/{name}") for name in (GATE, URGENT))
        self._device = self._socket.fileno()
        threading.Thread(target=self._listen, daemon=True).start()

    def power_off(self) -> None:
        os._exit(0)

    def new_seed(self, seed: int) -> None:
        """The machine's kernel draws as it likes."""

    def foreground(self, group: int) -> None:
        self._group = group

    def _listen(self) -> None:
        try:
            while how := self._interrupts.recv(1):
                if self._group:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(self._group, signal.SIGINT if how == b"i" else signal.SIGKILL)
        finally:
            self.power_off()


def _connect(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.connect(path)
    return made


def main(folder: str, packages: list[str]) -> None:
    """Serve a lab until the process that started this ends."""
    gate = LocalGate(folder)
    try:
        # In memory: what commands write there goes with this process's namespaces.
        guest.mount("tmpfs", WORK, "mode=755")
        Path(HOSTS).write_text("127.0.0.1 localhost\n")
        if guest.libc.mount(HOSTS.encode(), b"/etc/hosts", None, MS_BIND, None) != 0:
            raise OSError("/etc/hosts could not be covered")
        work(gate, folder, packages, WORK)
    finally:
        gate.power_off()
