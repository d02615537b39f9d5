"""Sliders, choices and check boxes, of one look."""

import math
from collections.abc import Sequence
from typing import Any

import ipywidgets

LABELS = {"description_width": "16em"}
"""The style of all controls with a label, so that they stand in line: room for the longest."""


def slider(
    label: str, value: float, low: float, high: float, step: float, unit: str = ""
) -> ipywidgets.FloatSlider | ipywidgets.IntSlider:
    """A slider that reports only where it comes to rest; of whole numbers when all its numbers are whole.

    It stands at `value` and goes from `low` to `high`; the unit is shown behind the label.
    """
    whole = all(isinstance(number, int) for number in (value, low, high, step))
    kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
    return kind(value=value, min=low, max=high, step=step, **_look(label, unit))


def log_slider(
    label: str, value: float, low: float, high: float, steps_per_decade: int = 10, unit: str = ""
) -> ipywidgets.FloatLogSlider:
    """A slider whose steps are ratios, for what covers several powers of ten; reports only where it comes to rest.

    `value`, `low` and `high` are above 0; there are so many steps between 1 and 10, between 10 and 100, and so on.
    """
    return ipywidgets.FloatLogSlider(
        value=value,
        base=10,
        min=math.log10(low),
        max=math.log10(high),
        step=1 / steps_per_decade,
        readout_format=".3g",
        **_look(label, unit),
    )


def _look(label: str, unit: str) -> dict[str, Any]:
    return {
        "description": f"{label} ({unit})" if unit else label,
        "continuous_update": False,
        "tooltip": f"{label}: drag, use the arrow keys, or click the number and type",
        "style": LABELS,
        "layout": {"width": "100%", "max_width": "46em"},
    }


def choice(label: str, options: Sequence[str], value: str | None = None) -> ipywidgets.Dropdown:
    """A list of which one is chosen; it starts with `value`, by default the first."""
    return ipywidgets.Dropdown(
        options=list(options),
        value=options[0] if value is None else value,
        description=label,
        tooltip=f"{label}: choose one",
        style=LABELS,
        layout={"width": "29em"},
    )


def toggle(label: str) -> ipywidgets.Checkbox:
    """A check box, at first off."""
    return ipywidgets.Checkbox(description=label, indent=False, layout={"width": "14em", "margin": "0 0 0 2em"})
