"""The answers of a user's two programs, the sender and the receiver of a flow of datagrams, to the kernel's questions."""

from typing import Any

from netlab_engines.library.wire_format import PROGRAM_QUESTION, PROGRAM_REPLY, ProgramEvent
from netlab_user_code.delivery import LENGTH, DeliveryLog, ProgramInterface
from netlab_user_code.method_calls import Part, caller


class ProgramPair:
    """The user's own sender and receiver of one flow of datagrams: it answers the kernel's questions by calls of their
    methods; see `kernel_program.QuestionHandler`.

    The sender's application has `num_bytes` to send, or no limit if that is None.
    """

    def __init__(self, label: str, programs: tuple[Any, ...], num_bytes: int | None) -> None:
        """Prepare calls of the methods of the user's two objects in `programs`, the sender and the receiver of one
        flow. `label` names the flow in errors, and `num_bytes` is the number of bytes that the sender's application has
        to send (None: no limit). Raises RunError if no object of a user's class can be made.
        """
        self.label, self.log = label, DeliveryLog(num_bytes, label)
        parts: tuple[Part, Part] = ("sender", "receiver")
        self._callers = [caller(label, own, part) for own, part in zip(programs, parts, strict=True)]
        self._programs = [ProgramInterface(self.log, receives) for receives in (False, True)]

    def answer(self, data: bytes) -> bytes:
        """Call the user's method (`on_start`, `on_datagram` or `on_timer`; none if it is missing) for the event in
        `data`, the bytes of a kernel's question from one of the two ends, and return the bytes of the reply: the time
        in ns of that end's next timer and the datagrams to send, each after its length. A datagram at the receiver is
        counted in the log. Raises RunError if the method fails.
        """
        now_ns, _port, event, end = PROGRAM_QUESTION.unpack(data)
        methods = self._callers[end]
        program: ProgramInterface = self._programs[end]
        program.wake(now_ns, event == ProgramEvent.TIMER)
        if event == ProgramEvent.DATAGRAM:
            self.log.received_datagrams += end
        method = ("on_start", "on_datagram", "on_timer")[event]
        if methods.has(method):
            arguments: tuple[Any, ...] = (program,) if event == ProgramEvent.START else (program.now_s,)
            methods.call(
                method, now_ns, *arguments, *([data[PROGRAM_QUESTION.size :]] if event == ProgramEvent.DATAGRAM else [])
            )
        timer_ns, outgoing = program.take()
        parts = [part for sent in outgoing for part in (LENGTH.pack(len(sent)), sent)]
        return b"".join([PROGRAM_REPLY.pack(timer_ns=timer_ns), *parts])

    def close(self) -> None:
        """Free the resources of the user's two objects at the end of the lab."""
        for each in self._callers:
            each.close()
