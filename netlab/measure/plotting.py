"""Plotting of tables: pandas draws with Plotly, and an import of Matplotlib raises an error that says so."""

from __future__ import annotations

import importlib.abc
import inspect
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

import pandas as pd

_NOT_INSTALLED = ("matplotlib", "seaborn")
_IMPORT_MACHINERY = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_USER_MODULES = ("__main__", "IPython.core.pylabtools")
"""Modules whose imports come from a person: a notebook's cells, a script, and the magic `%matplotlib`."""


class PlotlyHint(importlib.abc.MetaPathFinder):
    """The last of Python's module finders: it finds no module, but its error names the replacement for Matplotlib."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None; for an import of Matplotlib or seaborn in the user's code, raise ModuleNotFoundError."""
        del path, target
        # Packages that can work without Matplotlib also try to import it, and expect Python's own error.
        if fullname in _NOT_INSTALLED and _importer(inspect.currentframe()) in _USER_MODULES:
            raise ModuleNotFoundError(
                f"{fullname} is not installed; figures here are Plotly's. A table draws itself: "
                'my_table.plot(kind="scatter", x="seed", y="goodput_mbps") returns a figure. plotly.express has more kinds.',
                name=fullname,
            )
        return None


def _importer(frame: FrameType | None) -> str:
    """Return the name of the module with the import statement that led to this frame; "" if there is none."""
    frame = frame and frame.f_back
    while frame is not None and frame.f_code.co_filename in _IMPORT_MACHINERY:
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def draw_with_plotly() -> None:
    """Let pandas draw with Plotly from now on, unless the user chose another backend, and register `PlotlyHint`."""
    if pd.get_option("plotting.backend") == "matplotlib":
        pd.set_option("plotting.backend", "plotly")
    if not any(isinstance(finder, PlotlyHint) for finder in sys.meta_path):
        sys.meta_path.append(PlotlyHint())
