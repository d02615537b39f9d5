"""The sizes of segments and datagrams with their headers, from the counters of a flow."""

from netlab.base.headers import IP_HEADER_BYTES, TCP_HEADER_BYTES, UDP_HEADER_BYTES


def tcp_ip_bytes(segments: int | None, sent_bytes: int | None, sent_segments: int | None) -> float:
    """Return the size in bytes of `segments` TCP segments with IP and TCP headers, each with the mean payload of
    `sent_segments` segments that carried `sent_bytes`. None counts as 0.
    """
    payload_bytes = (sent_bytes or 0) / sent_segments if sent_segments else 0.0
    return (segments or 0) * (payload_bytes + IP_HEADER_BYTES + TCP_HEADER_BYTES)


def udp_ip_bytes(new_bytes: int, datagrams: int, duplicates: int, payload_bytes: int) -> int:
    """Return the size in bytes of UDP datagrams with IP and UDP headers: `datagrams` new ones with `new_bytes` of
    payload in all, and `duplicates` with `payload_bytes` each.
    """
    headers_bytes = (datagrams + duplicates) * (IP_HEADER_BYTES + UDP_HEADER_BYTES)
    return new_bytes + headers_bytes + duplicates * payload_bytes
