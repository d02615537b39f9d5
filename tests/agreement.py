"""Comparison of numbers: a failure prints the expected number, the measured one and the tolerance."""

from __future__ import annotations

import math

TC_HEADER_BYTES = 14
IP_UDP_BYTES = 28
IP_TCP_BYTES = 52
MSS_BYTES = 1448


def agrees(what: str, measured: float, expected: float, *, relative: float = 0.0, absolute: float = 0.0) -> None:
    """Assert that a measured number lies within a relative or an absolute tolerance of the expected one."""
    tolerance = max(absolute, relative * abs(expected))
    error = abs(measured - expected)
    assert error <= tolerance, (
        f"{what}: expected {expected:.6g}, measured {measured:.6g}, off by {error:.3g}, tolerance {tolerance:.3g}"
    )
    assert not math.isnan(measured), f"{what}: expected {expected:.6g}, measured nothing"


def tcp_limit_mbps(rate_mbps: float) -> float:
    """Goodput of full TCP segments at a rate that counts 14 bytes of Ethernet header."""
    return rate_mbps * MSS_BYTES / (MSS_BYTES + IP_TCP_BYTES + TC_HEADER_BYTES)


def udp_limit_mbps(rate_mbps: float, payload_bytes: int = 1000) -> float:
    """Goodput of datagrams at a rate that counts 14 bytes of Ethernet header."""
    return rate_mbps * payload_bytes / (payload_bytes + IP_UDP_BYTES + TC_HEADER_BYTES)
