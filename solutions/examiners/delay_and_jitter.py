"""How the chapter "Delay and jitter" is marked: hidden cases and points. For the instructor alone."""

from netlab.grading.examiner import Exercise, Words
from netlab.media import OFDM_RATES_MBPS

EXERCISES = {
    "fill": Exercise(
        points=2,
        cases=lambda draw: {"goodput_mbps": draw.decades(10, 1000), "rtt_s": draw.decades(0.05, 3)},
        same_as=["theory.slow_start_fill_s"],
    ),
    # The command; the flow's ends; its rate and size; long enough; delayed; nothing lost; a limit that was computed.
    "buffer": Exercise(points=3, shares=[0.5, 0.25, 0.25, 0.25, 0.25, 0.75, 0.75]),
    "jitter-words": Words(points=3),
    "air": Exercise(
        points=2,
        cases=lambda draw: {
            "payload_bytes": draw.whole(1, 1472),
            "rate_mbps": draw.one_of([rate for rate in OFDM_RATES_MBPS if rate >= 24]),
        },
        same_as=["theory.wifi_udp_limit_mbps"],
    ),
    "payload": Exercise(points=2),
}
