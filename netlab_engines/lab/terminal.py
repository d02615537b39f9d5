"""A host's terminal: its pty is in the guest, and any shell of this user can connect to it.

The terminal waits on a socket that only this user can open, and `netlab attach` connects to it, for example from one of
JupyterLab's terminals. While a shell is connected the lab goes on in turns, in real time. The lab stands still while no
shell is connected or the user has not typed for long: JupyterLab's terminals stay open when a browser's tab is closed.
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
from netlab_engines.lab.session import GuestSession

TURN_S = 0.02
MAX_BEHIND_S = 0.2
POLL_S = 1.0
READ_BYTES = 1 << 14
SUFFIX = ".terminal"
IDLE_S = 600.0
IDLE_TEXT = "\r\n[netlab: no key was pressed for {:.0f} minutes; the network is paused until you press one]\r\n"


class Terminal:
    """A terminal of a node, which waits on a Unix socket for a shell to connect, from its creation on; its display in a
    notebook tells how.
    """

    def __init__(self, session: GuestSession, node: str) -> None:
        """Make the Unix socket of a terminal of the node with the name `node`, and wait for connections in a thread;
        the guest starts a shell only when one comes. Raises OSError if the socket cannot be made.
        """
        self._session = session
        self.node = node
        # The socket is in the directory of the guest's run, so it is removed with that, even if the notebook is killed.
        self.path = session.guest.directory / f"{node}-{os.getpid()}-{id(self):x}{SUFFIX}"
        self._socket = socket.socket(socket.AF_UNIX)
        with sockets_name(self.path) as name:
            self._socket.bind(name)
        self._socket.listen(4)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def command(self) -> str:
        """The command line that a user types in a shell to connect to the terminal, with the full path of netlab if
        that is known.
        """
        own = Path(sys.executable).parent / "netlab"
        return f"{shlex.quote(str(own)) if own.is_file() else 'netlab'} attach {self.node}"

    def __repr__(self) -> str:
        """Return a sentence with the command that opens the terminal, for display."""
        return f"Terminal of {self.node}: in a shell, for example a terminal of JupyterLab, type: {self.command}"

    def _repr_html_(self) -> str:
        """Return HTML that tells how to open the terminal in JupyterLab."""
        return (
            f"<p>Terminal of <b>{html.escape(self.node)}</b>: open one of JupyterLab's (File, New, Terminal) and type</p>"
            f"<pre>{html.escape(self.command)}</pre>"
        )

    def close(self) -> None:
        """Accept no more connections and remove the socket; a shell that is connected goes on."""
        self._socket.close()
        self.path.unlink(missing_ok=True)

    def _serve(self) -> None:
        """Accept connections one after the other and run a shell for each, until the terminal or the session is closed;
        runs in a thread.
        """
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
        """Open a shell of the node for the connection `peer`, and pass keys and output between them, in real time,
        until one of them ends. The first message of the peer is the terminal's size, as JSON: rows and columns. In
        virtual time the network pauses after IDLE_S s without a key, and tells so.
        """
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
            # Ahead of wall-clock time, wait for keys; far behind, give up the lost time.
            ahead_s = (answer["now_s"] - network_s) - (time.monotonic() - wall_s)
            if ahead_s < -MAX_BEHIND_S:
                wall_s, network_s = time.monotonic(), answer["now_s"]
            keys = ""
            ready, _, _ = select.select([peer], [], [], max(0.0, ahead_s))
            if not ready and virtual and time.monotonic() - typed_s > IDLE_S:
                with contextlib.suppress(OSError):
                    peer.sendall(IDLE_TEXT.format(IDLE_S / 60).encode())
                while not ready and not self._session.closed:
                    ready, _, _ = select.select([peer], [], [], POLL_S)
            if ready:
                typed_s = time.monotonic()
                try:
                    data = peer.recv(READ_BYTES)
                except OSError:
                    data = b""
                gone = not data
                keys = data.decode(errors="replace")


def waiting_sockets(node: str | None = None) -> list[Path]:
    """Return the paths of the sockets of this user's waiting terminals of the node with the name `node` (None: of all
    nodes), sorted by age, the newest last; terminals of processes that have ended are left out.
    """
    found = sorted(
        scratch.own_directory().glob(f"{scratch.RUN}*/{node or '*'}-*{SUFFIX}"), key=lambda path: path.stat().st_mtime
    )
    # Leave out the sockets of notebooks that were killed; the next run removes them.
    return [path for path in found if Path(f"/proc/{path.name.split('-')[-2]}").exists()]


@contextlib.contextmanager
def sockets_name(path: Path) -> Iterator[str]:
    """Return a context manager that yields a short path, valid in its block, of the socket at `path`, whose own path
    may be too long: a socket's path has at most 108 bytes (unix(7)). Raises OSError if its directory is missing.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def attach(path: Path) -> int:
    """Connect this process's terminal, in raw mode, to the waiting terminal whose socket is at `path`, until its shell
    ends, and return 0. Raises NetlabError if it cannot be reached.
    """
    with socket.socket(socket.AF_UNIX) as peer:
        try:
            with sockets_name(path) as name:
                peer.connect(name)
        except OSError as error:
            raise NetlabError(f"Cannot connect to the terminal {path.name}: {error.strerror}.") from None
        columns, rows = shutil.get_terminal_size()
        peer.sendall(json.dumps([rows, columns]).encode())
        with raw(sys.stdin.fileno()):
            return relay(peer)


def relay(peer: socket.socket) -> int:
    """Send keys from the standard input to the terminal at the other end of the socket `peer`, and write its output to
    the standard output, until the terminal ends; return 0. The end of the input closes the connection in this
    direction.
    """
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
    """Return a context manager in whose block the terminal with the file descriptor `fd` is in raw mode, so that every
    key passes unchanged; it does nothing if `fd` is not a terminal.
    """
    if not os.isatty(fd):
        yield
        return
    old_settings = termios.tcgetattr(fd)
    try:
        tty.setraw(fd)
        yield
    finally:
        # A closed terminal has no state to restore.
        with contextlib.suppress(termios.error):
            termios.tcsetattr(fd, termios.TCSADRAIN, old_settings)
