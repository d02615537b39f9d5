"""Invalid parameters of a formula give a message; results have the shape of the parameters."""

from __future__ import annotations

import doctest
import importlib
import inspect
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from netlab import theory
from netlab.base.errors import NetlabError


def calls(formula: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """The arguments of each call of a formula in its own examples."""
    known = dict(vars(importlib.import_module(formula.__module__)))
    signature = inspect.signature(formula)

    def noted(*given: Any, **named: Any) -> Any:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        found.append(dict(bound.arguments))
        return formula(*given, **named)

    found: list[dict[str, Any]] = []
    known.update({"np": np, "math": math, formula.__name__: noted})
    for example in doctest.DocTestParser().get_examples(formula.__doc__ or ""):
        exec(example.source, known)  # noqa: S102 (our own examples)
    yield from found


def is_plain(value: object) -> bool:
    """Return whether a value is a plain list, tuple or array, and not a tuple with names such as a hop."""
    return type(value) in (list, tuple, np.ndarray)


FORMULAS = [each for name in theory.__all__ if inspect.isfunction(each := getattr(theory, name))]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.mathis_mbps(1448, 20, 2.0), "for 2 % write 0.02"),
        (lambda: theory.mathis_mbps(1448, 20, 0.0), r"in \(0, 1\]"),
        (lambda: theory.pftk_mbps(1448, 20, 1.0), r"in \(0, 1\)"),
        (lambda: theory.udp_goodput_limit_mbps(-5), "above 0, got -5"),
        (lambda: theory.udp_goodput_limit_mbps(math.nan), "above 0, got nan"),
        (lambda: theory.udp_wire_bytes(0), "between 1 and 65507"),
        (lambda: theory.tcp_wire_bytes(1448, "wifi"), "one of tc, ethernet"),
        (lambda: theory.bottleneck([]), "at least one link"),
        (lambda: theory.jain_index([0, 0]), "at least one rate above 0"),
        (lambda: theory.max_min_mbps({}, {"a": ["x"]}), "has no capacity"),
        (lambda: theory.max_min_mbps({"x": math.inf}, {"a": ["x"]}), "Nothing limits the flow a"),
        (lambda: theory.max_min_mbps({"x": 1}, {"a": ["x"]}, {"b": 1}), "has no route"),
        (lambda: theory.fifo_network({"x": 1}, {"a": ["x"]}, {}), "same flows"),
    ],
)
def test_errors_are_full_sentences(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert isinstance(caught.value, NetlabError)
    assert str(caught.value).endswith(".")


def test_numbers_stay_numbers_and_arrays_keep_their_shape():
    assert type(theory.udp_goodput_mbps(1, 5)) is float
    grid = np.ones((2, 3))
    for result in (
        theory.udp_goodput_mbps(grid, 5),
        theory.udp_loss_rate(grid, 5),
        theory.window_limit_mbps(grid, 10),
        theory.mathis_mbps(1448, 20, grid / 10),
        theory.pftk_mbps(1448, 20, grid / 10),
    ):
        assert result.shape == grid.shape


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.__name__)
def test_invalid_number_is_reported_by_its_own_name(formula):
    """Each number of each call in a formula's examples once below 0, and once none at all; of several the last."""
    tried = 0
    for arguments in calls(formula):
        for name, value in arguments.items():
            places = list(value) if isinstance(value, dict) else list(range(len(value))) if is_plain(value) else [None]
            last = value if places == [None] else value[places[-1]] if places else None
            if isinstance(last, bool) or not isinstance(last, (int, float)):
                continue
            for bad in (-1.0, math.nan):
                wrong = (
                    bad
                    if places == [None]
                    else {**value, places[-1]: bad}
                    if isinstance(value, dict)
                    else [*value[:-1], bad]
                )
                with pytest.raises(theory.TheoryError, match=rf"^{re.escape(name)}( of \S+)? must be .*(-1|nan)"):
                    formula(**{**arguments, name: wrong})
                tried += 1
    # A path's numbers are its links'.
    assert tried or formula is theory.bottleneck


def lower_bounds(formula: Callable[..., Any]) -> Iterator[tuple[str, float]]:
    """Yield the lower bounds in a formula's docstring: the parameter's name and the number before "or more"."""
    parameters = re.split(
        r"\n *(?:Returns|Examples|Raises)\n", (inspect.getdoc(formula) or "").partition("Parameters")[2]
    )[0]
    for names, about in re.findall(r"(?m)^(\w[\w, ]*) : .*\n((?: {4}.*\n)+)", parameters):
        if allowed := re.search(r"\b(\d+) or more", about):
            yield from ((name, float(allowed[1])) for name in names.split(", "))


LOWER_BOUNDS = [(formula, name, number) for formula in FORMULAS for name, number in lower_bounds(formula)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("formula", "name", "number"), LOWER_BOUNDS, ids=lambda each: getattr(each, "__name__", str(each))
)
def test_the_least_that_a_page_allows_is_taken_and_nothing_below_it(formula, name, number):
    for arguments in calls(formula):
        if isinstance(arguments.get(name), (int, float)):
            formula(**{**arguments, name: number})
            with pytest.raises(theory.TheoryError, match=f"^{name} must be"):
                formula(**{**arguments, name: number - 0.001})
