"""The grader's side of a student's class: the run is made here, and each method is called in the sandbox."""

import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from netlab.base.errors import NetlabError
from netlab.base.units import NS_PER_S
from netlab_classroom.grading import callee, plain, sandbox
from netlab_classroom.grading.guest_calls import CALLS_CPU_S, MAX_CALLS, CallChannel, SandboxMonitor, StudentCodeError
from netlab_classroom.grading.text import one_line
from netlab_engines.library.control import FlowInterface
from netlab_user_code.delivery import ProgramInterface
from netlab_user_code.method_calls import MethodCaller, Part, RemoteObject

MAX_TEXT_CHARACTERS, MAX_NAME_CHARACTERS = 600, 60


class RemoteClass(RemoteObject):
    """A proxy for a student's class or object in a run of the grader's; the methods of its objects are called in the
    sandbox.

    Parameters
    ----------
    open_channel : callable
        Called for each connection; returns the channel to the object, and the function that ends the object's process
        with the connection.
    """

    def __init__(self, open_channel: Callable[[], tuple[CallChannel, Callable[[], None]]], place: int = 0) -> None:
        """Stand for the student's class or object with the index `place` in a guest; `open_channel` is called for each
        connection, and returns the channel to the guest and a function that ends the connection's process.
        """
        self._open_channel, self._place = open_channel, place
        self._last_caller: MethodCaller | None = None

    def __repr__(self) -> str:
        """Return the text "class NAME", with the student's name of the class."""
        return f"class {type(self).__name__}"

    def on_start(self, _subject: object) -> None:
        """Do nothing: this method is only found by checks of a class; those of the student's object are called through
        `caller`.
        """

    def caller(self, label: str, part: Part) -> MethodCaller:
        """Open a connection to the guest, and return the object that calls the methods of the student's object there in
        the role `part` ("control", "sender", "receiver" or "rule"); `label` names the flow or video in errors. Raises
        StudentCodeError if the object cannot be made, RunError if the guest does not start.
        """
        channel, close = self._open_channel()
        try:
            caller_class = {"control": ControlCaller, "rule": RuleCaller}.get(part, ProgramCaller)
            self._last_caller = caller_class(
                channel, close, label, (callee.OPEN[part], channel.new_connection(), self._place)
            )
        except BaseException:
            close()
            raise
        return self._last_caller

    def has(self, method: str) -> bool:
        """Return whether the student's object of the last connection has a method of this name; False before the first
        connection.
        """
        return self._last_caller is not None and self._last_caller.has(method)


def proxy_for(
    name: str, open_channel: Callable[[], tuple[CallChannel, Callable[[], None]]], place: int = 0
) -> RemoteClass:
    """Return a RemoteClass with this name in tables and messages, if that is an identifier of at most
    MAX_NAME_CHARACTERS characters, else "Own". `open_channel` returns, for each connection, the channel and a function
    that ends it; `place` is the object's index in the guest.
    """
    known = name if name.isidentifier() and len(name) <= MAX_NAME_CHARACTERS else "Own"
    caller_class: RemoteClass = type(known, (RemoteClass,), {})(open_channel, place)
    return caller_class


def requested_proxies(asked: Mapping[str, Any], channel: CallChannel) -> dict[tuple[int, str], RemoteClass]:
    """Return proxies for the student's classes in a run that student code requests (`asked`, untrusted: the "scenario",
    and "own", a list of item, field and class name), by (index of the traffic item, name of its field); {} without
    "own". All are called through `channel`. Raises NetlabError when the request is not valid.
    """
    told, traffic = asked.get("own") or [], asked["scenario"].get("traffic")
    number = len(traffic) if isinstance(traffic, list) else 0
    found = {}
    for place, each in enumerate(told if isinstance(told, list) else [None]):
        match each:
            case [int(item), "congestion" | "sender" | "receiver" as name, str(known)] if 0 <= item < number:
                found[item, name] = proxy_for(known, lambda: (channel, lambda: None), place)
            case _:
                raise NetlabError("The grader does not know this question.")
    return found


def program_proxies(channel: CallChannel) -> list[RemoteClass]:
    """Return proxies for the student's sender (first) and receiver in the guest, which are called through `channel`."""
    return [
        proxy_for(name, lambda: (channel, lambda: None), place) for place, name in enumerate(("Sender", "Receiver"))
    ]


def isolated_class(
    package: Path, exercise: Mapping[str, Any], name: str, cpu_s: float = CALLS_CPU_S, max_calls: int = MAX_CALLS
) -> RemoteClass:
    """Return a proxy with this name for a student's class; each connection has its object in a separate guest, so that
    objects cannot communicate. `exercise` has the sources "given" and "answer" that define the class and its "name",
    `package` is the directory of the students' package; `cpu_s` (s of processor time) and `max_calls` limit a
    connection, which raises StudentCodeError when the code fails or exceeds one, RunError when the guest does not
    start.

    Parameters
    ----------
    package : Path
        As for `ExerciseSandbox`.
    exercise : mapping
        A request as for `runner.work`; its answer's `name` is the class.
    name : str
        The name of the class in tables and messages.
    cpu_s, max_calls
        As for `CallChannel`.
    """

    def boot_class() -> tuple[CallChannel, Callable[[], None]]:
        """Boot a guest that runs the class's code, and return a pair of the channel to it and the function that ends
        the guest. Raises StudentCodeError when the code fails, RunError when the guest does not start.
        """
        booted = sandbox.boot(package)
        try:
            work = {"exercises": [{**exercise, "serves": True}], "seed": sandbox.SEED}
            booted.send({"do": "work", "words": work})
            channel = CallChannel(booted.channel, SandboxMonitor(booted, cpu_s=cpu_s), max_calls)
            kind, content = channel.receive()
            if kind != callee.READY:
                raise StudentCodeError(text_of(content))
        except BaseException:
            booted.close()
            raise
        return channel, booted.close

    return proxy_for(name, boot_class)


class _RemoteCaller(ABC):
    """Calls of the methods of one object in the sandbox for one connection; see `method_calls.MethodCaller`. `opening` has the
    object's part, the connection's number and the object's index.
    """

    def __init__(
        self, channel: CallChannel, close: Callable[[], None], label: str, opening: tuple[int, int, int]
    ) -> None:
        """Open a connection over the channel for the flow or video named `label`; `opening` has the kind of the object
        (a value of `callee.OPEN`), the connection's number and the object's index, and `close` is called by the user of
        this object to end it. Raises StudentCodeError when the student's object cannot be made.
        """
        self._channel, self.close, self._label, self._number = channel, close, label, opening[1]
        self._methods = self._content_of(*channel.ask(callee.HEAD.pack(*opening) + label.encode()))
        if len(self._methods) != len(callee.METHODS):
            raise self._protocol_error()

    def has(self, method: str) -> bool:
        """Return whether the student's object has a method of this name; True for `on_start`, which is always called,
        because it has the flow or program.
        """
        return method == "on_start" or bool(self._methods[callee.METHODS.index(method)])

    def call(self, method: str, now_ns: int, *arguments: Any) -> None:
        """Call a method of the student's object at `now_ns`, in ns of network time, with its arguments, and apply its
        reply to the flow or program. Raises StudentCodeError when the method fails or its reply is not valid.
        """
        head = callee.HEAD.pack(callee.CALL, self._number, callee.METHODS.index(method))
        try:
            self._call(head, method, now_ns / NS_PER_S, arguments)
        except StudentCodeError:
            raise
        except NetlabError as error:
            # netlab's own code on the student's side never sends such a value.
            raise StudentCodeError(f"{self._label}: {error}") from None
        except struct.error:
            raise self._protocol_error() from None

    @abstractmethod
    def _call(self, head: bytes, method: str, now_s: float, arguments: tuple[Any, ...]) -> None:
        """Call the method of this name at `now_s`, in s of network time, with the arguments `arguments`, and apply its
        reply to the flow or the program; `head` is the packed header of the request. Raises StudentCodeError when the
        method fails.
        """

    def _content_of(self, kind: int, content: bytes) -> bytes:
        """Return the content `content` of a reply if its kind says that the call succeeded. Raises StudentCodeError with
        the student's error, or if the reply is of another kind.
        """
        if kind == callee.DID:
            return content
        if kind == callee.FAILED:
            raise StudentCodeError(text_of(content))
        raise self._protocol_error()

    def _protocol_error(self) -> StudentCodeError:
        """Return (not raise) the error for a reply that netlab's own code would never send."""
        return StudentCodeError(f"{self._label}: its process wrote into the channel to the grader.")


class ControlCaller(_RemoteCaller):
    """Calls of a student's congestion control in the sandbox; replies set the flow's window,
    threshold and pacing rate.
    """

    _flow: FlowInterface

    def _call(self, head: bytes, method: str, now_s: float, arguments: tuple[Any, ...]) -> None:
        """Send the flow's state, and the acknowledgement or loss in `arguments`, with the packed header `head` to a
        method of the student's congestion control, and set the flow's window, threshold, pacing rate and ECN codepoint
        to those of the reply. `arguments` of "on_start" has the flow itself, `now_s` is the network time in s. Raises
        StudentCodeError when the method fails, NetlabError when a value of the reply is not allowed.
        """
        if method == "on_start":
            (self._flow,) = arguments
        flow, body = self._flow, b""
        if method == "on_ack":
            (ack,) = arguments
            body = callee.ACK.pack(
                _or_nan(ack.rtt_ms), _or_nan(ack.rtt_min_ms), ack.delivered_segments, ack.in_flight_segments,
                ack.marked_segments, ack.delivery_rate_mbps, ack.app_limited, ack.may_grow,
            )  # fmt: skip
        elif method != "on_start":
            (loss,) = arguments
            body = callee.LOSS.pack(loss.lost_segments, loss.in_flight_segments, loss.is_new)
        before = callee.FLOW.pack(
            now_s, flow.mss_bytes, flow.cwnd_segments, flow.ssthresh_segments, _or_nan(flow.pacing_mbps),
            flow.has_accurate_ecn, flow.ect,
        )  # fmt: skip
        cwnd, ssthresh, pacing, ect = callee.CONTROL_VALUES.unpack(
            self._content_of(*self._channel.ask(head + before + body))
        )
        flow.cwnd_segments, flow.ssthresh_segments, flow.ect = cwnd, ssthresh, ect
        flow.pacing_mbps = None if math.isnan(pacing) else pacing


class ProgramCaller(_RemoteCaller):
    """Calls of a student's program at one end of a flow in the sandbox; replies have a timer, and data to send and to
    deliver.
    """

    _program: ProgramInterface

    def _call(self, head: bytes, method: str, now_s: float, arguments: tuple[Any, ...]) -> None:
        """Call a method of the student's program with the packed header `head` at `now_s`, in s of network time, answer
        its reads with data, and apply its reply: set the timer, send and deliver data. Of `arguments`, on_start has the
        program first, and on_datagram the data second. Raises StudentCodeError when the method fails.
        """
        if method == "on_start":
            (self._program,) = arguments
        program = self._program
        kind, content = self._channel.ask(
            head + callee.TIME.pack(now_s) + (arguments[1] if method == "on_datagram" else b"")
        )
        while kind == callee.READ:
            kind, content = self._channel.ask(program.read(callee.LENGTH.unpack(content)[0]))
        content = self._content_of(kind, content)
        timer, at_s = callee.TIMER.unpack_from(content)
        if timer != callee.TIMER_AS_IT_WAS:
            program.set_timer(at_s if timer == callee.TIMER_AT else None)
        at = callee.TIMER.size
        while at < len(content):
            what, size = callee.PIECE.unpack_from(content, at)
            at += callee.PIECE.size + size
            piece = content[at - size : at]
            (program.send if what == callee.SENT else program.deliver)(piece)


class RuleCaller(_RemoteCaller):
    """Calls of a student's rule of a video player in the sandbox, with the methods of a rule; replies are plain values."""

    _choice: Any

    def on_chunk(self, buffer_s: float, throughput_mbps: float, sizes: Sequence[int]) -> Any:
        """Return the choice of the student's rule for the next chunk, an untrusted value that may be no quality, from
        the buffer in s, the last throughput in Mbit/s and the chunk's size in bytes in each quality. Raises
        StudentCodeError when the rule fails or its reply is not valid.
        """
        self.call("on_chunk", 0, buffer_s, throughput_mbps, sizes)
        return self._choice

    def _call(self, head: bytes, _method: str, _now_s: float, arguments: tuple[Any, ...]) -> None:
        """Send the arguments `arguments` (buffer in s, throughput in Mbit/s, sizes in bytes) with the packed header
        `head` to the student's rule, and keep the value of its reply. Raises StudentCodeError when the rule fails, and
        PlainError when the reply is not plain data.
        """
        buffer_s, throughput_mbps, sizes = arguments
        body = callee.CHUNK.pack(buffer_s, throughput_mbps) + b"".join(map(callee.SIZE.pack, sizes))
        self._choice = plain.decode(plain.parse(self._content_of(*self._channel.ask(head + body))))


def text_of(content: bytes) -> str:
    """Return the text of an untrusted message (bytes in UTF-8) as one clean line, cut to MAX_TEXT_CHARACTERS
    characters.
    """
    return one_line(content.decode("utf-8", "replace"), MAX_TEXT_CHARACTERS)


def _or_nan(value: float | None) -> float:
    """Return the number itself, or NaN for None, which a packed message cannot contain."""
    return math.nan if value is None else value
