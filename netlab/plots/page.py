"""The script of a notebook's page that adds accessible names of figures and sliders.

Plotly draws a figure as shapes without a name, and the handles of ipywidgets' sliders have no names. Neither has a
setting for it, so a script adds them from data that netlab writes into the figure and the slider's row.
"""

import sys
import threading
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("page.js").read_text(encoding="utf-8")

_shells_with_script: list[Any] = []


def show(more_html: str = "") -> None:
    """Add the script, and the HTML `more_html`, to the current cell's output; do nothing outside a notebook."""
    display, shell = _notebook()
    if shell is not None:
        _shells_with_script[:] = [shell]
        html = f"{more_html}<script>\n{SCRIPT}</script>"
        display.display({"text/html": html, "text/plain": ""}, raw=True)


def show_once() -> None:
    """Add the script to a notebook's page unless this kernel has done so; only in the main thread."""
    if threading.current_thread() is threading.main_thread() and _notebook()[1] not in _shells_with_script:
        show()


def _notebook() -> tuple[Any, Any]:
    """Return IPython's display module, and the shell of a notebook's kernel (None outside a notebook)."""
    display = sys.modules.get("IPython.display")
    shell = sys.modules["IPython"].get_ipython() if display else None
    return display, shell if hasattr(shell, "kernel") else None
