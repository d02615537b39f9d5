"""Messages between the host and a lab in another process: JSON with a length prefix.

The host sends one request at a time, a `Request`. The lab answers with any number of `text`, `report` and `progress_s` messages, then
with one `Answer` or `Failure`. Its first message, before any request, is `Ready`.
"""

import json
import struct
from typing import Any, TypedDict

LENGTH = struct.Struct("<I")
"""The size of a message in bytes, before it."""


class Message(TypedDict, total=False):
    """One of these: `ready`; `text`, a piece of what a program prints; `report`, a line about a background program that failed;
    `progress_s`, network time; `answer`; `error`, a sentence.
    """

    ready: int
    text: str
    report: str
    progress_s: float
    answer: dict[str, Any]
    error: str


class Request(TypedDict):
    """`do` is the name of a request, `words` its arguments."""

    do: str
    words: dict[str, Any]


def encode(message: Message | Request) -> bytes:
    """A message as it crosses.

    >>> encode({"progress_s": 1.5})
    b'\\x13\\x00\\x00\\x00{"progress_s": 1.5}'
    """
    data = json.dumps(message).encode()
    return LENGTH.pack(len(data)) + data
