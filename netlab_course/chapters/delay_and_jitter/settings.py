"""Common numbers of the chapter "Delay and jitter", without answers."""

from netlab_course.own_numbers import OwnNumbers

CABLE_MBPS = 100
OFFERED_MBPS = 54.2
IPERF_PAYLOAD_BYTES = 1470
NETEM_PACKETS = 1000
"""The default limit of netem."""

# The default limit must be much too small.
NUMBERS = OwnNumbers(
    {"sent_mbps": (54.2, *range(48, 73)), "wait_ms": (400, *range(300, 400, 10), *range(410, 710, 10))},
    holds=lambda own: own.sent_mbps * own.wait_ms * 1000 / (8 * IPERF_PAYLOAD_BYTES) > 1.2 * NETEM_PACKETS,
)
