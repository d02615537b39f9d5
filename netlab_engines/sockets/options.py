"""Socket options that shape a flow, with error messages for those that the kernel refuses."""

import socket
from pathlib import Path

from netlab.base.errors import ThroughputError
from netlab.network.congestion import CONGESTION_CONTROLS, NETLAB_CONTROLS

TCP_WINDOW_CLAMP = 10
SO_SNDBUFFORCE = 32
SO_RCVBUFFORCE = 33
MIN_WINDOW_BYTES = 2_000
MAX_WINDOW_BYTES = 1 << 30
MIN_MSS_BYTES = 88
MAX_MSS_BYTES = 32_767
_CONGESTION_FILE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def available_congestion_controls() -> list[str]:
    """Return the names of the TCP congestion controls that this kernel has loaded, such as "cubic" (root may load
    more); [] if they cannot be read.
    """
    try:
        return _CONGESTION_FILE.read_text().split()
    except OSError:
        return []


def tune_tcp(
    sock: socket.socket, *, congestion: str | None = None, window_bytes: int | None = None, mss_bytes: int | None = None
) -> None:
    """Set the congestion control of a TCP socket by its name, its largest receive window in bytes, and its largest
    segment (payload and TCP options) in bytes; None leaves one unchanged. To be called before `connect` or `listen`; a
    window also switches the tuning of the receive buffer off. Raises ThroughputError if a number is out of range or the
    kernel does not have the congestion control.

    The window's scale and the segment size are agreed on in the handshake. A listening socket hands all three down to
    the connections it accepts. The window limits the peer: at most one a round trip. (`SO_RCVBUF` would only limit the
    buffer, from which the kernel takes off its own bookkeeping.)
    """
    if congestion is not None:
        set_congestion(sock, congestion)
    if window_bytes is not None:
        limit_window(sock, window_bytes)
    if mss_bytes is not None:
        if not MIN_MSS_BYTES <= mss_bytes <= MAX_MSS_BYTES:
            raise ThroughputError(
                f"mss_bytes must be from {MIN_MSS_BYTES} to {MAX_MSS_BYTES}, got {mss_bytes}; 1460 fills Ethernet."
            )
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss_bytes)


def set_congestion(sock: socket.socket, congestion: str) -> None:
    """Set the congestion control of a TCP socket by its name, such as "cubic". Raises ThroughputError, which names the
    available ones, if this kernel does not have it.
    """
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    except (OSError, UnicodeError):
        row = CONGESTION_CONTROLS.get(congestion)
        module = row.module if row is not None and row.module else "tcp_NAME"
        remedy = f"let root load another (modprobe {module})"
        if congestion in NETLAB_CONTROLS:
            remedy = "use the pocket or the library engine: only netlab's kernels have it"
        raise ThroughputError(
            f"This kernel offers no congestion control {congestion!r}; available: "
            f"{', '.join(available_congestion_controls()) or 'unknown'}. Choose one of these, or {remedy}."
        ) from None


def limit_window(sock: socket.socket, window_bytes: int) -> None:
    """Limit the receive window that this end of a TCP connection advertises to `window_bytes` bytes, and switch the
    kernel's tuning of its receive buffer off. Raises ThroughputError if the number is out of range.
    """
    if not MIN_WINDOW_BYTES <= window_bytes <= MAX_WINDOW_BYTES:
        raise ThroughputError(
            f"window_bytes must be from {MIN_WINDOW_BYTES} to {MAX_WINDOW_BYTES}, got {window_bytes}; 65536 is what TCP "
            "could do before window scaling."
        )
    # Room for the kernel's bookkeeping, so that the clamp and not the buffer is what limits.
    set_buffer(sock, socket.SO_RCVBUF, 4 * window_bytes)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP, window_bytes)


def set_buffer(sock: socket.socket, option: int, size_bytes: int) -> None:
    """Set the size of the receive (`option` SO_RCVBUF) or send buffer (SO_SNDBUF) of a socket to `size_bytes` bytes, at
    most 2**30 - 1, which the kernel doubles; without root it is cut to the system's limit.
    """
    force = SO_RCVBUFFORCE if option == socket.SO_RCVBUF else SO_SNDBUFFORCE
    size_bytes = min(size_bytes, 0x3FFFFFFF)
    try:
        sock.setsockopt(socket.SOL_SOCKET, force, size_bytes)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, option, size_bytes)
