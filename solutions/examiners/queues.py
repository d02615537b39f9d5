"""How the chapter "Queues that speak up" is marked: hidden cases and points. For the instructor alone."""

from netlab.grading.examiner import Exercise, Words

EXERCISES = {
    "full_queue": Exercise(
        points=2,
        cases=lambda draw: {
            "queue_packets": draw.whole(2, 5000),
            "rate_mbps": draw.decades(0.1, 9000),
            "frame_bytes": draw.whole(60, 1500),
        },
        edges=[{"queue_packets": 0, "rate_mbps": 5, "frame_bytes": 1514}],
        same_as=["theory.transmission_delay_ms", "experiments.full_queue_wait_ms"],
    ),
    "verdict-words": Words(points=3),
    # The link; long enough; CUBIC; marks; no loss; goodput.
    "ecn_run": Exercise(points=3, shares=[0.25, 0.25, 0.25, 0.75, 1.0, 0.5]),
    # The link; long enough; DCTCP; a step; full; nearly empty.
    "threshold_run": Exercise(points=3, shares=[0.25, 0.25, 0.25, 0.25, 1.0, 1.0]),
}
