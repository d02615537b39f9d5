"""Mark the chapter "UDP loss": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer
from netlab_course.chapters.udp_loss.check import PaperProbe

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "limit": Exercise(
        points=2,
        cases=lambda draw: {
            "rate_mbps": draw.decades(0.5, 2000),
            "payload_bytes": draw.whole(18, 1472),
            "framing_bytes": draw.one_of([0, 14, 18, 38, 42]),
        },
        edges=[{"rate_mbps": 10, "payload_bytes": 0, "framing_bytes": 38}],
    ),
    # The shares are for: one flow; its payload; one link with the rate; the queue; a plain link; long enough; never idle.
    "overload": Exercise(points=3, shares=[0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.75]),
    "counted": Exercise(points=1),
    "perfect-words": WrittenAnswer(points=3),
    "search": Exercise(
        points=3,
        cases=lambda draw: {"probe": PaperProbe(draw.between(2.1, 59))},
        number=5,
        edges=[{"probe": PaperProbe(2.0)}, {"probe": PaperProbe(60.0)}],
        edge_points=1,
    ),
}
