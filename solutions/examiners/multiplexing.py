"""Mark the chapter "Multiplexing": its points and hidden cases. For instructors only."""

from typing import Any

from netlab_classroom.grading.examiner import Draw, Exercise, WrittenAnswer


def _network(draw: Draw) -> dict[str, Any]:
    """A chain of links; each flow crosses some neighbours of it, and the trial looks at one of them."""
    links = [f"K{number}" for number in range(draw.whole(2, 5))]
    routes = {}
    for number in range(draw.whole(3, 8)):
        first = draw.whole(0, len(links) - 1)
        routes[f"f{number}"] = links[first : draw.whole(first, len(links) - 1) + 1]
    return {
        "capacities_mbps": {link: draw.decades(2, 200) for link in links},
        "routes": routes,
        "flow": draw.one_of(list(routes)),
    }


_UNUSED = {"capacities_mbps": {"A": 8, "B": 5}, "routes": {"a": ["A"], "b": ["A"]}, "flow": "b"}

EXERCISES = {
    "prediction-words": WrittenAnswer(points=2),
    "water": Exercise(
        points=3,
        cases=_network,
        number=20,
        # The network has a link that nobody uses.
        edges=[_UNUSED],
        edge_points=0.5,
    ),
    # The shares are for: the scenario; enough seeds; the interval; the verdict; the refutation.
    "repeated": Exercise(points=3, shares=[0.5, 0.5, 1.25, 0.5, 0.25]),
    # The shares are for: the flows; the routers' links; the hosts' links; the goodput of the long flow.
    "bias": Exercise(points=2, shares=[0.25, 0.25, 0.25, 1.25]),
    "judge-words": WrittenAnswer(points=3),
}

UNMARKED = {
    "room": "It stands after the summary: who stops there must not lose points by it. Its check says what is right."
}
