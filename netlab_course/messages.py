"""Display of messages: in a notebook as HTML with wrapped lines, elsewhere as printed text."""

import html
import sys
from collections.abc import Mapping
from typing import Any

from netlab_course.answers import WIDTH, wrap

GREY = "#757575"
AMBER = "#b26a00"


def display_module() -> Any:
    """Return the module `IPython.display` inside a notebook's kernel; None anywhere else."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return sys.modules["IPython"].display if hasattr(shell, "kernel") else None


def show_text(text: str, colour: str = "", css_classes: str = "", metadata: Mapping[str, Any] | None = None) -> None:
    """Show a text in a notebook, with a bar of this CSS colour on its left ("" for none) and these CSS classes
    (separated by spaces), or print it wrapped elsewhere. `metadata` (None: nothing) is saved with the output and not
    shown.
    """
    display = display_module()
    if display is None:
        print(wrap(text))
    else:
        shown = {"text/plain": wrap(text), "text/html": as_html(text, colour, css_classes)}
        display.display(shown, raw=True, metadata=dict(metadata or {}))


def as_html(text: str, colour: str = "", css_classes: str = "") -> str:
    """Return a text as HTML with wrapped lines, a bar of this CSS colour on its left ("" for none), and these CSS
    classes (separated by spaces; "" for none).

    >>> as_html("a < b")[-59:]
    'padding-left: 2ch; text-indent: -2ch">a &lt; b</span></pre>'
    """
    style = f"border-left: 4px solid {colour}; padding-left: 8px; " if colour else ""
    style += f"margin: 0; max-width: {WIDTH}ch; white-space: pre-wrap; word-break: normal"
    # Indent a wrapped line to the first word, not to the mark before it.
    hanging = '<span style="display: block; padding-left: 2ch; text-indent: -2ch">{}</span>'
    lines = "".join(hanging.format(html.escape(line)) for line in text.splitlines())
    named = f' class="{css_classes}"' if css_classes else ""
    return f'<pre{named} style="{style}">{lines}</pre>'
