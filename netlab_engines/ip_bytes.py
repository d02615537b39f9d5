"""The sizes of segments and datagrams with their headers, from the counters of a flow."""

from netlab.base.headers import IP_HEADER_BYTES, TCP_HEADER_BYTES, UDP_HEADER_BYTES


def tcp_ip_bytes(segments: int | None, sent_bytes: int | None, sent_segments: int | None) -> float:
    """Return the size in bytes, IP and TCP headers included, of `segments` TCP segments. Each counts with the mean
    payload of `sent_segments` segments that carried `sent_bytes` bytes in total. None counts as 0.
    """
    payload_bytes = (sent_bytes or 0) / sent_segments if sent_segments else 0.0
    return (segments or 0) * (payload_bytes + IP_HEADER_BYTES + TCP_HEADER_BYTES)


def udp_ip_bytes(new_bytes: int, datagrams: int, duplicates: int, payload_bytes: int) -> int:
    """Return the size in bytes, IP and UDP headers included, of `datagrams` different UDP datagrams with `new_bytes`
    bytes of payload in total and of `duplicates` further copies with `payload_bytes` bytes of payload each.
    """
    headers_bytes = (datagrams + duplicates) * (IP_HEADER_BYTES + UDP_HEADER_BYTES)
    return new_bytes + headers_bytes + duplicates * payload_bytes
