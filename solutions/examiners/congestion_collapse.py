"""How the chapter "Congestion collapse" is marked: hidden cases and points. For the instructor alone."""

from netlab.grading.examiner import Exercise, Words

EXERCISES = {
    "goodput": Exercise(
        points=3,
        cases=lambda draw: {
            "own_mbps": draw.decades(0.1, 20),
            "other_mbps": draw.decades(0.1, 20),
            "middle_mbps": draw.between(0.5, 10),
            "exit_mbps": draw.between(0.2, 10),
            "payload_bytes": draw.whole(64, 1472),
        },
        edges=[{"own_mbps": 1, "other_mbps": 0, "middle_mbps": 1.5, "exit_mbps": 1, "payload_bytes": 1000}],
        same_as=[
            "theory.two_router_collapse_mbps",
            "theory.fifo_network",
            "theory.acceptance_ratio",
            "settings.goodput_mbps",
        ],
    ),
    # The flows; the network; long enough; both queues drop.
    "my_run": Exercise(points=2, shares=[0.75, 0.5, 0.25, 0.5]),
    "collapse-words": Words(points=3),
    "share": Exercise(points=2),
    # It can run; its links; one slower; plain queues; h1 saved; both saved.
    "rescue": Exercise(points=3, shares=[0.25, 0.25, 0.75, 0.25, 1, 0.5]),
}

UNMARKED = {
    "clockwork": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
