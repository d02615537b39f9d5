"""The agent on this machine's own kernel, in real time; requests come over sockets.

The agent is the first process of its own namespaces (network, mounts, processes), so all programs of its hosts end with
it. The hosts' shells keep their files in memory, and the hosts' names are in an /etc/hosts that only the hosts see.
"""

import contextlib
import os
import signal
import socket
import threading
from pathlib import Path

from netlab_engines.agent import guest
from netlab_engines.agent.host_channel import HostChannel
from netlab_engines.agent.lab import work
from netlab_engines.files import CHANNEL, URGENT_FILE

MS_BIND = 4096
WORK = "/run"
HOSTS = f"{WORK}/hosts"


class SocketChannel(HostChannel):
    """The agent's channel to the host over two Unix sockets in a folder, in place of the pocket kernel's device; it has
    no random draws to seed.
    """

    def __init__(self, folder: str) -> None:
        """Connect to the host's two Unix sockets in `folder`, one for messages and one for interrupts, and listen for
        interrupts in a thread. Raises OSError if that fails.
        """
        self._buffer = bytearray()
        self._group = 0
        self._socket, self._interrupts = (_connect(f"{folder}/{name}") for name in (CHANNEL, URGENT_FILE))
        self._device = self._socket.fileno()
        threading.Thread(target=self._listen, daemon=True).start()

    def power_off(self) -> None:
        """End this process at once, and with it all programs of its namespaces; does not return."""
        os._exit(0)

    def new_seed(self, seed: int) -> None:
        """Do nothing and ignore `seed`: the random draws of the machine's own kernel cannot be seeded."""

    def foreground(self, group: int) -> None:
        """Set the id of the process group that receives the host's interrupts from now on; 0 means none."""
        self._group = group

    def _listen(self) -> None:
        """Send the process group in the foreground SIGINT for each byte "i" on the interrupts' socket and SIGKILL for
        any other, and end this process when the host is gone; runs in a thread.
        """
        try:
            while request := self._interrupts.recv(1):
                if self._group:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(self._group, signal.SIGINT if request == b"i" else signal.SIGKILL)
        finally:
            self.power_off()


def _connect(path: str) -> socket.socket:
    """Return a Unix stream socket that is connected to the listening one at the file path `path`. Raises OSError if
    that fails.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


def main(folder: str, packages: list[str]) -> None:
    """Run the agent of one lab on this machine's own kernel: put a memory file system over /run and a new /etc/hosts
    over the old one, in this process's namespace of mounts, and answer the requests that come over the sockets in
    `folder`, until the host's process ends; then end this process. `packages` are the directories of netlab and
    Mininet. Raises OSError if the sockets cannot be connected; any later exception ends the process.
    """
    channel = SocketChannel(folder)
    try:
        # In memory, so that files which commands write there vanish with this process's namespaces.
        guest.mount("tmpfs", WORK, "mode=755")
        Path(HOSTS).write_text("127.0.0.1 localhost\n")
        if guest.libc.mount(HOSTS.encode(), b"/etc/hosts", None, MS_BIND, None) != 0:
            raise OSError("cannot mount a file over /etc/hosts")
        work(channel, folder, packages, WORK)
    finally:
        channel.power_off()
