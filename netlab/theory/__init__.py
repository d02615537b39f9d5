"""Formulas of textbooks and papers for goodput, loss, delay and fairness.

Rates are in Mbit/s (10**6 bit/s), times in ms unless the name ends in `_s`, sizes in bytes, loss rates are fractions.
The docstring of a formula says under which conditions it holds and when it misleads; a comparison with a measurement
shows whether they were met.
"""

import inspect
from types import ModuleType
from typing import Any

from netlab.base.errors import unknown_name
from netlab.base.headers import (
    ICMP_HEADER_BYTES,
    IP_HEADER_BYTES,
    MSS_BYTES,
    MTU_BYTES,
    TCP_HEADER_BYTES,
    UDP_HEADER_BYTES,
)
from netlab.theory.arq import *
from netlab.theory.buffers import *
from netlab.theory.certainty import *
from netlab.theory.collapse import *
from netlab.theory.dctcp import *
from netlab.theory.delay import *
from netlab.theory.fairness import *
from netlab.theory.framing import *
from netlab.theory.queueing import *
from netlab.theory.ranges import TheoryError
from netlab.theory.slow_start import *
from netlab.theory.tcp import *
from netlab.theory.udp import *
from netlab.theory.usual import complete
from netlab.theory.wifi import *

_NOT_EXPORTED = {"Any", "ModuleType", "complete", "unknown_name"}
__all__ = [
    name
    for name, value in sorted(globals().items())
    if not (name.startswith("_") or name in _NOT_EXPORTED or isinstance(value, ModuleType))
]

for _name in __all__:
    if inspect.isfunction(inspect.unwrap(globals()[_name])):
        complete(globals()[_name])


def __dir__() -> list[str]:
    """Return the names of the formulas and constants, for completion."""
    return [name for name in __all__ if not name.startswith("Any")]


def __getattr__(name: str) -> Any:
    """Raise AttributeError for a name that `netlab.theory` lacks, with the nearest formula."""
    raise unknown_name("netlab.theory", name, __all__)
