"""Start the agent as root on this machine's own kernel, in real time; it answers the same requests as in a guest."""

import json
import os
import platform
import socket
import subprocess
import sys
import time

from netlab.base.errors import EngineError
from netlab.plan import Clock
from netlab_engines import files, host_kernel
from netlab_engines.guests import BOOT_PATIENCE_S, AgentProcess
from netlab_engines.paths import python_path, system_path

PROGRAM = """
import json, os, sys
boot = json.load(open(sys.argv[1] + "/boot.json"))
sys.path.extend(boot["packages"])
os.environ["PATH"] = ":".join(boot["path"])
os.environ.setdefault("SHELL", "/bin/sh")
from netlab_engines.agent.local import main
main(sys.argv[1], boot["packages"])
"""
# The machine's network stays unchanged. The agent is the first process of its namespace, so all programs of its hosts end with it.
NAMESPACES = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
RESULT_BYTES = 64 << 20
PATIENCE_S = 5.0
POLL_S = 0.05


class NativeGuest(AgentProcess):
    """The agent's process as root on this machine's own kernel, in namespaces of its own and in real time; it is
    started when the object is made.

    Raises EngineError if it does not start.
    """

    clock: Clock = "real"
    name = "native"
    description = "The agent"

    def __init__(self) -> None:
        """Start the agent as root in new namespaces and wait until it has connected to the two sockets in its folder.
        Raises EngineError or RunError if it does not start.
        """
        self.settings = {"seeded": False, "confined": False, "machine": platform.node()}
        super().__init__(RESULT_BYTES)
        try:
            boot = {"packages": python_path(), "path": system_path()}
            (self.folder / files.BOOT).write_text(json.dumps(boot))
            channel, urgent = (self._listen(name) for name in (files.CHANNEL, files.URGENT_FILE))
            python = [sys.executable, "-I", "-S", "-c", PROGRAM, str(self.folder)]
            with channel, urgent, self.log.open("wb") as out:
                self.process = subprocess.Popen(
                    [*(host_kernel.privilege() or []), *NAMESPACES, *python],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    cwd="/",
                    start_new_session=True,
                )
                self.channel, self._urgent = self._accept(channel), self._accept(urgent)
        except BaseException:
            self.close()
            raise

    def _listen(self, name: str) -> socket.socket:
        """Return a listening Unix socket with the file name `name` in the run's folder. Raises EngineError if the
        folder's path is too long for one.
        """
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(str(self.folder / name))
        except OSError as error:
            listener.close()
            raise EngineError(
                f"Cannot create a socket in {self.folder} ({error}); set TMPDIR to a directory with a shorter path."
            ) from None
        listener.listen(1)
        return listener

    def _accept(self, listener: socket.socket) -> socket.socket:
        """Wait for the agent to connect to `listener`, a listening socket, and return the connection, which is closed
        with the guest. Raises RunError if the agent ends or does not connect within BOOT_PATIENCE_S s.
        """
        end_s = time.monotonic() + BOOT_PATIENCE_S
        listener.settimeout(POLL_S)
        while self.process.poll() is None and time.monotonic() < end_s:
            try:
                peer, _ = listener.accept()
            except TimeoutError:
                continue
            self._resources.callback(peer.close)
            return peer
        raise self._late_error() if self.process.poll() is None else self._end_error()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End the agent by closing the sockets to it, because it may run as another user, to whom no signal can be
        sent; if `process`, its parent, still runs after PATIENCE_S s, end that by a signal.
        """
        for end in (getattr(self, "channel", None), getattr(self, "_urgent", None)):
            if end is not None:
                end.close()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            # The process may belong to another user. The agent ends together with unshare(1).
            process.kill() if os.geteuid() == 0 else process.terminate()
            process.wait()
