"""The links of a live network: change their properties, switch them off and on."""

from collections.abc import Mapping
from typing import Any, Protocol

from netlab.base.errors import ScenarioError
from netlab.network.change import Change, changed_link, planned_difference
from netlab.network.link import field_problems
from netlab.network.topology import Topology
from netlab_engines.lab.session import GuestSession


class LabWithLinks(Protocol):
    """The part of a live network that its links use."""

    session: GuestSession
    topology: Topology
    changes: list[Change]


class LiveLink:
    """A link of a live network, identified by its two ends and, among parallel links, by its number from 1."""

    def __init__(self, lab: LabWithLinks, ends: tuple[str, str], number: int) -> None:
        """Find the link between the two nodes named in `ends`, the one with this number (from 1) if there are several,
        in the topology of the live network `lab`. Raises ScenarioError if there is none.
        """
        self._lab = lab
        self.position = lab.topology.position(*ends, number)
        self._ends = ends
        self._number = number

    def __repr__(self) -> str:
        """Return a text with the names of the link's nodes and its present properties, for display."""
        return f"LiveLink({self._lab.topology.links[self.position]!r})"

    def change(self, *, reverse: Mapping[str, Any] | None = None, **direction: Any) -> None:
        """Change properties of the link now: `direction` has fields of `netlab.Link` by name, for both directions, and
        `reverse` those that differ on the way back (None: none). Other fields keep their values, and `lab.topology` is
        replaced. The change is added to `lab.changes` unless nothing differs.

        Parameters
        ----------
        reverse : mapping, optional
            The fields whose values differ in the direction from the second node of `lab.link(first, second)` to the first.
        **direction
            Fields of `netlab.Link`, such as `rate_mbps=2, loss_rate=0.01`.

        Raises
        ------
        ScenarioError
            If values are wrong; it lists all mistakes, and the link is not changed.
        """
        if problems := field_problems("link", direction, reverse):
            raise ScenarioError(problems)
        old = self._lab.topology.links[self.position]
        link = changed_link(old, self._ends[0], direction, reverse or {})
        forward, backward = link.forward, link.backward
        links = [link if k == self.position else one for k, one in enumerate(self._lab.topology.links)]
        topology = Topology(self._lab.topology.hosts, self._lab.topology.routers, self._lab.topology.switches, links)
        problems = topology.problems()
        if problems:
            raise ScenarioError(problems)
        for number, old_shape, new_shape in ((0, old.forward, forward), (1, old.backward, backward)):
            if old_shape != new_shape:
                # Only the fields that differ, so that a rate which follows a trace continues.
                shape: Any = planned_difference(old_shape, new_shape)
                self._lab.session.request().change(directions=[2 * self.position + number], shape=shape, up=None)
        self._lab.topology = topology
        if link != old:
            self._note(reverse=reverse, **direction)

    def down(self) -> None:
        """Switch both directions of the link off now; packets on it are lost."""
        self._switch(False)

    def up(self) -> None:
        """Switch both directions of the link on again now, with its former addresses and routes."""
        self._switch(True)

    def _switch(self, up: bool) -> None:
        """Switch both directions of the link on if `up`, else off, and add the change to `lab.changes`."""
        both = [2 * self.position, 2 * self.position + 1]
        self._lab.session.request().change(directions=both, shape=None, up=up)
        self._note(up=up)

    def _note(self, **words: Any) -> None:
        """Add a change of this link at the present network time to `lab.changes`; `words` are its fields by name, as
        `netlab.Change` takes them.
        """
        at_s = round(self._lab.session.now_s, 6)
        self._lab.changes.append(Change(at_s=at_s, link=self._ends, number=self._number, **words))
