"""A host's terminal: its pty is in the guest, the keys and the screen are anywhere.

While somebody is connected the lab goes on in turns, paced by wall-clock time; when nobody is, or nobody types for long (JupyterLab's
own terminals stay open when a browser's tab is closed), it stands still again. The
terminal is offered on a socket of this user's, and `netlab attach` joins it from any shell, one of JupyterLab's
terminals above all.
"""

import contextlib
import html
import json
import os
import select
import shlex
import shutil
import socket
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netlab.base import scratch
from netlab.base.errors import NetlabError, RunError
from netlab.lab.session import Session

TURN_S = 0.02
MOST_BEHIND_S = 0.2
LOOK_S = 1.0
READ_BYTES = 1 << 14
SUFFIX = ".terminal"
IDLE_S = 600.0
LEFT = "\r\n[netlab: nobody has typed for {:.0f} minutes; the network stands still until a key comes]\r\n"


class Terminal:
    """A terminal of a node, which is offered as soon as it is made, and waits to be joined."""

    def __init__(self, session: Session, node: str) -> None:
        self._session = session
        self.node = node
        # In the directory of the guest's run: it goes with that, also when the notebook is killed.
        self.path = session.guest.directory / f"{node}-{os.getpid()}-{id(self):x}{SUFFIX}"
        self._socket = socket.socket(socket.AF_UNIX)
        with sockets_name(self.path) as name:
            self._socket.bind(name)
        self._socket.listen(4)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def command(self) -> str:
        """What joins it, in any shell: the whole path, because a new shell need not know where netlab is."""
        own = Path(sys.executable).parent / "netlab"
        return f"{shlex.quote(str(own)) if own.is_file() else 'netlab'} attach {self.node}"

    def __repr__(self) -> str:
        return f"Terminal of {self.node}: in a shell, such as a terminal of JupyterLab's, type: {self.command}"

    def _repr_html_(self) -> str:
        return (
            f"<p>Terminal of <b>{html.escape(self.node)}</b>: open one of JupyterLab's (File, New, Terminal) and type</p>"
            f"<pre>{html.escape(self.command)}</pre>"
        )

    def close(self) -> None:
        """Offer it no longer."""
        self._socket.close()
        self.path.unlink(missing_ok=True)

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            with peer, contextlib.suppress(OSError, RunError):
                self._relay(peer)
            if self._session.closed:
                self.close()
                return

    def _relay(self, peer: socket.socket) -> None:
        size = json.loads(peer.recv(64).decode() or "[24, 80]")
        pid = self._session.request().terminal(node=self.node, rows=size[0], columns=size[1])["pid"]
        wall_s, network_s = time.monotonic(), self._session.now_s
        typed_s, virtual = wall_s, self._session.guest.clock == "virtual"
        keys, gone, ended = "", False, False
        while not ended:
            answer = self._session.request().turn(pid=pid, keys=keys, turn_s=TURN_S, close=gone)
            ended = answer["ended"]
            with contextlib.suppress(OSError):
                peer.sendall(answer["text"].encode())
            # Ahead of wall-clock time: wait, unless a key comes. Far behind it (something took long): start anew.
            ahead_s = (answer["now_s"] - network_s) - (time.monotonic() - wall_s)
            if ahead_s < -MOST_BEHIND_S:
                wall_s, network_s = time.monotonic(), answer["now_s"]
            keys = ""
            ready, _, _ = select.select([peer], [], [], max(0.0, ahead_s))
            if not ready and virtual and time.monotonic() - typed_s > IDLE_S:
                with contextlib.suppress(OSError):
                    peer.sendall(LEFT.format(IDLE_S / 60).encode())
                while not ready and not self._session.closed:
                    ready, _, _ = select.select([peer], [], [], LOOK_S)
            if ready:
                typed_s = time.monotonic()
                try:
                    data = peer.recv(READ_BYTES)
                except OSError:
                    data = b""
                gone = not data
                keys = data.decode(errors="replace")


def offered(node: str | None = None) -> list[Path]:
    """Terminals of this user's that can be joined, the newest last."""
    found = sorted(
        scratch.own_directory().glob(f"{scratch.RUN}*/{node or '*'}-*{SUFFIX}"), key=lambda path: path.stat().st_mtime
    )
    # Those of a notebook that was killed go with the next run.
    return [path for path in found if Path(f"/proc/{path.name.split('-')[-2]}").exists()]


@contextlib.contextmanager
def sockets_name(path: Path) -> Iterator[str]:
    """A short name for a socket in a directory with a long one: 108 bytes are the most (unix(7))."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def attach(path: Path) -> int:
    """Join a terminal until its shell ends; returns an exit code."""
    with socket.socket(socket.AF_UNIX) as peer:
        try:
            with sockets_name(path) as name:
                peer.connect(name)
        except OSError as error:
            raise NetlabError(f"The terminal {path.name} cannot be joined: {error.strerror}.") from None
        columns, rows = shutil.get_terminal_size()
        peer.sendall(json.dumps([rows, columns]).encode())
        with raw(sys.stdin.fileno()):
            return relay(peer)


def relay(peer: socket.socket) -> int:
    """Carry keys to a terminal and its text to the standard output until it ends."""
    reading = [peer, sys.stdin]
    while True:
        ready, _, _ = select.select(reading, [], [])
        if sys.stdin in ready:
            data = os.read(sys.stdin.fileno(), READ_BYTES)
            if not data:
                reading.remove(sys.stdin)
                peer.shutdown(socket.SHUT_WR)
            else:
                peer.sendall(data)
        if peer in ready:
            data = peer.recv(READ_BYTES)
            if not data:
                return 0
            os.write(sys.stdout.fileno(), data)


@contextlib.contextmanager
def raw(fd: int) -> Any:
    """Hand on every key as it is; where the input is no terminal, nothing is to be done."""
    if not os.isatty(fd):
        yield
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setraw(fd)
        yield
    finally:
        # A terminal that was closed has no state to restore.
        with contextlib.suppress(termios.error):
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
