"""Mark the chapter "TCP beside UDP": its points and hidden cases. For instructors only."""

from netlab_classroom.grading.examiner import Exercise, WrittenAnswer

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "repeated": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
    "video": Exercise(points=2),
    "wait": Exercise(
        points=2,
        cases=lambda draw: {"first_timer_ms": draw.whole(200, 3000), "loss_rate": draw.between(0.01, 0.49)},
        # Near one half a sum of a hundred terms is too small.
        edges=[{"first_timer_ms": 250, "loss_rate": 0.0}, {"first_timer_ms": 250, "loss_rate": 0.49}],
    ),
    "b3-words": WrittenAnswer(points=3),
    # The shares are for: the UDP flows; one connection; nothing else; long enough; TCP saved; the sensor unharmed.
    "my_run": Exercise(points=3, shares=[0.5, 0.25, 0.25, 0.25, 1.25, 0.5]),
}
