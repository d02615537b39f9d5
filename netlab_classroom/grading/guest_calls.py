"""The grader's end of a guest's channel, and the supervision of a guest while student code runs in it."""

from __future__ import annotations

import select
import socket
import time
from contextlib import suppress

from netlab.base.errors import RunError
from netlab_classroom.grading import callee, supervisor
from netlab_classroom.grading.helper import stop_requested
from netlab_classroom.grading.text import one_line
from netlab_engines.sandbox import Sandbox

START_CPU_S = 60.0
CALLS_CPU_S = 30.0
MAX_CALLS = 300_000
"""The limit of calls in one run. A busy connection makes a thousand calls in a second of network time."""
MAX_ANSWER_BYTES = 2 << 20
CHECK_INTERVAL_S = 0.25
MAX_ENDING_BYTES = 80
MAX_CHECKS_ASLEEP = 12
"""The number of consecutive checks that find all processes of a guest asleep: guest and grader wait for each other."""


class StudentCodeError(RunError):
    """A run ended through a student's class; the text says how, and where in the code."""


class GarbledError(StudentCodeError):
    """The guest sent data that is not a message."""


class BudgetError(StudentCodeError):
    """The code used up its time limit."""


class CallChannel:
    """Calls of student code in a guest from the grader's side of the guest's channel, with a limited number of calls.

    Parameters
    ----------
    connection : socket
        An open connection to the guest.
    monitor : SandboxMonitor or None
        Supervises the guest during calls.
    max_calls : int
        The limit of calls of student code.
    """

    def __init__(self, connection: socket.socket, monitor: SandboxMonitor | None, max_calls: int = MAX_CALLS) -> None:
        """Begin to use the connection; no call has been made yet."""
        self._connection, self._monitor, self._calls_left, self._max_calls = connection, monitor, max_calls, max_calls
        self._connection.settimeout(CHECK_INTERVAL_S)
        self._buffer = bytearray()
        self._checked_s = time.monotonic()
        self._checks_asleep = 0
        self._connections = 0

    def new_connection(self) -> int:
        """Return a number, from 1 on, that no other simulated connection of this channel has."""
        self._connections += 1
        return self._connections

    def ask(self, question: bytes) -> tuple[int, bytes]:
        """Send a packed request to student code in the guest, wait, and return a pair of the kind (a constant of
        `callee`) and the content of its reply. Raises BudgetError when the calls or the processor time are used up,
        StudentCodeError when the student's code has ended or does not reply, and RunError when the guest did not start.
        """
        self._calls_left -= 1
        if self._calls_left < 0:
            raise BudgetError(f"it was called more than {self._max_calls} times, which is all that a run may ask.")
        self._send(question)
        return self.receive()

    def finish(self, content: bytes = b"") -> None:
        """Tell the guest that requests have ended, with the bytes `content` as last message, such as the reply to the
        guest's own request; nothing happens if the guest has ended.
        """
        with suppress(RunError):
            self._send(bytes([callee.DONE]) + content)

    def has_message(self, patience_s: float) -> bool:
        """Wait up to `patience_s` seconds of wall-clock time (up to twice as long if nothing comes), and return whether
        data of a message from the guest are available.
        """
        if not self._buffer and select.select([self._connection], [], [], patience_s)[0]:
            with suppress(OSError):
                if self._connection.recv(1, socket.MSG_PEEK):
                    return True
            # The guest has ended, which the next call reports.
            time.sleep(patience_s)
        return bool(self._buffer)

    def _send(self, message: bytes) -> None:
        """Send the bytes of a message to the guest, preceded by their length; while it does not read, check its limits
        and wait. Raises StudentCodeError or RunError when the guest has ended or exceeds a limit.
        """
        self._checks_asleep = 0
        left = memoryview(callee.LENGTH.pack(len(message)) + message)
        while left:
            try:
                left = left[self._connection.send(left) :]
            except TimeoutError:
                # On a busy machine a guest takes time to read the data of a long run.
                self._check_limits()
            except OSError:
                raise self._end_error() from None

    def _check_limits(self) -> None:
        """Check the guest's limits by the monitor, if there is one and the last check is more than CHECK_INTERVAL_S
        ago. Raises BudgetError when the processor time is used up, or all processes of the guest have slept at
        MAX_CHECKS_ASLEEP checks in a row.
        """
        if self._monitor is None or time.monotonic() - self._checked_s <= CHECK_INTERVAL_S:
            return
        self._checked_s = time.monotonic()
        self._checks_asleep = self._checks_asleep + 1 if self._monitor.check() else 0
        if self._checks_asleep >= MAX_CHECKS_ASLEEP:
            raise BudgetError("it stopped answering.")

    def receive(self) -> tuple[int, bytes]:
        """Wait for the next message from the guest, check the guest's limits meanwhile, and return a pair of the
        message's kind (its first byte) and content. Raises StudentCodeError or RunError when the guest has ended or
        exceeds a limit, and KeyboardInterrupt when grading is stopped.
        """
        self._checks_asleep = 0
        while (size := self._next_size()) is None:
            self._check_limits()
            try:
                got = self._connection.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError:
                got = b""
            if not got:
                raise self._end_error()
            self._buffer += got
        content = bytes(self._buffer[callee.LENGTH.size : size])
        del self._buffer[:size]
        return content[0], content[1:]

    def _next_size(self) -> int | None:
        """Return the size in bytes of the next message in the buffer, with the length before it, once it has arrived
        completely, else None. Raises GarbledError, and empties the buffer, when its length is 0 or above
        MAX_ANSWER_BYTES.
        """
        if len(self._buffer) < callee.LENGTH.size:
            return None
        length = callee.LENGTH.unpack_from(self._buffer)[0]
        if not 1 <= length <= MAX_ANSWER_BYTES:
            self._buffer.clear()
            raise GarbledError("its process wrote into the channel to the grader.")
        size: int = length + callee.LENGTH.size
        return size if len(self._buffer) >= size else None

    def _end_error(self) -> RunError:
        """Return (not raise) the error that describes why the guest has ended; but raise KeyboardInterrupt if grading
        was stopped.
        """
        if stop_requested.is_set():
            # After Ctrl-C the grader itself ends guests; the result must not be stored as an error of the student's code.
            raise KeyboardInterrupt
        return StudentCodeError("its process ended.") if self._monitor is None else self._monitor.end_error()


class SandboxMonitor:
    """Supervision of the processor time of a sandbox while its code is called, from the start of the exercise with this
    number.

    Parameters
    ----------
    cpu_s : float
        The limit of processor time of the calls in s; a later start counts from its beginning.
    """

    def __init__(self, sandbox: Sandbox, number: int = 0, cpu_s: float = CALLS_CPU_S) -> None:
        """Prepare to watch a sandbox while the code of its exercise `number` (an index) is called; `cpu_s` is the limit
        of processor time in s, counted from the first check after the exercise's start.
        """
        self._sandbox, self._number, self._cpu_s = sandbox, number, cpu_s
        self._base_s: float | None = None

    def check(self) -> bool:
        """Return whether all processes of the guest are asleep at this moment. Raises BudgetError when it has used more
        than its limit of processor time since the student's code began, RunError when it used START_CPU_S before
        without beginning, and KeyboardInterrupt when grading is stopped.
        """
        if stop_requested.is_set():
            raise KeyboardInterrupt
        used_s, asleep = self._sandbox.cpu_state()
        if self._base_s is None:
            if used_s > START_CPU_S and not self._has_begun():
                raise self._start_error()
            if self._has_begun():
                self._base_s = used_s
        elif used_s - self._base_s > self._cpu_s:
            raise BudgetError(f"it used more than {self._cpu_s:g} s of processor time.")
        return asleep

    def end_error(self) -> RunError:
        """Return (not raise) the error that describes the way in which the guest ended: a failed start, a limit, or the
        student's code.
        """
        ending = read_ending(self._sandbox, self._number) or ""
        if ending == supervisor.NOT_ISOLATED or not self._has_begun():
            return self._start_error()
        if ending == supervisor.LATE:
            return BudgetError(f"it slept for more than {supervisor.MAX_GUEST_S:g} s.")
        return StudentCodeError(f"its process {one_line(ending) or 'brought the sandbox down'}.")

    def _has_begun(self) -> bool:
        """Return whether the guest has started the exercise that is watched, by a file in the sandbox's folder."""
        return self._sandbox.has_file(f"begun-{self._number}")

    def _start_error(self) -> RunError:
        """Return (not raise) the error of a guest that did not start, with the end of its console's output."""
        return RunError(f"The sandbox did not start. Its console:\n{self._sandbox.console_end()}")


def read_ending(sandbox: Sandbox, number: int) -> str | None:
    """Return the words in which the supervisor in a sandbox says how the exercise with this number (an index) ended;
    None if it has not ended.
    """
    ending = sandbox.read_file(f"ended-{number}", MAX_ENDING_BYTES)
    return None if ending is None else ending[:MAX_ENDING_BYTES].decode("utf-8", "replace")
