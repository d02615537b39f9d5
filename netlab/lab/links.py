"""The links of a live network: given other properties, cut, mended."""

from collections.abc import Mapping
from typing import Any, Protocol

from netlab.base.errors import ScenarioError
from netlab.lab.session import Session
from netlab.network.change import Change, changed, planned_difference
from netlab.network.link import field_problems
from netlab.network.topology import Topology


class Wired(Protocol):
    """What has links: a lab."""

    session: Session
    topology: Topology
    changes: list[Change]


class LiveLink:
    """A link of a lab."""

    def __init__(self, lab: Wired, ends: tuple[str, str], number: int) -> None:
        self._lab = lab
        self.position = lab.topology.position(*ends, number)
        self._ends = ends
        self._number = number

    def __repr__(self) -> str:
        return f"LiveLink({self._lab.topology.links[self.position]!r})"

    def change(self, *, reverse: Mapping[str, Any] | None = None, **direction: Any) -> None:
        """Give the link other properties, now; those not named stay as they are.

        Parameters
        ----------
        reverse : mapping, optional
            What is different from the second node of `lab.link(first, second)` towards the first.
        **direction
            Fields of `netlab.Link`, such as `rate_mbps=2, loss_rate=0.01`.

        Raises
        ------
        ScenarioError
            With every mistake; nothing was changed.
        """
        if problems := field_problems("link", direction, reverse):
            raise ScenarioError(problems)
        old = self._lab.topology.links[self.position]
        link = changed(old, self._ends[0], direction, reverse or {})
        forward, backward = link.forward, link.backward
        links = [link if k == self.position else one for k, one in enumerate(self._lab.topology.links)]
        topology = Topology(self._lab.topology.hosts, self._lab.topology.routers, self._lab.topology.switches, links)
        problems = topology.problems()
        if problems:
            raise ScenarioError(problems)
        for number, before, after in ((0, old.forward, forward), (1, old.backward, backward)):
            if before != after:
                # The fields that differ and no others: a rate that follows a trace goes on.
                shape: Any = planned_difference(before, after)
                self._lab.session.request().change(directions=[2 * self.position + number], shape=shape, up=None)
        self._lab.topology = topology
        if link != old:
            self._note(reverse=reverse, **direction)

    def down(self) -> None:
        """Cut the link."""
        self._switch(False)

    def up(self) -> None:
        """Mend it again, with the addresses and routes that it had."""
        self._switch(True)

    def _switch(self, up: bool) -> None:
        both = [2 * self.position, 2 * self.position + 1]
        self._lab.session.request().change(directions=both, shape=None, up=up)
        self._note(up=up)

    def _note(self, **words: Any) -> None:
        at_s = round(self._lab.session.now_s, 6)
        self._lab.changes.append(Change(at_s=at_s, link=self._ends, number=self._number, **words))
