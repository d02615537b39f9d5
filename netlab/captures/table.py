"""A capture as a table of packets."""

import ipaddress
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netlab.base.errors import NetlabError
from netlab.base.units import NS_PER_S
from netlab.captures.filters import PROTOCOLS
from netlab.captures.frames import ACK, ARP, SYN, Heads, Mask
from netlab.captures.pcapng import CaptureFile, read_pcapng

PACKET_COLUMNS = (
    "t_s", "node", "interface", "departs", "src", "dst", "protocol", "src_port", "dst_port", "seq", "ack", "flags",
    "window_bytes", "ecn", "length_bytes", "payload_bytes",
)  # fmt: skip
"""A row for each packet at each end.

`t_s` counts from the run's start; `departs` says whether it leaves this end or arrives at it. `ecn` has the two bits of the
IP header (RFC 3168: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced). `window_bytes` is scaled as the connection
agreed, nan where its SYN was not captured. `length_bytes` counts the Ethernet header, `payload_bytes` TCP's or UDP's data."""

FLAGS = "FSRPAUEC"
OPTION_WINDOW_SCALE = 3


def read_packets(path: Path) -> pd.DataFrame:
    """Return the packets of a pcapng file as a table (columns: `PACKET_COLUMNS`) with a row for each packet at each end
    of the link, in order of time. Raises NetlabError when the file is not such a capture.

    Returns
    -------
    pandas.DataFrame
        See `PACKET_COLUMNS`; `src` and `dst` are nodes where the address is known.
    """
    try:
        return _packet_table(read_pcapng(path.read_bytes()))
    except OSError as error:
        raise NetlabError(f"{path} cannot be read: {error.strerror}.") from None
    except (struct.error, IndexError, ValueError, TypeError):
        raise NetlabError(f"{path} is not a capture that netlab wrote.") from None


def _packet_table(capture: CaptureFile) -> pd.DataFrame:
    """Return the table of a capture's packets, with the columns `PACKET_COLUMNS`."""
    frames, heads = capture.frames, capture.frames.heads
    tcp = heads.tcp_head
    ports = heads.tcp | heads.udp
    columns = {
        "t_s": (frames.t_ns - capture.origin.ns) / NS_PER_S,
        "node": _text_column([name.partition("-eth")[0] for name in capture.interfaces], capture.interface),
        "interface": _text_column(capture.interfaces, capture.interface),
        "departs": capture.departs,
        "src": _node_column(heads.first["src"], heads.ip, capture.origin.nodes),
        "dst": _node_column(heads.first["dst"], heads.ip, capture.origin.nodes),
        "protocol": _protocol_column(heads),
        "src_port": _number_column(ports, _ports(heads, "src_port")),
        "dst_port": _number_column(ports, _ports(heads, "dst_port")),
        "seq": _number_column(heads.tcp, tcp["seq"]),
        "ack": _number_column(heads.tcp & (tcp["flags"] & ACK > 0), tcp["ack"]),
        "flags": _text_column([_flag_letters(value) for value in range(256)], tcp["flags"], heads.tcp),
        "window_bytes": _window_column(heads),
        "ecn": _number_column(heads.ip, heads.first["tos"] & 3),
        "length_bytes": frames.length_bytes,
        "payload_bytes": _number_column(ports, heads.payload_bytes),
    }
    return pd.DataFrame(columns, columns=list(PACKET_COLUMNS))


def _text_column(words: Sequence[str], numbers: NDArray[Any], mask: Mask | None = None) -> Any:
    """Return a column with the text `words[number]` for each of `numbers`; NaN where `mask` is False, if given."""
    at = numbers.astype(np.intp)
    if mask is not None and not mask.all():
        if not mask.any():
            return np.full(len(at), np.nan)
        at[~mask] = len(words)
    # pandas looks at the few words, and not at what is taken of them, to see that it is text.
    return pd.Series([*words, np.nan]).array.take(at)


def _number_column(mask: Mask, values: NDArray[Any]) -> NDArray[Any]:
    """Return the values as integers if `mask` is True for all, else as floats with NaN where it is False."""
    return values.astype(np.int64) if mask.all() else np.where(mask, values.astype(np.float64), np.nan)


def _ports(heads: Heads, name: str) -> NDArray[Any]:
    """Return the field `name` ("src_port" or "dst_port") of each frame's TCP or UDP header; elsewhere any number."""
    found: NDArray[Any] = heads.tcp_head[name]
    return np.where(heads.udp, heads.udp_head[name], found) if heads.udp.any() else found


def _flag_letters(flags: int) -> str:
    """Return a letter of FSRPAUEC for each TCP flag that is set, such as "SA" for SYN and ACK."""
    return "".join(letter for bit, letter in enumerate(FLAGS) if flags >> bit & 1)


def _node_column(addresses: NDArray[Any], mask: Mask, nodes: Mapping[str, str]) -> Any:
    """Return a column with the node (or else the text) of each IPv4 address, a number; NaN where `mask` is False."""
    numbers, found = pd.factorize(addresses.astype(np.int64))
    texts = [str(ipaddress.IPv4Address(int(address))) for address in found]
    return _text_column([nodes.get(text, text) for text in texts], numbers, mask)


def _protocol_column(heads: Heads) -> Any:
    """Return a column with each frame's protocol: tcp, udp, icmp, another IP protocol's number, "arp" or "other"."""
    names = [PROTOCOLS.get(number, str(number)) for number in range(256)]
    numbers = np.where(heads.ip, heads.protocol.astype(np.intp), len(names))
    return _text_column([*names, "other", "arp"], np.where(heads.kind == ARP, len(names) + 1, numbers))


def _window_column(heads: Heads) -> NDArray[Any]:
    """Return the receive window in bytes of each frame's TCP segment, scaled as both ends' SYN said (that of a SYN is
    not scaled); NaN if these are missing, and for other frames.
    """
    tcp, first = heads.tcp_head, heads.first
    pairs = first["src"].astype(np.int64) << 16 | tcp["src_port"], first["dst"].astype(np.int64) << 16 | tcp["dst_port"]
    ends, _ = pd.factorize(np.concatenate(pairs))
    src, dst = ends[: len(ends) // 2].astype(np.int64), ends[len(ends) // 2 :].astype(np.int64)
    count = len(ends) + 1
    connection, found = pd.factorize(src * count + dst)
    back = {int(key): place for place, key in enumerate(found)}
    # A row for each direction of a connection, the last for one that was not seen.
    scales = np.full(len(found) + 1, -1)
    opening = heads.tcp & (tcp["flags"] & SYN > 0)
    for number in np.flatnonzero(opening):
        scales[connection[number]] = _window_scale(heads.options(int(number)))
    reverse = np.array([back.get(int(key % count * count + key // count), -1) for key in found], np.int64)
    own = scales[:-1]
    other = scales[reverse]
    # 0 is an end that does not scale; then neither does.
    shift = np.where(other == 0, 0, own)
    has_scale = (own >= 0) & (other >= 0)
    window = tcp["window"].astype(np.int64)
    if not len(window):
        return window
    scaled = window << np.maximum(0, shift)[connection]
    return _number_column(heads.tcp & (opening | has_scale[connection]), np.where(opening, window, scaled))


def _window_scale(options: bytes) -> int:
    """Return the window scale in the option bytes of a SYN (RFC 7323, section 2.2); 0 without that option."""
    at = 0
    while at + 2 < len(options):
        if options[at] == OPTION_WINDOW_SCALE:
            return options[at + 2]
        at += 1 if options[at] == 1 else max(2, options[at + 1])
    return 0
