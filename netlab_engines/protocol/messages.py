"""Messages between the host and a lab in another process: JSON with a length prefix.

The host sends one request at a time, a `Request`. The lab answers with any number of `text`, `error_text`, `report` and
`progress_s` messages, then with one `Answer` or `Failure`. Its first message, before any request, is `Ready`.
"""

import json
import struct
from typing import Any, TypedDict

LENGTH = struct.Struct("<I")
"""The prefix of a message: its length in bytes."""


class Message(TypedDict, total=False):
    """A message from the lab, which has exactly one of these keys."""

    ready: int
    """The guest's clock in ns, in the first message."""
    text: str
    """A piece of a program's output."""
    error_text: str
    """A piece of a script's error output; bytes that are not UTF-8 are surrogates in it and in a script's `text`."""
    report: str
    """A line about a background program that failed."""
    progress_s: float
    """The network time that has passed, in s."""
    answer: dict[str, Any]
    """The answer to the request."""
    error: str
    """A sentence about a request that failed."""


class Request(TypedDict):
    """A message from the host."""

    do: str
    """The name of the request."""
    words: dict[str, Any]
    """The arguments of the request."""


def encode(message: Message | Request) -> bytes:
    """Return the bytes of a message or request for the channel: the length of its JSON text in bytes as 4 bytes,
    little-endian, then the text.

    >>> encode({"progress_s": 1.5})
    b'\\x13\\x00\\x00\\x00{"progress_s": 1.5}'
    """
    data = json.dumps(message).encode()
    return LENGTH.pack(len(data)) + data
