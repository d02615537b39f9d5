"""Headers and framing give the published goodputs."""

from __future__ import annotations

import pytest

from netlab import theory


@pytest.mark.parametrize(
    ("payload", "framing", "expected"),
    [
        (1000, "tc", 1042),
        (1000, "ethernet", 1066),
        (1000, "ip", 1028),
        (1472, "tc", 1514),
        (1473, "tc", 1473 + 8 + 2 * 34),
    ],
)
def test_udp_wire_bytes_count_headers_and_fragments(payload, framing, expected):
    assert theory.udp_wire_bytes(payload, framing) == expected


def test_framing_limits_explain_the_published_goodputs():
    """`epfl` measured 4798 and 4782 kbit/s against its own 4690 and 4850: tc's framing, 1448-byte segments."""
    assert theory.udp_goodput_limit_mbps(5, 1000) == pytest.approx(4.798, abs=5e-4)
    assert theory.tcp_goodput_limit_mbps(5, 1448) == pytest.approx(4.782, abs=5e-4)
    assert theory.udp_goodput_limit_mbps(5, 1000, "ethernet") == pytest.approx(4.690, abs=5e-4)
    assert theory.tcp_goodput_limit_mbps(5, 2896, "ethernet") == pytest.approx(4.850, abs=1e-3)
