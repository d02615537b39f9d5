"""The library kernel's program, running: a child process, or WebAssembly in this one.

Requests go in while it runs and answers come out; the listener may send more.
"""

from collections.abc import Callable
from typing import Protocol

from netlab.protocol.session import OnWait

OnAnswers = Callable[[bytes], bool]
"""Takes bytes of answers, which may end within a frame; True when no more are wanted."""


class Program(Protocol):
    """A running process of the library kernel."""

    @property
    def confined(self) -> bool:
        """True if the program has given up all files and nearly all system calls; known after its first answer."""

    def send(self, requests: bytes) -> None:
        """Give it requests; from any thread, also while it runs."""

    def listen(self, on_answers: OnAnswers, on_wait: OnWait | None) -> None:
        """Hand on answers until no more are wanted, or it has ended; `on_wait` is called meanwhile, and what it raises ends this."""

    def close(self) -> str:
        """End it if need be, free what it holds, and say how it ended, in part of a sentence."""
