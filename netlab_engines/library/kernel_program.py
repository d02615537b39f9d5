"""The interface of a running program of the library kernel, a child process or WebAssembly in this process, and of the
objects that answer its questions.

The program reads requests and writes answers while it runs; the caller of `listen` may send more requests meanwhile.
"""

from collections.abc import Callable
from typing import Protocol

from netlab_engines.protocol.session import OnWait

OnAnswers = Callable[[bytes], bool]
"""Called with bytes of answers, which may end within a frame; returns True to stop listening."""


class KernelProgram(Protocol):
    """A running program of the library kernel, which reads requests and writes answers."""

    @property
    def confined(self) -> bool:
        """True if the program has given up all files and nearly all system calls; known after its first answer."""

    def send(self, requests: bytes) -> None:
        """Send requests, as bytes of whole frames, to the program; any thread may do so, even while
        the program runs.
        """

    def listen(self, on_answers: OnAnswers, on_wait: OnWait | None) -> None:
        """Pass the program's answers, as bytes, to `on_answers` until that returns True or the program has ended.
        `on_wait` is called several times a second (None: nothing is); exceptions of either end the call.
        """

    def close(self) -> str:
        """End the program if it still runs, free its resources, and return how it ended, as a part of a sentence such
        as "its status is 0".
        """


class QuestionHandler(Protocol):
    """An object that answers the kernel's questions about one connection."""

    def answer(self, data: bytes) -> bytes:
        """Return the bytes of the reply to the kernel's question `data`, both in the format of
        recipe/library/host/protocol.h. Raises RunError, with the line of the user's Python, if that fails.
        """

    def close(self) -> None:
        """Free the handler's resources at the end of the lab."""
