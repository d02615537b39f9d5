"""Write the packets of a link to files, as they would be on its wire.

Departing packets are captured where the sending interface hands them to the driver, after its queue. Arriving packets
are captured after the wire device of the receiving interface, if it has one: the interface itself sees them before the
wire has delayed them.

The kernel writes packets into a ring that it shares with this process (`TPACKET_V3`), and this process copies whole
blocks of the ring to a file. A block takes one system call and one wake-up for some thousand packets; `recv` takes one
of each per packet. The host converts the files to pcapng (`netlab.captures`).
"""

import ctypes
import mmap
import os
import select
import socket
import struct
import threading

from netlab_engines.agent.namespaces import enter_namespace

SOL_PACKET = 263
PACKET_RX_RING, PACKET_STATISTICS, PACKET_VERSION, PACKET_VNET_HDR = 5, 6, 10, 15
TPACKET_V3 = 2
PACKET_OUTGOING = 4
SO_ATTACH_FILTER = 26
ETH_P_ALL = 3
BLOCK_BYTES = 1 << 18
BLOCKS = 8
FRAME_BYTES = 2048
RETIRE_MS = 1000
USER = 1
BLOCK_HEAD = struct.Struct("=IIIIII")
RECORD = struct.Struct("=II")
PACKET = struct.Struct("=IIIIIIHH")
NEXT_OFFSET = struct.Struct("=I")

# Classic BPF: load the packet's type (an "ancillary" word), compare it, return the number of bytes to keep.
LOAD_TYPE = (0x20, 0, 0, 0xFFFFF004)
KEEP, DROP = 1, 0


class PacketCapture:
    """A capture, begun when it is made, of the packets that leave a device or of those that arrive at it: a thread
    copies them from the kernel's ring to a file until `stop`.

    Parameters
    ----------
    pid : int
        A process or thread in the device's network namespace.
    device : str
        The name of the device.
    outgoing : bool
        True for packets that leave the device, False for packets that arrive.
    path : str
        The file to write.
    snap_bytes : int
        The number of bytes of each packet to keep, from its start.
    """

    def __init__(self, pid: int, device: str, outgoing: bool, path: str, snap_bytes: int) -> None:
        """Begin to capture the packets that leave `device` (if `outgoing`) or else those that arrive at it, in the
        network namespace of the process or thread with the id `pid`. Until `stop`, a thread writes the first
        `snap_bytes` bytes of each to the file at `path`, which is replaced. Raises OSError if there is no such device
        or the kernel refuses.
        """
        with enter_namespace(pid):
            # Protocol 0 receives nothing, so that no packet arrives before the ring and the filter are in place.
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self._socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V3)
            self._socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
            ring = struct.pack(
                "=7I", BLOCK_BYTES, BLOCKS, FRAME_BYTES, BLOCKS * BLOCK_BYTES // FRAME_BYTES, RETIRE_MS, 0, 0
            )
            self._socket.setsockopt(SOL_PACKET, PACKET_RX_RING, ring)
            self._keep_only(outgoing, snap_bytes)
            self._ring = mmap.mmap(self._socket.fileno(), BLOCK_BYTES * BLOCKS)
            self._socket.bind((device, ETH_P_ALL))
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 (`stop` closes it)
        self._next = 0
        self._stop_reading, self._stop_writing = os.pipe()
        self._thread = threading.Thread(target=self._read, name="A capture", daemon=True)
        self._thread.start()

    def _keep_only(self, outgoing: bool, snap_bytes: int) -> None:
        """Let the kernel put only packets that leave the device (`outgoing`), or only those that arrive, into the ring,
        and of each at most the first `snap_bytes` bytes.
        """
        same, other = (KEEP, DROP) if outgoing else (DROP, KEEP)
        program = [
            LOAD_TYPE,
            (0x15, 0, 1, PACKET_OUTGOING),
            (0x06, 0, 0, snap_bytes * same),
            (0x06, 0, 0, snap_bytes * other),
        ]
        code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in program))
        self._socket.setsockopt(
            socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
        )

    def stop(self) -> int:
        """End the capture: write the packets that are left in the ring, close the file, and return the number of
        packets that were lost because the ring was full. To be called once.
        """
        os.write(self._stop_writing, b".")
        self._thread.join()
        self._full_blocks()
        # The kernel has not filled this block yet; on the one processor of a guest it cannot change while this runs.
        self._write_block(self._next, closed=False)
        _packets, lost, _freezes = struct.unpack("=III", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 12))
        self._ring.close()
        self._socket.close()
        self._file.close()
        for end in (self._stop_reading, self._stop_writing):
            os.close(end)
        return int(lost)

    def _read(self) -> None:
        """Copy the blocks of the ring that the kernel has filled to the file until `stop` is called; runs in a thread
        of its own.
        """
        waiting = select.poll()
        waiting.register(self._socket.fileno(), select.POLLIN)
        waiting.register(self._stop_reading, select.POLLIN)
        while True:
            ready = dict(waiting.poll())
            if self._stop_reading in ready:
                return
            if ready[self._socket.fileno()] & select.POLLERR:
                # An interface that went down sets ENETDOWN; poll returns at once until the error is read.
                self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            self._full_blocks()

    def _full_blocks(self) -> None:
        """Append the packets of all blocks of the ring that the kernel has filled to the file, in their order, and give
        the blocks back to the kernel.
        """
        while struct.unpack_from("=I", self._ring, self._next * BLOCK_BYTES + 8)[0] & USER:
            self._write_block(self._next, closed=True)
            struct.pack_into("=I", self._ring, self._next * BLOCK_BYTES + 8, 0)
            self._next = (self._next + 1) % BLOCKS

    def _write_block(self, number: int, *, closed: bool) -> None:
        """Append the packets in the block with this number (from 0) of the ring to the file, after their number and
        their size in bytes; write nothing if there are none. `closed` is False for a block that the kernel is still
        filling, whose header does not have the size.
        """
        start = number * BLOCK_BYTES
        _version, _private, _status, packets, first, length = BLOCK_HEAD.unpack_from(self._ring, start)
        if packets:
            size = length - first if closed else self._size(start + first, packets)
            self._file.write(RECORD.pack(packets, size))
            with memoryview(self._ring) as ring:
                self._file.write(ring[start + first : start + first + size])

    def _size(self, start: int, packets: int) -> int:
        """Return the size in bytes, without padding at the end, of the `packets` packets (at least 1) from the offset
        `start` of the ring on, for a block whose header does not have the size yet.
        """
        at = start
        for _ in range(packets - 1):
            at += NEXT_OFFSET.unpack_from(self._ring, at)[0]
        _following, _s, _ns, length, _length, _status, frame, _net = PACKET.unpack_from(self._ring, at)
        return int(at + frame + length - start)
