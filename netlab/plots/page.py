"""The script that completes a notebook's page: accessible names of figures and sliders.

Plotly draws a figure as shapes without a name, and ipywidgets' sliders have no name for their handles. Neither has a setting
for it, so a script in the page adds them, from what netlab writes into the figure and the slider's row.
"""

import sys
import threading
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("page.js").read_text(encoding="utf-8")

_shells_with_script: list[Any] = []


def show(more_html: str = "") -> None:
    """Bring the script, and `more_html`, into a notebook's page; do nothing anywhere else."""
    display, shell = _notebook()
    if shell is not None:
        _shells_with_script[:] = [shell]
        html = f"{more_html}<script>\n{SCRIPT}</script>"
        display.display({"text/html": html, "text/plain": ""}, raw=True)


def show_once() -> None:
    """Bring the script into a notebook's page unless this kernel already did."""
    if threading.current_thread() is threading.main_thread() and _notebook()[1] not in _shells_with_script:
        show()


def _notebook() -> tuple[Any, Any]:
    """Return IPython's module for output and the shell of a notebook's kernel; None for the latter outside of one."""
    display = sys.modules.get("IPython.display")
    shell = sys.modules["IPython"].get_ipython() if display else None
    return display, shell if hasattr(shell, "kernel") else None
