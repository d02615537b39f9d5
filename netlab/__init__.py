"""netlab: learn how networks perform by running them.

import netlab as nl
topology = nl.topologies.dumbbell(pairs=2, rate_mbps=5, delay_ms=10, queue_packets=100)
run = nl.run(topology, [nl.Udp("h1", "h3", rate_mbps=1), nl.Tcp("h2", "h4")], duration_s=60)
run.flows
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netlab import plots, theory, widgets
    from netlab.base.version import VERSION as __version__
    from netlab.captures import Capture
    from netlab.engines import preflight, run_length_s
    from netlab.measure.results import Run
    from netlab.network import topologies
    from netlab.network.change import Change
    from netlab.network.link import Link
    from netlab.network.topology import Topology
    from netlab.network.trace import Trace
    from netlab.runs.experiment import run
    from netlab.runs.replications import interval, repeat
    from netlab.runs.scenario import Scenario
    from netlab.runs.sweeps import sweep
    from netlab.traffic import Command, Ping, Program, Requests, Tcp, Udp
    from netlab_course import checks
    from netlab_engines.lab.live import live

# The agent imports this package in the guest, where every import costs start-up time: names are looked up when used.
_HOMES = {
    "Capture": "netlab.captures",
    "Change": "netlab.network.change",
    "Command": "netlab.traffic",
    "Link": "netlab.network.link",
    "Ping": "netlab.traffic",
    "Program": "netlab.traffic",
    "Requests": "netlab.traffic",
    "Run": "netlab.measure.results",
    "Scenario": "netlab.runs.scenario",
    "Tcp": "netlab.traffic",
    "Topology": "netlab.network.topology",
    "Trace": "netlab.network.trace",
    "Udp": "netlab.traffic",
    "interval": "netlab.runs.replications",
    "live": "netlab_engines.lab.live",
    "preflight": "netlab.engines",
    "progress": "netlab_course.catalogue",
    "repeat": "netlab.runs.replications",
    "run": "netlab.runs.experiment",
    "run_length_s": "netlab.engines",
    "sweep": "netlab.runs.sweeps",
}
_MODULES = {
    "checks": "netlab_course.checks",
    "plots": "netlab.plots",
    "theory": "netlab.theory",
    "topologies": "netlab.network.topologies",
    "widgets": "netlab.widgets",
}

__all__ = [
    "Capture", "Change", "Command", "Link", "Ping", "Program", "Requests", "Run", "Scenario", "Tcp", "Topology", "Trace", "Udp",
    "checks", "interval", "live", "plots", "preflight", "progress", "repeat", "run", "run_length_s", "sweep", "theory",
    "topologies", "widgets",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import the module behind a public name such as `nl.run` on its first use and return the object (PEP 562). Raises
    AttributeError with the nearest public name for an unknown one, MissingPackageError without its package.
    """
    if name == "__version__":
        return importlib.import_module("netlab.base.version").VERSION
    if name in _MODULES:
        return _load(_MODULES[name])
    if name in _HOMES:
        return getattr(_load(_HOMES[name]), name)
    if name[:1].isupper():
        # Kinds of traffic that were added to the table.
        for kind in importlib.import_module("netlab.traffic").KINDS.values():
            if kind.__name__ == name:
                return kind
    errors = importlib.import_module("netlab.base.errors")
    if name in ("Flow", "Traffic", "Stream"):
        kinds = ", ".join(kind.__name__ for kind in importlib.import_module("netlab.traffic").KINDS.values())
        raise AttributeError(f"module 'netlab' has no attribute {name!r}; the kinds of traffic are {kinds}")
    raise errors.unknown_name("netlab", name, __all__)


def _load(module: str) -> Any:
    """Import and return a module by its full name; raise MissingPackageError if its package is not installed."""
    return importlib.import_module("netlab.base.packages").load(module)


def __dir__() -> list[str]:
    """Return the public names of netlab, for completion."""
    return [*__all__, "__version__"]
