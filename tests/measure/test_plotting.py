"""Tables draw with Plotly, and who imports Matplotlib is told."""

from __future__ import annotations

import subprocess
import sys

import plotly.graph_objects as go
import pytest

import netlab as nl
from netlab.base.errors import NetlabError
from netlab.measure.tables import Table

SCRIPT = """
import builtins, importlib.util, sys
import netlab as nl
nl.Run
sys.modules.pop("matplotlib", None)
{before}
try:
    {statement}
except ModuleNotFoundError as error:
    print(error.name, error)
"""
ABSENT = (
    "sys.meta_path[:] = [each for each in sys.meta_path if type(each).__name__ in ('BuiltinImporter', 'PlotlyHint')]"
)
"""The test does not depend on an installed Matplotlib."""


def output_of(statement: str) -> str:
    script = SCRIPT.format(before=ABSENT, statement=statement)
    return subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    "statement", ["import matplotlib.pyplot as plt", "from matplotlib import pyplot", "import seaborn"]
)
def test_import_of_matplotlib_names_the_plots_of_netlab(statement: str) -> None:
    told = output_of(statement)
    assert told.startswith(
        ("matplotlib matplotlib is not installed; figures", "seaborn seaborn is not installed; figures")
    )
    assert "my_table.plot(kind=" in told


def test_a_package_that_looks_for_matplotlib_gets_pythons_own_answer() -> None:
    assert output_of("print(importlib.util.find_spec('matplotlib'))") == "None\n"
    inside = "exec('try:\\n import matplotlib\\nexcept ImportError as error:\\n print(error)', {'__name__': 'package'})"
    assert output_of(inside) == "No module named 'matplotlib'\n"


def test_a_table_draws_a_figure_of_plotly() -> None:
    table = Table({"seed": [1, 2], "goodput_mbps": [4.7, 4.8]})
    assert isinstance(table.plot(kind="scatter", x="seed", y="goodput_mbps"), go.Figure)


def test_table_in_place_of_a_run_is_reported() -> None:
    with pytest.raises(NetlabError, match=r"this is a table of one: nl\.plots\.time_series\(run\)"):
        nl.plots.time_series(Table({"flow": ["x"]}))
    with pytest.raises(NetlabError, match="which is what nl.run"):
        nl.plots.time_series(5)
