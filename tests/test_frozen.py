"""Descriptions of networks, results and class lists, which cannot be changed while other code holds them."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import pytest

BEING_MADE = {"Laboratory", "ExerciseMark", "FileAssignment"}
"""Classes whose objects are filled while work continues."""


@pytest.mark.parametrize("package", ["netlab.network", "netlab.measure", "netlab_classroom.grading", "netlab.runs"])
def test_a_description_is_frozen(package: str) -> None:
    home = importlib.import_module(package)
    modules = [
        importlib.import_module(found.name) for found in pkgutil.walk_packages(home.__path__, f"{home.__name__}.")
    ]
    classes = [
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and dataclasses.is_dataclass(each) and each.__module__ == module.__name__
    ]
    assert classes
    assert {each.__name__ for each in classes if not each.__dataclass_params__.frozen} <= BEING_MADE  # type: ignore[attr-defined]
