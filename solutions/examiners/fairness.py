"""How the chapter "Fair by which measure?" is marked: hidden cases and points. For the instructor alone."""

from netlab.grading.examiner import Exercise, Words

EXERCISES = {
    "far_share": Exercise(
        points=2,
        cases=lambda draw: {
            "limit_mbps": draw.decades(0.5, 900),
            "far_ms": draw.between(300, 2000),
            "near_ms": draw.between(5, 280),
            "exponent": draw.one_of([0.25, 0.5, 1, 2]),
        },
        edges=[
            {"limit_mbps": 6.0, "far_ms": 40, "near_ms": 40, "exponent": 2},
            {"limit_mbps": 6.0, "far_ms": 400, "near_ms": 40, "exponent": 0},
        ],
        same_as=["theory.rtt_shares_mbps", "experiments.theory_share_mbps"],
    ),
    "verdict-words": Words(points=3),
    "h2_delay": Exercise(points=2),
    # Both rates; the path; three flows, long enough; a queue for each flow; equal; full.
    "fair_run": Exercise(points=3, shares=[0.25, 0.25, 0.5, 0.5, 1.0, 0.5]),
}
