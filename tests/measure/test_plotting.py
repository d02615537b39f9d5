"""Tables draw with Plotly, and who imports Matplotlib is told."""

from __future__ import annotations

import json
import subprocess
import sys

import plotly.graph_objects as go
import pytest

import netlab as nl
from netlab.base.errors import NetlabError
from netlab.measure.tables import Table

SCRIPT = """
import contextlib, importlib.util, io, json, sys
import netlab as nl
nl.Run
# The test does not depend on an installed Matplotlib.
sys.meta_path[:] = [each for each in sys.meta_path if type(each).__name__ in ('BuiltinImporter', 'PlotlyHint')]
printed = {}
for statement in json.loads(sys.argv[1]):
    sys.modules.pop("matplotlib", None)
    with contextlib.redirect_stdout(io.StringIO()) as told:
        try:
            exec(statement, {"__name__": "__main__", "importlib": importlib})
        except ModuleNotFoundError as error:
            print(error.name, error)
    printed[statement] = told.getvalue()
print(json.dumps(printed))
"""
IMPORTS = ["import matplotlib.pyplot as plt", "from matplotlib import pyplot", "import seaborn"]
SEARCH = "print(importlib.util.find_spec('matplotlib'))"
INSIDE = "exec('try:\\n import matplotlib\\nexcept ImportError as error:\\n print(error)', {'__name__': 'package'})"


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """The text that each statement prints in a new Python, where nothing has looked for Matplotlib."""
    command = [sys.executable, "-c", SCRIPT, json.dumps([*IMPORTS, SEARCH, INSIDE])]
    found: dict[str, str] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


@pytest.mark.parametrize("statement", IMPORTS)
def test_import_of_matplotlib_names_the_plots_of_netlab(statement: str, printed: dict[str, str]) -> None:
    text = printed[statement]
    assert text.startswith(
        ("matplotlib matplotlib is not installed; figures", "seaborn seaborn is not installed; figures")
    )
    assert "my_table.plot(kind=" in text


def test_a_package_that_looks_for_matplotlib_gets_pythons_own_answer(printed: dict[str, str]) -> None:
    assert printed[SEARCH] == "None\n"
    assert printed[INSIDE] == "No module named 'matplotlib'\n"


def test_a_table_draws_a_figure_of_plotly() -> None:
    table = Table({"seed": [1, 2], "goodput_mbps": [4.7, 4.8]})
    assert isinstance(table.plot(kind="scatter", x="seed", y="goodput_mbps"), go.Figure)


def test_table_in_place_of_a_run_is_reported() -> None:
    with pytest.raises(NetlabError, match=r"this is a table of one: nl\.plots\.time_series\(run\)"):
        nl.plots.time_series(Table({"flow": ["x"]}))
    with pytest.raises(NetlabError, match="which is what nl.run"):
        nl.plots.time_series(5)
