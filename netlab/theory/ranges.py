"""Checks of the parameters of formulas: ranges, and networks that contain all links of their flows."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlab.base.errors import NetlabError

Array = NDArray[np.float64]
Value = TypeVar("Value", float, Array)
Link = TypeVar("Link", bound=Hashable)
Flow = TypeVar("Flow", bound=Hashable)


class TheoryError(NetlabError, ValueError):
    """A formula got a number or a network for which it is not defined."""


def to_value(result: ArrayLike) -> Value:  # type: ignore[type-var]
    """Return a formula's result as a float if it is a single number, else as an array."""
    array = np.asarray(result, dtype=float)
    return cast(Value, float(array) if array.ndim == 0 else array)


def check_positive(name: str, value: ArrayLike) -> None:
    """Raise TheoryError, with the parameter's name, if a value or an element of an array is not above 0."""
    if not (value > 0 if isinstance(value, (int, float)) else np.all(np.asarray(value) > 0)):
        raise TheoryError(f"{name} must be above 0, got {value!r}.")


def check_range(name: str, value: ArrayLike, low: float, high: float) -> None:
    """Raise TheoryError, with the parameter's name, if a value or an element is not in [`low`, `high`]."""
    # Bisections call formulas thousands of times with single numbers, for which arrays take ten times as long.
    if isinstance(value, (int, float)):
        inside = low <= value <= high
    else:
        array = np.asarray(value)
        inside = bool(np.all((array >= low) & (array <= high)))
    if not inside:
        allowed = f"{low:g} or more" if high == math.inf else f"between {low:g} and {high:g}"
        raise TheoryError(f"{name} must be {allowed}, got {value!r}.")


def check_loss_rate(name: str, value: ArrayLike, below_one: bool = False) -> None:
    """Raise TheoryError, with the parameter's name, if a value or element is not in (0, 1] ((0, 1) if `below_one`)."""
    array = np.asarray(value)
    if np.all((array > 0) & ((array < 1) | ((array == 1) & (not below_one)))):
        return
    allowed = "(0, 1)" if below_one else "(0, 1]"
    hint = f"; for {float(array):g} % write {float(array) / 100:g}" if array.ndim == 0 and array > 1 else ""
    raise TheoryError(f"{name} must be in {allowed}, got {value!r}{hint}.")


def check_network(capacities_mbps: Mapping[Link, float], routes: Mapping[Flow, Sequence[Link]]) -> None:
    """Raise TheoryError if a link's capacity is not above 0, or a flow's route has a link without a capacity."""
    for link, capacity in capacities_mbps.items():
        check_positive(f"capacities_mbps of {link}", capacity)
    for flow, route in routes.items():
        unknown = [link for link in route if link not in capacities_mbps]
        if unknown:
            raise TheoryError(f"Flow {flow} uses link {unknown[0]!r}, which has no capacity; give it one.")


def check_flows(name: str, values: Mapping[Flow, float], routes: Mapping[Flow, Sequence[Link]]) -> None:
    """Raise TheoryError, with the parameter's name, if the flows in `values` and in `routes` are not the same."""
    odd = set(values) ^ set(routes)
    if odd:
        only = min(map(str, odd))
        raise TheoryError(f"{name} and routes must name the same flows; {only} is in one of them only.")
