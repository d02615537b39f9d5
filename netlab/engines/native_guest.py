"""A live network's agent on this machine's own kernel, with root: the same requests as a guest's, in real time."""

from __future__ import annotations

import json
import socket
import subprocess
import time

from netlab.agent import files
from netlab.base.errors import EngineError
from netlab.engines.guests import BOOT_PATIENCE_S, Clock, Waiting
from netlab.engines.native import RESULT_BYTES, start_agent, wait_for_the_end
from netlab.engines.paths import python_path, system_path

PROGRAM = """
from netlab.agent.local import main
main(sys.argv[1], boot["packages"])
"""
LOOK_S = 0.05


class NativeGuest(Waiting):
    """The agent of a live network as root of this machine.

    Raises
    ------
    EngineError
        When it does not start.
    """

    clock: Clock = "real"
    name = "native"
    what = "The live network's agent"

    def __init__(self) -> None:
        super().__init__(RESULT_BYTES)
        try:
            boot = {"packages": python_path(), "path": system_path()}
            (self.folder / files.BOOT).write_text(json.dumps(boot))
            gate, urgent = (self._listen(name) for name in (files.GATE, files.URGENT))
            with gate, urgent:
                self.process = start_agent(PROGRAM, self.folder, self.log, stdin=subprocess.DEVNULL)
                self._gate, self._urgent = self._accept(gate), self._accept(urgent)
        except BaseException:
            self.close()
            raise

    def _listen(self, name: str) -> socket.socket:
        made = socket.socket(socket.AF_UNIX)
        try:
            made.bind(str(self.folder / name))
        except OSError as error:
            made.close()
            raise EngineError(
                f"No socket can be made in {self.folder} ({error}); set TMPDIR to a directory with a shorter path."
            ) from None
        made.listen(1)
        return made

    def _accept(self, listener: socket.socket) -> socket.socket:
        end_s = time.monotonic() + BOOT_PATIENCE_S
        listener.settimeout(LOOK_S)
        while self.process.poll() is None and time.monotonic() < end_s:
            try:
                peer, _ = listener.accept()
            except TimeoutError:
                continue
            self._resources.callback(peer.close)
            return peer
        raise self._ended()

    def close(self) -> None:
        """End it: the agent goes when its sockets are closed, also where it is another user's, who cannot be sent a signal."""
        if self.closed:
            return
        self.closed = True
        for end in (getattr(self, "_gate", None), getattr(self, "_urgent", None)):
            if end is not None:
                end.close()
        process: subprocess.Popen[bytes] | None = getattr(self, "process", None)
        if process is not None:
            wait_for_the_end(process)
        self._resources.close()
