"""Which labs are open: `%host` speaks to the one that was opened last."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Protocol

from netlab.base.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netlab.lab.nodes import Host


class OpenLab(Protocol):
    """What is known of a lab."""

    @property
    def closed(self) -> bool:
        """Whether it has ended."""

    def __getitem__(self, name: str) -> Host:
        """A node."""

    def __iter__(self) -> Iterator[str]:
        """Names of the nodes."""


_labs: list[weakref.ref[OpenLab]] = []


def note(lab: OpenLab) -> None:
    """A lab was opened."""
    _labs[:] = [*(ref for ref in _labs if ref() is not None), weakref.ref(lab)]


def current() -> OpenLab:
    """The lab that was opened last and is not closed.

    Raises RunError when there is none.
    """
    for ref in reversed(_labs):
        lab = ref()
        if lab is not None and not lab.closed:
            return lab
    raise RunError("No live network is open; open one with lab = netlab.live(network).")
