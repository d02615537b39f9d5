"""Receive and send many datagrams in one system call: `recvmmsg` for single datagrams, UDP_GRO and UDP_SEGMENT for
trains of them.
"""

import ctypes
import errno
import os
import socket
import struct

from netlab.base.units import NS_PER_S
from netlab_engines.libc import libc
from netlab_engines.sockets.datagrams import HEADER

UDP_SEGMENT = 103
UDP_GRO = 104
MAX_TRAIN_BYTES = 65_507
MAX_TRAIN_DATAGRAMS = 64
SO_TIMESTAMPNS = 35

_MSGHDR_BYTES = 56
_MMSGHDR = struct.Struct("@QI4xQQQQi4x")
_LENGTHS = struct.Struct(f"@{_MSGHDR_BYTES}xI4x")
_CONTROL = struct.Struct("@16xqq")
_CONTROL_WITH_HEADER = struct.Struct("@Qiiqq")
_GRO_SIZE = struct.Struct("@i")
_TIMESPEC = struct.Struct("@qq")


class BatchReader:
    """A reader of the headers of up to `slots` waiting datagrams with one system call, which does not copy their
    payload.

    The socket needs SO_TIMESTAMPNS, so that every datagram carries the kernel's time of arrival.
    """

    def __init__(self, sock: socket.socket, slots: int = 512) -> None:
        """Prepare the buffers for reading up to `slots` datagrams at a time from `sock`, an open UDP socket with the
        option SO_TIMESTAMPNS.
        """
        self._fd = sock.fileno()
        self.slots = slots
        self._heads = bytearray(HEADER.size * slots)
        self._controls = bytearray(_CONTROL_WITH_HEADER.size * slots)
        self._iovecs = bytearray(16 * slots)
        self._messages = bytearray((_MSGHDR_BYTES + 8) * slots)
        # ctypes keeps these bytearrays from moving for as long as the views live.
        self._views = [
            (ctypes.c_char * len(area)).from_buffer(area)
            for area in (self._heads, self._controls, self._iovecs, self._messages)
        ]
        heads, controls, iovecs, self._address = (ctypes.addressof(view) for view in self._views)
        for i in range(slots):
            struct.pack_into("@QQ", self._iovecs, 16 * i, heads + HEADER.size * i, HEADER.size)
            _MMSGHDR.pack_into(
                self._messages,
                (_MSGHDR_BYTES + 8) * i,
                0,
                0,
                iovecs + 16 * i,
                1,
                controls + _CONTROL_WITH_HEADER.size * i,
                _CONTROL_WITH_HEADER.size,
                0,
            )
        self._fresh_messages = bytes(self._messages)
        self._recvmmsg = libc.recvmmsg
        self._recvmmsg.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_void_p]

    def read(self) -> tuple[list[tuple[int, int, int]], list[int], list[int]]:
        """Return three lists of equal length for the datagrams that wait, at most `slots`, without waiting: the header
        (a tuple of stream id, sequence number, time of sending in ns on CLOCK_REALTIME), the payload's size in bytes,
        and the kernel's time of arrival in ns on CLOCK_REALTIME. The lists are empty if none waits, the peer refused an
        earlier datagram, or a signal came. Where a size is below that of a header, the header is garbage. Raises
        OSError if the network fails otherwise.
        """
        self._messages[:] = self._fresh_messages
        count: int = self._recvmmsg(self._fd, self._address, self.slots, socket.MSG_DONTWAIT | socket.MSG_TRUNC, None)
        if count < 0:
            code = ctypes.get_errno()
            if code in (errno.EAGAIN, errno.EINTR, errno.ECONNREFUSED):
                return [], [], []
            raise OSError(code, os.strerror(code))
        heads = list(HEADER.iter_unpack(self._heads[: HEADER.size * count]))
        sizes = [size for (size,) in _LENGTHS.iter_unpack(self._messages[: _LENGTHS.size * count])]
        arrivals = [
            seconds * NS_PER_S + ns for seconds, ns in _CONTROL.iter_unpack(self._controls[: _CONTROL.size * count])
        ]
        return heads, sizes, arrivals


class TrainReader:
    """A reader of trains of equal datagrams that the kernel has joined (UDP_GRO), one train for each system call."""

    def __init__(self, sock: socket.socket) -> None:
        """Prepare to read joined datagrams from the UDP socket `sock`: switch UDP_GRO on. Raises OSError if the kernel
        refuses.
        """
        sock.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
        self._sock = sock
        self.buffer = bytearray(65_536)
        self._buffers = [self.buffer]
        self._control_bytes = socket.CMSG_SPACE(4) + socket.CMSG_SPACE(_TIMESPEC.size)

    def read(self) -> tuple[int, int, int] | None:
        """Read one train into `buffer` without waiting, and return a tuple of its size in bytes, the size in bytes of
        each of its datagrams (the last may be shorter), and its arrival in ns on CLOCK_REALTIME (0 without a time
        stamp). Return None if none waits or the peer refused an earlier datagram. Raises OSError if the network fails
        otherwise.
        """
        try:
            total, control, _, _ = self._sock.recvmsg_into(self._buffers, self._control_bytes, socket.MSG_DONTWAIT)
        except (BlockingIOError, ConnectionRefusedError):
            return None
        each = total
        arrival_ns = 0
        for level, kind, data in control:
            if level == socket.IPPROTO_UDP and kind == UDP_GRO:
                (each,) = _GRO_SIZE.unpack(data[: _GRO_SIZE.size])
            elif level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, ns = _TIMESPEC.unpack(data)
                arrival_ns = seconds * NS_PER_S + ns
        return total, each, arrival_ns


class Train:
    """A buffer of equal measurement datagrams for UDP_SEGMENT, whose headers are renewed by a few writes with a stride.

    Trains have a power of two of datagrams, and a stream sends whole trains from sequence number 0 on, so
    within a train only the last byte of the sequence number differs from datagram to datagram.
    """

    def __init__(self, stream_id: int, payload_bytes: int, max_datagrams: int) -> None:
        """Prepare the buffer for trains of the stream `stream_id`, whose datagrams have a payload of `payload_bytes`
        bytes; `datagrams` is then the largest power of two, up to `max_datagrams`, that fits into a train.
        """
        most = max(1, min(max_datagrams, MAX_TRAIN_DATAGRAMS, MAX_TRAIN_BYTES // payload_bytes))
        self.datagrams = 1 << (most.bit_length() - 1)
        self.payload_bytes = payload_bytes
        self._buffer = bytearray(payload_bytes * self.datagrams)
        for i in range(self.datagrams):
            HEADER.pack_into(self._buffer, payload_bytes * i, stream_id, 0, 0)
        self._low_bytes = bytes(range(256))
        self._repeated = [bytes([value]) * self.datagrams for value in range(256)]
        self._current = bytearray(HEADER.size)
        self._current[:] = self._buffer[: HEADER.size]
        self._view = memoryview(self._buffer)

    def fill(self, seq: int, sent_ns: int, datagrams: int) -> memoryview:
        """Return the bytes of the next `datagrams` datagrams, at most `self.datagrams`, with the sequence numbers from
        `seq` on, a multiple of `self.datagrams`, and the time of sending `sent_ns` in ns on CLOCK_REALTIME, as a view
        of the buffer, which the next call overwrites.
        """
        header = HEADER.pack(0, seq, sent_ns)
        current, buffer, stride = self._current, self._buffer, self.payload_bytes
        for place in range(4, HEADER.size):
            if place == 11:
                low = seq & 0xFF
                buffer[place::stride] = self._low_bytes[low : low + self.datagrams]
            elif header[place] != current[place]:
                buffer[place::stride] = self._repeated[header[place]]
                current[place] = header[place]
        return self._view[: datagrams * stride]
