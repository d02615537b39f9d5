"""The guest's end of the channel to the host: receive requests and answer them.

The guest's clock stands still between two requests.
"""

import ctypes
import fcntl
import json
import os
import struct
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlab.base.errors import NetlabError
from netlab_engines.libc import check, libc
from netlab_engines.protocol.messages import LENGTH, Message, Request, encode
from netlab_engines.sockets.moments import forbid_timer_slack

if TYPE_CHECKING:
    from netlab_engines.agent.early_exits import EarlyExits

DEVICE = "/dev/netlab"
SEED = 0x40084E01
FOREGROUND = 0x40044E02
SCHED_SETSCHEDULER = 144
"""The number of the system call on x86-64, on which alone the pocket kernel runs."""


class HostChannel:
    """The guest's end of the channel to the process that started it: messages as JSON, the seed of random draws, and
    interrupts.

    Parameters
    ----------
    forget_start_up : callable
        Called after each new seed: draws new random keys and sleeps until a round time, so that nothing depends on how
        the guest started.
    power_off : callable
        Ends the guest; called when the process that started the guest is gone.

    Attributes
    ----------
    early_exits : EarlyExits or None
        The reports of background programs that fail; None before `report_early_exits`.
    """

    early_exits: "EarlyExits | None" = None

    def __init__(self, forget_start_up: Callable[[], None], power_off: Callable[[], None]) -> None:
        """Open the device of the channel. Raises OSError if there is no device."""
        self._forget_start_up = forget_start_up
        self.power_off = power_off
        self._device = os.open(DEVICE, os.O_RDWR)
        self._buffer = bytearray()

    def put(self, **message: Any) -> None:
        """Send the host one message, a JSON object with the arguments as its fields, and return when it is written."""
        whole_message: Message = message  # type: ignore[assignment]
        left = memoryview(encode(whole_message))
        while left:
            left = left[os.write(self._device, left) :]

    def get(self) -> Any:
        """Wait for the next message from the host and return it as its JSON value; the guest's clock stands still until
        it arrives. If the host is gone, the guest ends.
        """
        (size,) = LENGTH.unpack(self._read(LENGTH.size))
        return json.loads(self._read(size))

    def _read(self, size: int) -> bytearray:
        """Read exactly `size` bytes from the host and return them; the guest ends if the host is gone."""
        while len(self._buffer) < size:
            got = os.read(self._device, 1 << 16)
            if not got:
                # The process that started this guest is gone.
                self.power_off()
            self._buffer += got
        data = self._buffer[:size]
        del self._buffer[:size]
        return data

    def new_seed(self, seed: int) -> None:
        """Seed all random draws of the guest's kernel from now on with `seed`, 0 to 2^64 - 1, then sleep until a round
        time, so that no draw depends on how the guest started.
        """
        fcntl.ioctl(self._device, SEED, struct.pack("=Q", seed))
        self._forget_start_up()

    def hand_over(self) -> int:
        """Remove the channel's device file, so that no other program of this guest can open it, and return the
        channel's file descriptor, which stays open in this process.
        """
        Path(DEVICE).unlink()
        return self._device

    def foreground(self, group: int) -> None:
        """Set the id of the process group that receives the host's interrupts; 0 means none. The calling thread gets
        real-time priority, or with 0 the normal one and no timer slack. Raises OSError if the kernel refuses.

        A program that computes lets no network time pass, so the scheduler may leave the processor to it until it ends;
        what it has printed is to be sent at once.
        """
        fcntl.ioctl(self._device, FOREGROUND, struct.pack("=i", group))
        if group:
            _schedule(os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, 1)
        else:
            _schedule(os.SCHED_OTHER, 0)
            # Linux gives a thread that leaves real time the default slack again.
            forbid_timer_slack()

    def report_early_exits(self, networks: Callable[[], Mapping[int, str]] = dict) -> "EarlyExits":
        """Send the host a line of text about each background program that fails within a second of its start, from now
        on, and return the object that finds them. `networks` returns the names of nodes by the inodes of their network
        namespaces.
        """
        # Only labs with programs need the module.
        from netlab_engines.agent.early_exits import EarlyExits

        self.early_exits = EarlyExits(lambda line: self.put(report=line), networks)
        return self.early_exits


def _schedule(policy: int, priority: int) -> None:
    """Set the calling thread's scheduling policy (a constant of `os`, such as `os.SCHED_FIFO`) and priority as
    sched_setscheduler(2) does. Raises OSError if the kernel refuses.
    """
    # Not os.sched_setscheduler: musl's function always fails, because Linux's acts on a thread and POSIX means a process.
    check(libc.syscall(SCHED_SETSCHEDULER, 0, policy, ctypes.byref(ctypes.c_int(priority))), "sched_setscheduler")


def serve(channel: HostChannel, answerer: Callable[[str], Callable[..., Any]]) -> None:
    """Tell the host on the channel that the guest is ready (with its clock in ns), then answer its requests one after
    the other; does not return. `answerer` takes the name of a request and returns the function that gets its arguments
    by name and returns its answer. If either raises an exception, the host gets its text, with the traceback unless it
    is a NetlabError. Programs that failed early are reported after each request.
    """
    channel.put(ready=time.monotonic_ns())
    while True:
        request: Request = channel.get()
        try:
            try:
                answer = answerer(request["do"])(**request["words"])
            finally:
                if channel.early_exits:
                    channel.early_exits.report()
        except NetlabError as error:
            channel.put(error=str(error))
        except Exception as error:  # noqa: BLE001 (the host reports every error)
            channel.put(error=f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        else:
            channel.put(answer=answer)
