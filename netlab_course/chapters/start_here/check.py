"""The check of "Start here". The answer is below."""

from netlab import theory
from netlab_course.chapters.start_here.settings import DELAYS_MS, three_hosts
from netlab_course.checks import Number
from netlab_course.misconceptions import slips
from netlab_course.own_numbers import StudentValues


class Checks:
    """The checks of the chapter "Start here", each an attribute."""

    def __init__(self, own: StudentValues) -> None:  # noqa: ARG002 (every chapter's checks are made from own numbers)
        """Make the chapter's only check, `rtt`; its number is the same for all students, so that `own` is not used."""
        one_way_ms = DELAYS_MS["h2"] + DELAYS_MS["h3"]
        self.rtt = Number(
            name="round-trip time h2-h3",
            expected=lambda: theory.ping_rtt_ms(three_hosts().path_hops("h2", "h3")),
            unit="ms",
            tolerance=0.01,
            misconceptions=slips(
                one_way_ms,
                f"{one_way_ms} ms is the way from h2 to h3 once, without the way back. (It is also the round trip between h1 and h2.)",
                2 * DELAYS_MS["h3"],
                "One link is missing: the way from h2 to h3 has two.",
                2 * DELAYS_MS["h2"],
                "One link is missing: the way from h2 to h3 has two.",
                2 * (DELAYS_MS["h1"] + DELAYS_MS["h3"]),
                "This is the way from h1 to h3. Asked for is h2 to h3.",
                2 * sum(DELAYS_MS.values()),
                "The ping does not pass the link of h1.",
            ),
            right="Every check answers like this: it says whether you are right, and what to remember.",
            hints=[
                "Look at the drawing: over which links does the ping go?",
                "Add up the delays of the two links, there and back.",
                "A ping crosses each of these links twice: what do the four crossings cost together?",
            ],
        )
