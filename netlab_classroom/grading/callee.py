"""The sandbox's side of a run with a student's classes: the run is made outside, and calls their methods through the guest's channel.

Each message is preceded by its length. While this side waits for a message, nothing runs in the guest and its clock
stands still. All replies are under the student's control; `remote.py`, outside, accepts only numbers or some datagrams.
"""

import json
import math
import os
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any

from netlab_classroom.grading import plain

METHODS = plain.OWN_METHODS
CONTROL_METHODS, PROGRAM_METHODS = METHODS[:4], (METHODS[0], *METHODS[4:6])
OPEN = {"control": 0, "sender": 1, "receiver": 2, "rule": 3}
CALL, DONE = 4, 5
READY, DID, FAILED, READ, ASKED = range(5)
TRANSFER = "transfer number"
"""The key of a transfer outside among the arguments of a call; a parameter cannot have this name."""
TIMER_AS_IT_WAS, TIMER_OFF, TIMER_AT = range(3)
SENT, DELIVERED = range(2)

LENGTH = struct.Struct("<I")
HEAD = struct.Struct("<BHB")
"""The kind of a request, the number of the connection, and the method's index in `METHODS`; to open a connection, the object's index."""
FLOW = struct.Struct("<dIdddBB")
ACK = struct.Struct("<ddIIIdBB")
LOSS = struct.Struct("<IIB")
CONTROL_VALUES = struct.Struct("<dddB")
TIME = struct.Struct("<d")
TIMER = struct.Struct("<Bd")
PIECE = struct.Struct("<BI")
CHUNK, SIZE = struct.Struct("<dd"), struct.Struct("<I")
_PART_BYTES = 1 << 16


class MessageStream:
    """A stream of messages in both directions over a file descriptor; each message is preceded by its length."""

    def __init__(self, descriptor: int) -> None:
        """Send and receive messages over an open file descriptor, which the caller closes."""
        self._descriptor, self._buffer = descriptor, bytearray()

    def receive(self) -> bytes:
        """Wait for the next message, and return its content without the length. Raises EOFError when the other end is
        closed.
        """
        while len(self._buffer) < LENGTH.size:
            self._read_more()
        size = LENGTH.unpack_from(self._buffer)[0] + LENGTH.size
        while len(self._buffer) < size:
            self._read_more()
        data = bytes(self._buffer[LENGTH.size : size])
        del self._buffer[:size]
        return data

    def _read_more(self) -> None:
        """Wait for data from the file descriptor, and append them to the buffer. Raises EOFError when the other end is
        closed.
        """
        got = os.read(self._descriptor, _PART_BYTES)
        if not got:
            raise EOFError
        self._buffer += got

    def send(self, kind: int, body: bytes = b"") -> None:
        """Send a message of a kind (a number from 0 to 255, its first byte) with the content `body`; wait until all of
        it is written.
        """
        self.send_message(bytes([kind]) + body)

    def send_message(self, message: bytes) -> None:
        """Send the bytes of a whole message, which begins with its kind, preceded by their length; wait until all are
        written.
        """
        left = memoryview(LENGTH.pack(len(message)) + message)
        while left:
            left = left[os.write(self._descriptor, left) :]


def serve(stream: MessageStream, objects: Sequence[Any]) -> bytes:
    """Call methods of the students' `objects` (classes or objects, which requests name by index) as the grader requests
    through the stream, and reply to each request: whether each method is defined when a connection is opened, its
    packed result after a call, or the text of a NetlabError. When the grader says that the run is over, return the
    content of that last message. Raises EOFError when the grader closes the stream.

    Parameters
    ----------
    objects : sequence
        The student's classes and objects; requests refer to them by index.
    """
    from netlab.base.errors import NetlabError

    connections: dict[int, ControlCalls | Programming | VideoRule] = {}
    while (question := stream.receive())[0] != DONE:
        what, number, place = HEAD.unpack_from(question)
        body = question[HEAD.size :]
        try:
            if what == CALL:
                reply = connections[number].call(METHODS[place], body)
            else:
                made: type[ControlCalls | Programming | VideoRule] = KINDS.get(what, Programming)
                connections[number] = made(stream, objects[place], body.decode(), what)
                reply = bytes(connections[number].has(name) for name in METHODS)
        except NetlabError as error:
            stream.send(FAILED, str(error).encode("utf-8", "replace"))
        else:
            stream.send(DID, reply)
    return question[1:]


def serve_apart(stream: MessageStream, objects: Sequence[Any]) -> bytes:
    """Call methods of the students' `objects` as the grader requests through the stream, with the object of each
    connection in a process of its own, so that two connections cannot share data; pass each request and its reply on
    (an error if the process has ended), and, when the grader says that the run is over, wait for the processes' ends
    and return the content of the last message. Raises EOFError when the grader has closed its end.
    """
    streams: dict[int, MessageStream] = {}
    processes: dict[int, socket.socket] = {}
    while (question := stream.receive())[0] != DONE:
        what, number, _ = HEAD.unpack_from(question)
        if what != CALL:
            here, there = socket.socketpair()
            pid = os.fork()
            if pid == 0:
                try:
                    here.close()
                    serve(MessageStream(there.fileno()), objects)
                finally:
                    os._exit(0)
            there.close()
            processes[pid] = here
            streams[number] = MessageStream(here.fileno())
        try:
            streams[number].send_message(question)
            while (message := streams[number].receive())[0] == READ:
                stream.send_message(message)
                streams[number].send_message(stream.receive())
        except (EOFError, OSError):
            message = bytes([FAILED]) + b"its process ended."
        stream.send_message(message)
    # Later processes have inherited the sockets of earlier ones: each ends when all are closed.
    for here in processes.values():
        here.close()
    for pid in processes:
        os.waitpid(pid, 0)
    return question[1:]


class ControlCalls:
    """Calls of a student's congestion control in the sandbox, with the state of its flow. `own` is the student's class
    or object, `label` the flow's name in messages.
    """

    def __init__(self, _stream: MessageStream, own: Any, label: str, _what: int) -> None:
        """Prepare the calls of `own`, a student's class or object; `label` is the flow's name in errors. Raises
        RunError when it cannot be a congestion control.
        """
        from netlab_engines.library.control import FlowInterface

        self._caller = _caller(own, label, CONTROL_METHODS)
        self._flow = FlowInterface(0, 1)
        self.has: Callable[[str], bool] = self._caller.has

    def call(self, method: str, body: bytes) -> bytes:
        """Call a method of the student's congestion control by name, if it is defined, with the state in `body` (a
        packed FLOW, and for other methods than on_start ACK or LOSS); return the packed CONTROL_VALUES after it: window and
        threshold in segments, pacing rate in Mbit/s (NaN: Linux's own) and ECN codepoint. Raises RunError when the
        method fails.
        """
        from netlab.base.units import NS_PER_S
        from netlab_engines.library.control import Ack, Loss

        flow = self._flow
        now_s, flow.mss_bytes, flow.cwnd_segments, flow.ssthresh_segments, pacing, accurate, ect = FLOW.unpack_from(
            body
        )
        flow.has_accurate_ecn = bool(accurate)
        flow.ect = ect
        flow.now_s, flow.pacing_mbps = now_s, None if math.isnan(pacing) else pacing
        given: Any = flow
        if method == "on_ack":
            rtt, rtt_min, delivered, in_flight, marked, rate, limited, grow = ACK.unpack_from(body, FLOW.size)
            given = Ack(
                now_s, _or_none(rtt), _or_none(rtt_min), delivered, in_flight, marked, rate, bool(limited), bool(grow)
            )
        elif method != "on_start":
            lost, in_flight, is_new = LOSS.unpack_from(body, FLOW.size)
            given = Loss(now_s, lost, in_flight, bool(is_new))
        if self._caller.has(method):
            self._caller.call(method, round(now_s * NS_PER_S), given)
        pacing_mbps = flow.pacing_mbps
        return CONTROL_VALUES.pack(
            flow.cwnd_segments, flow.ssthresh_segments, math.nan if pacing_mbps is None else pacing_mbps, flow.ect
        )


class Programming:
    """Calls of a student's program at one end of a flow. `own` is the student's class or object, `what` a value of
    `OPEN`: sender or receiver.
    """

    def __init__(self, stream: MessageStream, own: Any, label: str, what: int) -> None:
        """Prepare the calls of `own`, a student's class or object; `label` is the flow's name in errors, `what` the
        value of OPEN for a sender or a receiver. Data to send are requested over the stream. Raises RunError when `own`
        cannot be a program.
        """
        from netlab_user_code import delivery

        class ProgramInterface(delivery.ProgramInterface):
            """The interface of a student's program, under the name by which `method_calls` knows its methods; it records the
            last setting of the timer for the reply.
            """

            __slots__ = ()

            def set_timer(program, at_s: float | None) -> None:  # noqa: N805 (self is the other object)
                """Set the program's timer to a network time in s, or switch it off with None, and keep the setting for
                the reply.
                """
                super().set_timer(at_s)
                self._timer = (TIMER_OFF, 0.0) if at_s is None else (TIMER_AT, float(at_s))

        self._stream = stream
        self._caller = _caller(own, label, PROGRAM_METHODS)
        self._program = ProgramInterface(self, what == OPEN["receiver"])  # type: ignore[arg-type]
        self._timer = (TIMER_AS_IT_WAS, 0.0)
        self._delivered: list[bytes] = []
        self.has: Callable[[str], bool] = self._caller.has

    def call(self, method: str, body: bytes) -> bytes:
        """Call a method of the student's program by name; `body` has the packed network time in s, followed by the
        datagram for on_datagram. Return the packed setting of the timer (TIMER), and then each piece of data that the
        program sent or delivered after its kind and length (PIECE). Raises RunError when the method fails.
        """
        from netlab.base.units import NS_PER_S

        (now_s,) = TIME.unpack_from(body)
        now_ns = round(now_s * NS_PER_S)
        self._timer, self._delivered = (TIMER_AS_IT_WAS, 0.0), []
        self._program.wake(now_ns, method == "on_timer")
        self._program.outgoing, self._program.outgoing_bytes = [], 0
        given: Any = (self._program,) if method == "on_start" else (now_s,)
        self._caller.call(method, now_ns, *given, *([body[TIME.size :]] if method == "on_datagram" else []))
        pieces = [(SENT, data) for data in self._program.outgoing] + [(DELIVERED, data) for data in self._delivered]
        return TIMER.pack(*self._timer) + b"".join(PIECE.pack(kind, len(data)) + data for kind, data in pieces)

    # The interface of `delivery.DeliveryLog`, for the program.

    def read(self, _now_s: float, num_bytes: int) -> bytes:
        """Request the next `num_bytes` bytes that the program has to send (at most 1 MiB) from the grader, and wait for
        them; fewer come at the end of the data.
        """
        self._stream.send(READ, LENGTH.pack(min(num_bytes, 1 << 20)))
        return self._stream.receive()

    def deliver(self, _now_s: float, piece: bytes) -> None:
        """Keep `piece`, data that the student's program delivers, for the reply to the current call."""
        self._delivered.append(piece)

    def note_sent(self, _now_s: float, _data: bytes) -> None:
        """Do nothing: the grader's side counts the data that the student's program sends."""


class VideoRule:
    """Calls of a student's rule of a video player. `own` is the student's class or object, `label` the video's name in
    messages.
    """

    def __init__(self, _stream: MessageStream, own: Any, label: str, _what: int) -> None:
        """Prepare the calls of `own`, a student's class or object; `label` is the video's name in errors. Raises
        RunError when no object of the class can be made.
        """
        from netlab_user_code.method_calls import LocalCaller

        self._caller = LocalCaller(label, own)
        self.has: Callable[[str], bool] = self._caller.has

    def call(self, method: str, body: bytes) -> bytes:
        """Call a method of the student's rule by name with the packed buffer in s, throughput in Mbit/s and sizes in
        bytes in `body`; return its value as JSON with its kind, such as {"number": 3}. Raises RunError when the method
        fails.
        """
        buffer_s, throughput_mbps = CHUNK.unpack_from(body)
        sizes = [size for (size,) in SIZE.iter_unpack(body[CHUNK.size :])]
        value = self._caller.value(method, buffer_s=buffer_s, throughput_mbps=throughput_mbps, sizes=sizes)
        return json.dumps(plain.encode(value)).encode()


KINDS: dict[int, type[ControlCalls | Programming | VideoRule]] = {
    OPEN["control"]: ControlCalls,
    OPEN["rule"]: VideoRule,
}
"""The classes that answer the calls of a connection, by its kind of `OPEN`; programs have one for both ends."""


def _caller(own: Any, label: str, methods: Sequence[str]) -> Any:
    """Return an object that calls the methods of `own`, a student's class or object; `label` names its flow in errors.
    Raises RunError when it defines none of `methods`, or with wrong parameters.
    """
    from netlab.base.errors import RunError
    from netlab.traffic.own import own_problems
    from netlab_user_code.method_calls import LocalCaller

    problems = own_problems(f"{label}: its class", own, methods)
    if problems:
        raise RunError("; ".join(problems))
    return LocalCaller(label, own)


def _or_none(value: float) -> float | None:
    """Return the number itself, or None for NaN, which stands for None in packed messages."""
    return None if math.isnan(value) else value
