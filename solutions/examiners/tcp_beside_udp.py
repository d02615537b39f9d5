"""How the chapter "TCP beside UDP" is marked: hidden cases and points. For the instructor alone."""

from netlab.grading.examiner import Exercise, Words

EXERCISES = {
    "left": Exercise(
        points=2,
        cases=lambda draw: {
            "udp_mbps": draw.between(0.1, 12),
            "rate_mbps": draw.between(1, 12),
            "payload_bytes": draw.whole(64, 1472),
        },
        edges=[
            {"udp_mbps": 0, "rate_mbps": 5, "payload_bytes": 1000},
            {"udp_mbps": 5, "rate_mbps": 5, "payload_bytes": 1000},
        ],
        same_as=["theory.tcp_goodput_limit_mbps", "settings.left_mbps"],
    ),
    "video": Exercise(points=2, same_as=["settings.video_mbps"]),
    "wait": Exercise(
        points=2,
        cases=lambda draw: {"first_timer_ms": draw.whole(200, 3000), "loss_rate": draw.between(0.01, 0.49)},
        edges=[{"first_timer_ms": 250, "loss_rate": 0.0}],
        same_as=["settings.wait_ms"],
    ),
    "b3-words": Words(points=3),
    # The UDP flows; one connection; nothing else; long enough; TCP saved; the sensor unharmed.
    "my_run": Exercise(points=3, shares=[0.5, 0.25, 0.25, 0.25, 1.25, 0.5]),
}
