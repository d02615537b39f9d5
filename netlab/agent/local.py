"""The agent on this machine's own kernel, where time is the wall's; requests of a live network come over sockets.

It is the first process of namespaces of its own (network, mounts, processes), so whatever its hosts started ends with it. Where
the hosts' shells of a live network keep their files is in memory, and the names of hosts are in an /etc/hosts that only they see.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from pathlib import Path
from typing import Any

from netlab.agent import guest
from netlab.agent.files import GATE, URGENT, WORK
from netlab.agent.gate import Gate, serve
from netlab.agent.network import batch

MS_BIND = 4096
HOSTS = "/run/hosts"


class LocalGate(Gate):
    """The gate as sockets in a folder; there are no draws to seed, and time goes on between requests."""

    def __init__(self, folder: str) -> None:
        self._buffer = b""
        self._group = 0
        self._socket, self._interrupts = (_connect(f"{folder}/{name}") for name in (GATE, URGENT))
        self._device = self._socket.fileno()
        threading.Thread(target=self._listen, daemon=True).start()

    def power_off(self) -> None:
        """End this process, and with it all in its namespaces."""
        os._exit(0)

    def new_seed(self, seed: int) -> None:
        """The machine's kernel draws as it likes."""

    def foreground(self, group: int) -> None:
        """Name the process group that an interrupt is for; 0 is none."""
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


def end_with_input() -> None:
    """End this process, and with it all in its namespaces, when its standard input ends: whoever started it has gone or had enough.

    No signal would tell it so: unshare(1) passes none on, and who started it through sudo may send it none.
    """
    given = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    # The programs of its hosts must not read there.
    os.dup2(nothing, 0)
    os.close(nothing)

    def wait() -> None:
        try:
            while os.read(given, 1):
                pass
        finally:
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def in_memory(folder: Path) -> Path:
    """A directory in memory, below the run's: what commands write there goes with this process's namespaces."""
    work = folder / WORK
    guest.mount("tmpfs", str(work), "mode=755")
    return work


def main(folder: str, packages: list[str]) -> None:
    """Serve a live network until whoever started this goes away."""
    gate = LocalGate(folder)
    try:
        guest.mount("tmpfs", "/run", "mode=755")
        Path(HOSTS).write_text("127.0.0.1 localhost\n")
        if guest.libc.mount(HOSTS.encode(), b"/etc/hosts", None, MS_BIND, None) != 0:
            raise OSError("/etc/hosts could not be covered")
        batch("ip", ["link set dev lo up"], None)
        requests: dict[str, Any] = {}

        def live() -> None:
            from netlab.agent.live import Live

            requests.update(Live(gate, folder, packages).requests)

        requests["live"] = live
        serve(gate, requests)
    finally:
        gate.power_off()
