"""Random links and flows over them, for properties."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def networks(draw):
    """A handful of links, a handful of flows, each over some of the links."""
    links = {f"l{i}": draw(st.floats(0.1, 1000)) for i in range(draw(st.integers(1, 5)))}
    one_route = st.lists(st.sampled_from(sorted(links)), min_size=1, unique=True)
    routes = {f"f{i}": draw(one_route) for i in range(draw(st.integers(1, 6)))}
    return links, routes
