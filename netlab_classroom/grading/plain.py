"""Data exchanged between a student's code and the grader: plain values of bounded size, never objects with behaviour.

One side writes a value as JSON with its kind, the other side makes a new value of it. Nothing that a student defined is
transferred: a subclass of float becomes a number, a run becomes its scenario, a function is only marked as a function.
"""

import json
import math
import sys
from dataclasses import dataclass
from typing import Any

from netlab.base.errors import NetlabError
from netlab_classroom.grading.text import clean_values
from netlab_course.rearranged_tables import scenario_of_case, with_seed_column

OWN_METHODS = ("on_start", "on_ack", "on_loss", "on_timeout", "on_datagram", "on_timer", "on_chunk")
"""The methods of students' classes that a run calls."""
MAX_BYTES = 1 << 18
MAX_ITEMS = 10_000
MAX_TEXT_CHARACTERS = 4_000
MAX_DEPTH = 6


class PlainError(NetlabError):
    """A value cannot be transferred; the text says why."""


@dataclass(frozen=True)
class FunctionStandIn:
    """A student's function, known only by whether it is still the stub."""

    stub: bool


@dataclass(frozen=True)
class ClassStandIn:
    """A student's class or object that a run calls, known only by its name."""

    name: str


@dataclass(frozen=True)
class RunDescription:
    """A student's run, or table of `netlab.repeat`, known only by its scenario, which the grader measures again."""

    scenario: dict[str, Any]
    seeds: list[int] | None = None
    """The seeds of a table."""


def encode(value: Any) -> Any:
    """Return a value as data for JSON: a dictionary with one entry, the value's kind and content, such as {"number":
    4.5}; an object that is not a plain value becomes a description, and long texts are cut. `decode` reverts it, with
    lists for tuples and arrays and stand-ins for runs, functions and students' objects. Raises PlainError when the
    value has too many items or is nested too deeply.

    Examples
    --------
    >>> encode(4.5), encode([1, ...])
    ({'number': 4.5}, {'list': [{'number': 1}, {'ellipsis': True}]})
    >>> decode(encode({"a": (1, None)}))
    {'a': [1, None]}
    """
    return _encode(value, 0)


def _encode(value: Any, depth: int) -> Any:
    """Return a value as data for JSON, a dictionary with one entry, the kind ("none", "ellipsis", "truth", "number",
    "text", "list", "pairs", "repeated" or one of `_object`) and the content; texts are cut to MAX_TEXT_CHARACTERS, and
    `depth` is the number of lists and dictionaries around it. Raises PlainError when that exceeds MAX_DEPTH or the
    value has more than MAX_ITEMS items.
    """
    if depth > MAX_DEPTH:
        raise PlainError(f"Lists within lists are {MAX_DEPTH} deep at most.")
    if value is None:
        return {"none": True}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, bool):
        return {"truth": bool(value)}
    if isinstance(value, int):
        return _number(int.__int__(value))
    if isinstance(value, float):
        return _number(float.__float__(value))
    if isinstance(value, str):
        return {"text": str.__str__(value)[:MAX_TEXT_CHARACTERS]}
    if isinstance(value, (list, tuple)):
        if len(value) > MAX_ITEMS:
            raise PlainError(f"A list has {MAX_ITEMS} items at most, this one {len(value)}.")
        return {"list": [_encode(item, depth + 1) for item in value]}
    if isinstance(value, dict):
        if len(value) > MAX_ITEMS:
            raise PlainError(f"A dictionary has {MAX_ITEMS} entries at most, this one {len(value)}.")
        return {"pairs": [[_encode(key, depth + 1), _encode(item, depth + 1)] for key, item in value.items()]}
    kind = _library(value)
    if kind == "numpy" and hasattr(value, "tolist"):
        if getattr(value, "size", 1) > MAX_ITEMS:
            raise PlainError(f"An array has {MAX_ITEMS} elements at most, this one {value.size}.")
        return _encode(value.tolist(), depth)
    if kind == "pandas" and hasattr(value, "columns"):
        value = with_seed_column(value)
    if kind == "pandas" and (scenario := _repeated_scenario(value)) is not None:
        seeds = [int(seed) for seed in value["seed"].unique()[:MAX_ITEMS]]
        return {"repeated": {"scenario": scenario, "seeds": seeds}}
    if kind == "pandas" and hasattr(value, "to_list"):
        return _encode(value.to_list(), depth)
    return _object(value)


def _repeated_scenario(value: Any) -> dict[str, Any] | None:
    """Return the scenario of a table of `netlab.repeat`, or of the rows of one case of a table of several; None for any
    other object of pandas.
    """
    attributes = getattr(value, "attrs", {})
    if "seed" not in getattr(value, "columns", ()):
        return None
    scenario = attributes["scenario"] if "scenario" in attributes else scenario_of_case(value)
    return scenario if isinstance(scenario, dict) else None


def _library(value: Any) -> str:
    """Return "pandas" or "numpy" if a value's class, or a class from which it inherits, is defined there; else ""."""
    modules = {each.__module__.partition(".")[0] for each in type(value).__mro__}
    return next((name for name in ("pandas", "numpy") if name in modules), "")


def _number(value: float) -> Any:
    """Return a number as data for JSON, such as {"number": 4.5}; infinite and undefined values become text such as
    {"number": "inf"}, and integers of more than 63 bits count as infinite.
    """
    if isinstance(value, int):
        # Treat an integer of any length as a number; one of more than 63 bits becomes an infinite float.
        return {"number": value} if abs(value) < 2**63 else {"number": "inf" if value > 0 else "-inf"}
    return {"number": value} if math.isfinite(value) else {"number": repr(value)}


def _object(value: Any) -> Any:
    """Return an object that is not a plain value as data for JSON, a dictionary with its kind: netlab's objects by
    their description ("run", "scenario", "topology", "traffic"), a figure of plotly by its numbers, a class or object
    that a run calls by its name ("own"), a function by whether it is the stub ("function"), any other by its type's
    name ("opaque"). Raises PlainError when the numbers of a figure are too many or too deep.
    """
    from netlab.measure.results import Run
    from netlab.network.topology import Topology
    from netlab.runs.scenario import Scenario
    from netlab.traffic import Traffic
    from netlab.traffic.own import is_own, own_name
    from netlab_course.answers import is_stub

    if isinstance(value, Run):
        return {"run": value.settings["scenario"]}
    if isinstance(value, Scenario):
        return {"scenario": value.to_dict()}
    if isinstance(value, Topology):
        return {"topology": value.to_dict()}
    if isinstance(value, Traffic):
        return {"traffic": value.to_dict()}
    if "plotly.graph_objs" in sys.modules and (figure := _figure(value)) is not None:
        return _encode(figure, 1)
    if is_own(value) and any(callable(getattr(value, name, None)) for name in OWN_METHODS):
        return {"own": own_name(value)[:100]}
    if callable(value):
        return {"function": {"stub": is_stub(value)}}
    return {"opaque": type(value).__name__[:100]}


def _figure(value: Any) -> Any:
    """Return the numbers of a plotly figure, or of a comparison that has one, as plain data; None if the value is
    neither. To be called only if plotly is imported.
    """
    import plotly.graph_objects as go

    from netlab.plots import Comparison
    from netlab_course.repeated_measurements import figure_numbers

    figure = value.figure if isinstance(value, Comparison) else value
    return figure_numbers(figure) if isinstance(figure, go.Figure) else None


def decode(data: Any, depth: int = 0) -> Any:
    """Return a new value from data that `encode` made, or that an untrusted sender wrote; `depth` is the number of
    lists and dictionaries around it. Runs, functions and students' objects become stand-ins, and an unknown object one
    of an empty class with its type's name. Raises PlainError when the data do not have the form of `encode`.
    """
    if depth > MAX_DEPTH or not isinstance(data, dict) or len(data) != 1:
        raise PlainError("The answer is not a plain value.")
    ((kind, content),) = data.items()
    if kind in {"none", "ellipsis"}:
        return None if kind == "none" else ...
    if kind == "truth" and isinstance(content, bool):
        return content
    if kind == "number" and not isinstance(content, bool):
        if content in ("inf", "-inf", "nan"):
            return float(content)
        if isinstance(content, (int, float)):
            return content
    if kind == "text" and isinstance(content, str):
        return content[:MAX_TEXT_CHARACTERS]
    if kind == "list" and isinstance(content, list) and len(content) <= MAX_ITEMS:
        return [decode(item, depth + 1) for item in content]
    if kind == "pairs" and isinstance(content, list) and len(content) <= MAX_ITEMS:
        return _pairs(content, depth)
    return _decode_object(kind, content)


def _pairs(content: list[Any], depth: int) -> dict[Any, Any]:
    """Return the dictionary for `content`, a list of encoded pairs of key and value that an untrusted sender wrote;
    `depth` is the number of lists and dictionaries around it. Raises PlainError when it has another form, or a key is
    not a number, a text or None.
    """
    found = {}
    for pair in content:
        if not (isinstance(pair, list) and len(pair) == 2):
            raise PlainError("The answer is not a plain value.")
        key = decode(pair[0], depth + 1)
        if not isinstance(key, (str, int, float, bool, type(None))):
            raise PlainError("A dictionary's key is a number or a text.")
        found[key] = decode(pair[1], depth + 1)
    return found


def _decode_object(kind: str, content: Any) -> Any:
    """Return the object for a kind, such as "run", and the content that `_object` or an untrusted sender made: netlab's
    own objects, a stand-in for a run, a table, a function or a student's object, or for any other object one of an
    empty class with its type's name. Raises PlainError if they are invalid.
    """
    from netlab import traffic
    from netlab.network.topology import Topology
    from netlab.runs.scenario import Scenario

    try:
        if kind == "run" and isinstance(content, dict):
            return RunDescription(content)
        if kind == "repeated" and isinstance(content, dict):
            return _table(content)
        if kind == "scenario" and isinstance(content, dict):
            return Scenario.from_dict(content)
        if kind == "topology" and isinstance(content, dict):
            return Topology.from_dict(content)
        if kind == "traffic" and isinstance(content, dict):
            item, problems = traffic.read(content, "traffic")
            if item is None or problems:
                raise PlainError("; ".join(problems))
            return item
    except NetlabError as error:
        raise PlainError(str(error)) from None
    if kind == "function" and isinstance(content, dict):
        return FunctionStandIn(stub=content.get("stub") is True)
    if kind == "own" and isinstance(content, str):
        return ClassStandIn(content[:100] if content.isidentifier() else "Own")
    if kind == "opaque" and isinstance(content, str):
        # Objects that cannot be serialized are represented by their type name.
        name = "".join(letter for letter in content if letter.isalnum() or letter in "_.")[:100]
        return type(name or "object", (), {})()
    raise PlainError("The answer is not a plain value.")


def _table(content: dict[str, Any]) -> RunDescription:
    """Return the description of a student's table of `netlab.repeat` from its `scenario` and its `seeds`, which are
    made distinct. Raises PlainError if they are invalid.
    """
    scenario, seeds = content.get("scenario"), content.get("seeds")
    if not (isinstance(scenario, dict) and isinstance(seeds, list) and all(type(seed) is int for seed in seeds)):
        raise PlainError("The answer is not a plain value.")
    return RunDescription(scenario, list(dict.fromkeys(seeds)))


def parse(data: bytes) -> Any:
    """Return the value of an untrusted JSON text in UTF-8, with control characters replaced in all its texts. Raises
    PlainError when it has more than MAX_BYTES bytes or is not JSON.
    """
    if len(data) > MAX_BYTES:
        raise PlainError(f"A message has {MAX_BYTES} bytes at most, this one {len(data)}.")
    try:
        return clean_values(json.loads(data.decode("utf-8", "strict"), parse_int=_integer))
    except (ValueError, RecursionError) as error:
        raise PlainError(f"A message cannot be read: {type(error).__name__}.") from None


def _integer(text: str) -> float:
    """Return the number for an integer in JSON, given as text; one of 20 characters or more becomes a float, because
    its conversion would take long.
    """
    return int(text) if len(text) < 20 else float(text)
