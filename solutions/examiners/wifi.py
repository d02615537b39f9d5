"""Mark the chapter "Wi-Fi": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

# All formulas for a frame on the air call the last, `wifi_saturation` for one sender too.
EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "air": Exercise(
        points=2,
        cases=lambda draw: {"payload_bytes": draw.whole(20, 1472), "rate_mbps": draw.one_of([24, 36, 48, 54])},
        number=10,
    ),
    "payload": Exercise(points=2),
    "airtime": Exercise(points=2),
    # The shares are for: the scenario; the numbers of runs; the runs apart; the runs together; the verdict.
    "design": Exercise(points=3, shares=[0.5, 0.25, 0.75, 0.75, 0.75]),
    "wifi-words": WrittenAnswer(points=3),
}
