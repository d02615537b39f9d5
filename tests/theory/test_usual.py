"""The help of every formula names each parameter once, in the order of the call, and what it raises."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import pytest

import netlab as nl
from netlab.theory import usual

FORMULAS = [name for name in nl.theory.__all__ if inspect.isfunction(inspect.unwrap(getattr(nl.theory, name)))]


@pytest.mark.parametrize("name", FORMULAS)
def test_help_is_whole(name: str) -> None:
    formula = getattr(nl.theory, name)
    text = inspect.getdoc(formula)
    assert text is not None
    sections = re.findall(r"^(\w+)\n-+$", text, re.MULTILINE)
    assert sections == ["Parameters", "Returns", "Raises", "References", "Examples"]
    entries = text.partition("Parameters\n----------\n")[2].partition("\n\nReturns\n")[0]
    heads = [line.partition(" : ")[0] for line in entries.splitlines() if not line.startswith(" ")]
    assert [word for head in heads for word in head.split(", ")] == list(inspect.signature(formula).parameters)


def test_a_parameter_without_a_description_is_named_with_what_to_do() -> None:
    def formula(hops: int) -> int:
        """Return it.

        Returns: Hops.
        Source: None.
        """
        return hops

    with pytest.raises(KeyError, match=r"hops has no description; give it one in a Parameters section"):
        usual.complete(formula)


def test_every_usual_parameter_is_used() -> None:
    text = "\n".join(inspect.getdoc(getattr(nl.theory, name)) or "" for name in FORMULAS)
    for name in usual.PARAMETERS:
        kind, _, meaning = usual.PARAMETERS[name].partition(": ")
        assert f"{name} : {kind}\n    {meaning}" in text


def test_every_formula_of_a_module_is_in_the_package() -> None:
    helpers = {"collisions_per_ack", "framing_bytes", "student_t_of_freedom"}
    for found in pkgutil.iter_modules(nl.theory.__path__):
        if found.name in ("ranges", "usual"):
            continue
        module = importlib.import_module(f"netlab.theory.{found.name}")
        public = {name: inspect.unwrap(value) for name, value in vars(module).items() if not name.startswith("_")}
        own = {
            name for name, value in public.items() if inspect.isfunction(value) and value.__module__ == module.__name__
        }
        assert own - helpers <= set(module.__all__) <= set(nl.theory.__all__)
