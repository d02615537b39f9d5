"""Run the library kernel's program as a child process that has only a pipe for requests and a pipe for answers."""

import os
import select
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from netlab_engines.launcher import landlock_version
from netlab_engines.libc import libc
from netlab_engines.library.kernel_program import OnAnswers
from netlab_engines.protocol.session import OnWait

POLL_S = 0.05
READ_BYTES = 1 << 16
"""The capacity of a pipe."""
TALK, TALK_ROUND = 100, 20_000
"""The number of requests sent within one `listen` from which both processes share a CPU, and the number after which the system's
scheduler may move them."""
ENDINGS = {
    signal.SIGKILL: "it was killed, perhaps because the machine ran out of memory",
    signal.SIGTERM: "it was asked to end",
}


class ChildProgram:
    """The library kernel's program as a child process with two pipes; see `kernel_program.KernelProgram`."""

    def __init__(self, path: Path) -> None:
        """Start the program in the file `path` as a child process in a session of its own with two pipes (its error
        messages are discarded), without environment variables and in the root directory. Raises OSError if it cannot be
        started.
        """
        self._unread_requests = 0
        self._process = subprocess.Popen(
            [str(path), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            bufsize=0,
            start_new_session=True,
        )

    def send(self, requests: bytes) -> None:
        """Write requests, as bytes of whole frames, to the program's pipe, waiting while the pipe is full; nothing
        happens if the program has ended.
        """
        assert self._process.stdin is not None
        data = memoryview(requests)
        self._unread_requests += 1
        try:
            while data:
                data = data[self._process.stdin.write(data) :]
            # Keep the pipe open: end of file tells the program that this process has ended.
        except BrokenPipeError:
            # The program reports the reason on its output.
            return

    def listen(self, on_answers: OnAnswers, on_wait: OnWait | None) -> None:
        """Pass the program's answers, as bytes, to `on_answers` until that returns True or the program has ended.
        `on_wait` is called at least every POLL_S s (None: nothing is); exceptions of either end the call. After TALK
        requests within one call, both processes are kept on one CPU until it returns, save for a pause every TALK_ROUND
        requests.
        """
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        free, self._unread_requests = os.sched_getaffinity(0), 0
        try:
            while True:
                while on_wait is not None:
                    on_wait()
                    if select.select([source], [], [], POLL_S)[0]:
                        break
                data = os.read(source, READ_BYTES)
                if not data or on_answers(data):
                    return
                if self._unread_requests % TALK_ROUND in (0, TALK) and self._unread_requests:
                    self._pin({libc.sched_getcpu()} if self._unread_requests % TALK_ROUND else free)
        finally:
            if self._unread_requests >= TALK:
                self._pin(free)

    def _pin(self, cpus: set[int]) -> None:
        """Let this process and the program run only on the CPUs with these numbers; on a single CPU, thousands of
        switches between the two take half the time. Errors are ignored.
        """
        with suppress(OSError):
            os.sched_setaffinity(0, cpus)
            os.sched_setaffinity(self._process.pid, cpus)

    @property
    def confined(self) -> bool:
        """True if the program could give up all files and nearly all system calls (by Landlock and seccomp) before it
        read a plan; known after its first answer, and until `close`.
        """
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return landlock_version() > 0 and "\nSeccomp:\t2" in status

    def close(self) -> str:
        """Kill the program if it still runs, close its pipes, and return how it ended, as a part of a sentence such as
        "its status is 0".
        """
        process = self._process
        if process.poll() is None:
            process.kill()
        status = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        if status >= 0:
            return f"its status is {status}"
        return ENDINGS.get(signal.Signals(-status), f"it was ended by {signal.Signals(-status).name}")
