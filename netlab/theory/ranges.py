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


def like(result: ArrayLike) -> Value:  # type: ignore[type-var]
    """Return a float for a number, an array for an array."""
    array = np.asarray(result, dtype=float)
    return cast(Value, float(array) if array.ndim == 0 else array)


def positive(name: str, value: ArrayLike) -> None:
    """Raise TheoryError if a value is not above 0."""
    if not np.all(np.asarray(value) > 0):
        raise TheoryError(f"{name} must be above 0, got {value!r}.")


def within(name: str, value: ArrayLike, low: float, high: float) -> None:
    """Raise TheoryError if a value is not from `low` to `high`, both included."""
    array = np.asarray(value)
    if not np.all((array >= low) & (array <= high)):
        allowed = f"{low:g} or more" if high == math.inf else f"between {low:g} and {high:g}"
        raise TheoryError(f"{name} must be {allowed}, got {value!r}.")


def loss_in_range(name: str, value: ArrayLike, below_one: bool = False) -> None:
    """Raise TheoryError if a value is not a loss rate above 0; with `below_one`, also for 1."""
    array = np.asarray(value)
    if np.all((array > 0) & ((array < 1) | ((array == 1) & (not below_one)))):
        return
    allowed = "(0, 1)" if below_one else "(0, 1]"
    hint = f"; for {float(array):g} % write {float(array) / 100:g}" if array.ndim == 0 and array > 1 else ""
    raise TheoryError(f"{name} must be in {allowed}, got {value!r}{hint}.")


def check_network(capacities_mbps: Mapping[Link, float], routes: Mapping[Flow, Sequence[Link]]) -> None:
    """Raise TheoryError for a rate of 0 or less, or a flow over a link without a rate."""
    for link, capacity in capacities_mbps.items():
        positive(f"capacities_mbps of {link}", capacity)
    for flow, route in routes.items():
        unknown = [link for link in route if link not in capacities_mbps]
        if unknown:
            raise TheoryError(f"Flow {flow} uses link {unknown[0]!r}, which has no capacity; give it one.")


def check_flows(name: str, values: Mapping[Flow, float], routes: Mapping[Flow, Sequence[Link]]) -> None:
    """Raise TheoryError for a flow without a value, or a value without a flow."""
    odd = set(values) ^ set(routes)
    if odd:
        only = min(map(str, odd))
        raise TheoryError(f"{name} and routes must name the same flows; {only} is in one of them only.")
