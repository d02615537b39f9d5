"""A process that handles students' text within limits, so that a malicious text affects only its own student's result.

It runs no student code: it reads files, compares, and fills templates. Requests and replies are JSON, and all returned
text is clean. If it exceeds its memory, processor time or wall-clock time it is killed, and the next request starts
another one.
"""

import json
import os
import resource
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from netlab.base.errors import NetlabError
from netlab_classroom.grading.text import clean_values, one_line

MAX_MEMORY_MB = 512
CPU_S = 10.0
WALL_S = 60.0
MAX_REPLY_BYTES = 32 << 20
POLL_S = 0.2
_HEAD_BYTES = 8

stop_requested = threading.Event()
"""Set to end the grading at once, without waiting for submissions that are being judged."""


class GaveUpError(NetlabError):
    """A text could not be handled within the limits; the message, in the grader's words, says which
    limit was exceeded.
    """


class Helper:
    """A helper process; it starts with the first request. Only one thread may use it at a time.

    Parameters
    ----------
    cpu_s, wall_s : float
        Limits of processor and wall-clock time for a request, in s.
    """

    def __init__(self, cpu_s: float = CPU_S, wall_s: float = WALL_S) -> None:
        """Set the limits of processor time and wall-clock time for each request to the helper process, in s; no process
        starts yet.
        """
        self._cpu_s, self._wall_s = cpu_s, wall_s
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, name: str, **content: Any) -> Any:
        """Call the function `name` of `netlab_classroom.grading.reading` in the helper process, which is started if
        needed, with these arguments (data for JSON), wait, and return its result with clean text. Raises GaveUpError
        when it exceeded a limit of time or memory (the process is then ended), or failed on the text, and
        KeyboardInterrupt when grading is stopped.
        """
        process = self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            _write(process.stdin, {"name": name, "content": content, "cpu_s": self._cpu_s})
            reply = _reply(process.stdout.fileno(), time.monotonic() + self._wall_s)
        except (OSError, EOFError):
            reply = b""
        except BaseException:
            self.close()
            raise
        if not reply:
            self.close()
            raise GaveUpError(
                f"it took more than {self._cpu_s:g} s of processor time or {MAX_MEMORY_MB} MB of memory to read."
            )
        answer = json.loads(reply)
        if "error" in answer:
            if answer["error"] == "MemoryError":
                self.close()
                raise GaveUpError(f"it took more than {MAX_MEMORY_MB} MB of memory to read.")
            raise GaveUpError(f"it cannot be read ({one_line(str(answer['error']), 80)}).")
        return clean_values(answer["value"])

    def __del__(self) -> None:
        """End the helper process when this object is deleted, as with the thread that owned it."""
        self.close()

    def close(self) -> None:
        """End the helper process, if it runs; the next request starts another."""
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> subprocess.Popen[bytes]:
        """Return the helper process, which has pipes to its input and output and is in a session of its own; start it
        if there is none.
        """
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is the parent's to handle
            )
        return self._process


_thread_state = threading.local()


def helper() -> Helper:
    """Return the Helper of the current thread, the same each time; its process starts with the first request."""
    if not hasattr(_thread_state, "helper"):
        _thread_state.helper = Helper()
    found: Helper = _thread_state.helper
    return found


def _reply(source: int, until_s: float) -> bytes:
    """Wait for the next message from the file descriptor `source` until the monotonic time `until_s` (s); return its
    bytes without the length, b"" if it is late or too long or the other end is closed. Raises KeyboardInterrupt when
    grading is stopped.
    """
    data = bytearray()
    size = MAX_REPLY_BYTES
    while len(data) < size:
        if stop_requested.is_set():
            raise KeyboardInterrupt
        if time.monotonic() > until_s:
            return b""
        if select.select([source], [], [], POLL_S)[0]:
            part = os.read(source, 1 << 20)
            if not part:
                return b""
            data += part
            if len(data) >= _HEAD_BYTES:
                size = _HEAD_BYTES + int.from_bytes(data[:_HEAD_BYTES], "big")
                if size > MAX_REPLY_BYTES:
                    return b""
    return bytes(data[_HEAD_BYTES:])


def _write(target: IO[bytes], content: Any) -> None:
    """Write `content` as JSON to a pipe, preceded by its length in bytes (8 bytes, big-endian), and flush the pipe."""
    data = json.dumps(content).encode()
    target.write(len(data).to_bytes(_HEAD_BYTES, "big") + data)
    target.flush()


def serve() -> None:
    """Answer requests from standard input until it ends, within the limits of memory and processor time: the main
    function of the helper process. A reply to standard output has "value", or "error" with the type of an exception.
    """
    from netlab_classroom.grading import reading

    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    own_pages = int(Path("/proc/self/statm").read_text().split()[0])
    max_bytes = own_pages * resource.getpagesize() + (MAX_MEMORY_MB << 20)
    resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while size := int.from_bytes(source.read(_HEAD_BYTES), "big"):
        request = json.loads(source.read(size))
        used_s = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        # RLIMIT_CPU counts from the start of the process.
        resource.setrlimit(resource.RLIMIT_CPU, (int(used_s + request["cpu_s"] + 1), resource.RLIM_INFINITY))
        try:
            _write(target, {"value": reading.FUNCTIONS[request["name"]](**request["content"])})
        except Exception as error:  # noqa: BLE001 (an error concerns this student's text only)
            _write(target, {"error": type(error).__name__})
