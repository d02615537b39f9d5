"""How the chapter "Parallel streams" is marked: hidden cases and points. For the instructor alone."""

from netlab.grading.examiner import Exercise, Words

EXERCISES = {
    "windows": Exercise(
        points=2,
        cases=lambda draw: {
            "streams": draw.whole(1, 40),
            "window_bytes": draw.whole(10_000, 10_000_000),
            "rtt_ms": draw.decades(1, 500),
            "limit_mbps": draw.decades(5, 20_000),
        },
        same_as=["theory.window_limit_mbps", "theory.windowed_goodput_mbps", "settings.window_mbps"],
    ),
    # The path; the flow; one connection; enough window; not too much; full.
    "my_run": Exercise(points=3, shares=[0.5, 0.25, 0.5, 0.75, 0.5, 0.5]),
    "lab-words": Words(points=3),
    "free": Exercise(points=2, same_as=["settings.most_free", "settings.needed"]),
}

UNMARKED = {
    "needed": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
