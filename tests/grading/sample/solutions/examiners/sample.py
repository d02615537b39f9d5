"""The marking scheme of the sample chapter."""

from netlab_course.chapters.sample.check import Probe
from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "limit": Exercise(
        points=3,
        cases=lambda draw: {"rate_mbps": draw.decades(1, 900), "payload_bytes": draw.whole(20, 1472)},
        edges=[{"rate_mbps": 5, "payload_bytes": 0}],
        edge_points=1,
    ),
    "counted": Exercise(points=1),
    "overload_run": Exercise(points=2, shares=[1, 1]),
    "why-words": WrittenAnswer(points=2),
    "letter": Exercise(points=1),
    "search": Exercise(points=2, cases=lambda draw: {"probe": Probe(draw.decades(0.5, 900))}, number=3),
}
