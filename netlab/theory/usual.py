"""Completion of the formulas' docstrings with usual parameters and exceptions.

A formula's docstring describes only the parameters that are special to it, its result and source after `Returns:` and
`Source:`, and errors other than numbers out of range after `Raises:`. `complete` turns these into sections and
adds the other parameters in the order of the signature.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any

PARAMETERS = {
    "back": "sequence of Hop, optional: The links on the way back; the same ones when left out.",
    "capacities_mbps": "mapping of link to float: Rate of each link in Mbit/s, above 0; infinite is allowed.",
    "demands_mbps": (
        "mapping of flow to float, optional: What a flow wants at most, in Mbit/s, above 0; flows left out want all they can get."
    ),
    "exits_mbps": "array: Rate of each flow's own last link in Mbit/s, above 0.",
    "flows": "int: Number of flows n, at least 1.",
    "frame_bytes": "int: Bytes of a full frame as the link counts them, above 0.",
    "framing": '{"tc", "ethernet", "ip"}: What counts against the rate; see `udp_wire_bytes`.',
    "mss_bytes": "int: Application bytes in a segment, above 0.",
    "offered_mbps": "float or array: Application data sent, in Mbit/s, 0 or more.",
    "options": "mapping, optional: As a link's `medium_options`; see `netlab.network.media.Wifi`.",
    "packet_bytes": "float: Bytes of the frame as the link counts them, 0 or more.",
    "path": "sequence of Hop: The links on the way there.",
    "payload_bytes": "int: Application bytes in a datagram, 1 to 65507.",
    "rate_mbps": "float: The link's rate in Mbit/s, above 0.",
    "routes": "mapping of flow to sequence of links: The links of each flow.",
    "rto_ms": (
        "float, optional: First retransmission timeout in ms, above 0; Linux's least, 200 ms above the round-trip time, when left out."
    ),
    "rtt_ms": "float: Round-trip time with an empty queue, in ms, above 0.",
    "rtts_ms": "mapping of flow to float: Round-trip time of each flow under load, queueing included, in ms, above 0.",
    "shared_mbps": "float: Rate of the common link in Mbit/s, above 0.",
    "size_bytes": "float: Application data in bytes, above 0.",
    "window_bytes": "float or array: Bytes that may be sent ahead of their acknowledgement, above 0.",
}
"""The type and the description of usual parameters."""
RAISES = "If a parameter is out of range."
TYPES = {"Value": "float or array", "ndarray": "array", "dict": "dict of flow to float", "tuple": "tuple of float"}
"""The description of a result by its annotation; other annotations are shown unchanged."""
_HEADING = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)


def complete(formula: Callable[..., Any]) -> None:
    """Complete a formula's docstring in place with sections, usual parameters, errors; KeyError if one is unknown."""
    text = inspect.getdoc(formula)
    if text is None:  # python -OO
        return
    signature = inspect.signature(formula)
    head, *parts = _HEADING.split(text)
    head, _, short = head.partition("Returns: ")
    returns, _, rest = short.rstrip().partition("\nSource: ")
    source, _, raises = rest.partition("\nRaises: ")
    sections = {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
    own: dict[str, str] = {}
    for entry in filter(None, re.split(r"\n(?=\S)", sections.pop("Parameters", ""))):
        names = entry.partition("\n")[0].partition(" : ")[0].split(", ")
        own |= {names[0]: entry} | dict.fromkeys(names[1:], "")
    parameters = [own[name] if name in own else _usual_entry(name) for name in signature.parameters]
    kind = signature.return_annotation.__name__
    ordered = {
        "Parameters": "\n".join(filter(None, parameters)),
        "Returns": f"{TYPES.get(kind, kind)}\n    {returns}",
        "Raises": f"TheoryError\n    {raises or RAISES}",
        "References": source,
        **sections,
    }
    formula.__doc__ = head + "\n\n".join(f"{name}\n{'-' * len(name)}\n{body}" for name, body in ordered.items()) + "\n"


def _usual_entry(name: str) -> str:
    """Return the numpydoc entry of a parameter in `PARAMETERS`; raise KeyError if it is not there."""
    if name not in PARAMETERS:
        raise KeyError(
            f"The parameter {name} has no description; give it one in a Parameters section of the formula's docstring, as "
            "netlab/theory/queueing.py does for load, or name it as one of PARAMETERS in netlab/theory/usual.py."
        )
    kind, _, meaning = PARAMETERS[name].partition(": ")
    return f"{name} : {kind}\n    {meaning}"
