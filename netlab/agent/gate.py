"""The guest's end of the gate: take requests, answer them; between two of them the guest's clock stands still."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import time
import traceback
from collections.abc import Callable
from typing import Any

from netlab.base.errors import NetlabError

DEVICE = "/dev/netlab"
SEED = 0x40084E01
FOREGROUND = 0x40044E02
LENGTH = struct.Struct("<I")

Words = dict[str, Any]


class Gate:
    """Messages to and from whoever started this guest.

    Parameters
    ----------
    forget_start_up : callable
        Draws new random keys and goes on at a round time.
    power_off : callable
        Ends the guest.
    """

    def __init__(self, forget_start_up: Callable[[], None], power_off: Callable[[], None]) -> None:
        self._forget_start_up = forget_start_up
        self.power_off = power_off
        self._device = os.open(DEVICE, os.O_RDWR)
        self._buffer = b""

    def put(self, **words: Any) -> None:
        """Send a message."""
        data = json.dumps(words).encode()
        data = LENGTH.pack(len(data)) + data
        while data:
            data = data[os.write(self._device, data) :]

    def get(self) -> Words:
        """The next request; nothing in this guest runs until it comes."""
        (size,) = LENGTH.unpack(self._read(LENGTH.size))
        found: Words = json.loads(self._read(size))
        return found

    def _read(self, size: int) -> bytes:
        while len(self._buffer) < size:
            got = os.read(self._device, 1 << 16)
            if not got:
                # Whoever started this guest is gone.
                self.power_off()
            self._buffer += got
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return data

    def new_seed(self, seed: int) -> None:
        """Draw all random numbers from `seed` from now on."""
        fcntl.ioctl(self._device, SEED, struct.pack("=Q", seed))
        self._forget_start_up()

    def foreground(self, group: int) -> None:
        """Name the process group that an interrupt from outside is for; 0 is none."""
        fcntl.ioctl(self._device, FOREGROUND, struct.pack("=i", group))


def serve(gate: Gate, requests: dict[str, Callable[..., Words | None]]) -> None:
    """Answer requests for ever; each names under `do` what is to be done, the rest of its words are arguments."""
    gate.put(ready=time.monotonic_ns())
    while True:
        words = gate.get()
        do = words.pop("do")
        try:
            answer = requests[do](**words) or {}
        except NetlabError as error:
            gate.put(error=str(error))
        except Exception as error:  # noqa: BLE001 (whatever it is, whoever asked must hear of it)
            gate.put(error=f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        else:
            gate.put(answer=answer)
