"""Sliders, lists and check boxes with a common look."""

import html
import math
from collections.abc import Sequence
from typing import Any

import ipywidgets

MAX_DECIMALS = 3
LETTER_EM, AROUND_LABEL_EM = 0.55, 0.8
MIN_SLIDER_EM, READOUT_EM, RANGE_EM = 6.0, 5.5, 5.0
"""Widths in em of the controls' font; a letter of a wide font, such as DejaVu Sans, is slightly more than half an em wide."""


def slider(
    label: str, value: float, low: float, high: float, step: float, unit: str = ""
) -> ipywidgets.FloatSlider | ipywidgets.IntSlider:
    """Return a slider from `low` to `high` that starts at `value` and reports when the mouse is released; one of
    integers if all its numbers are integers. The unit follows the label.
    """
    whole_numbers = all(isinstance(number, int) for number in (value, low, high, step))
    kind = ipywidgets.IntSlider if whole_numbers else ipywidgets.FloatSlider
    return kind(value=value, min=low, max=high, step=step, **_common_settings(label, unit))


def log_slider(
    label: str, value: float, low: float, high: float, steps_per_decade: int = 10, unit: str = ""
) -> ipywidgets.FloatLogSlider:
    """Return a slider from `low` to `high` (above 0) that starts at `value`, with a constant ratio between its steps:
    `steps_per_decade` from 1 to 10, from 10 to 100, and so on. The unit follows the label.
    """
    return ipywidgets.FloatLogSlider(
        value=value,
        base=10,
        min=math.log10(low),
        max=math.log10(high),
        step=1 / steps_per_decade,
        readout_format=".3g",
        **_common_settings(label, unit),
    )


def _common_settings(label: str, unit: str) -> dict[str, Any]:
    """Return the settings that sliders have in common: the label with its unit, and the text for the mouse pointer."""
    return {
        "description": f"{label} ({unit})" if unit else label,
        "continuous_update": False,
        "tooltip": f"{label}: drag, use the arrow keys, or click the number and type",
    }


def choice(label: str, options: Sequence[str], value: str | None = None) -> ipywidgets.Dropdown:
    """Return a drop-down list of `options` with this label; it starts with `value`, by default the first option."""
    return ipywidgets.Dropdown(
        options=list(options),
        value=options[0] if value is None else value,
        description=label,
        tooltip=f"{label}: choose one",
    )


def toggle(label: str) -> ipywidgets.Checkbox:
    """Return a check box with this label that is off at first."""
    return ipywidgets.Checkbox(description=label)


def control_grid(controls: Sequence[ipywidgets.DOMWidget]) -> ipywidgets.GridBox:
    """Return a grid with the controls, whose widths it sets, in as many columns as fit, each slider with its range.

    All labels get the width of the longest, so that sliders, lists and check boxes are aligned.
    """
    names = [control.description for control in controls if not isinstance(control, ipywidgets.Checkbox)]
    label_em = LETTER_EM * max(map(len, names), default=0) + AROUND_LABEL_EM
    rows = []
    for control in controls:
        control.style.description_width = f"{label_em:.1f}em"
        control.layout.width, control.layout.max_width, control.layout.flex = "auto", "none", "1 1 auto"
        row = ipywidgets.HBox([control], layout={"max_width": "46em", "overflow": "visible"})
        ends = _slider_ends(control)
        if ends is not None:
            row.children = (control, _range(*ends))
        row.add_class("netlab-control")
        rows.append(row)
    column_em = label_em + MIN_SLIDER_EM + READOUT_EM + RANGE_EM
    columns = f"repeat(auto-fit, minmax(min({column_em:.1f}em, 100%), 1fr))"
    return ipywidgets.GridBox(rows, layout={"grid_template_columns": columns, "overflow": "visible"})


def _slider_ends(control: ipywidgets.DOMWidget) -> tuple[float, float] | None:
    """Return the lowest and the highest value of a slider; None for another control."""
    if isinstance(control, ipywidgets.FloatLogSlider):
        return control.base**control.min, control.base**control.max
    if isinstance(control, (ipywidgets.FloatSlider, ipywidgets.IntSlider)):
        return control.min, control.max
    if isinstance(control, ipywidgets.SelectionSlider):
        return control.options[0], control.options[-1]
    return None


def _range(low: float, high: float) -> ipywidgets.HTML:
    """Return a widget with the text of a slider's range, from `low` to `high`. The page's script
    (`netlab/plots/page.js`) reads its two numbers and replaces it by a message when a typed number is invalid.
    """
    low_text, high_text = (html.escape(f"{round(end, MAX_DECIMALS):.10g}" if end else "0") for end in (low, high))
    return ipywidgets.HTML(
        f'<span class="netlab-range" role="status" data-low="{low_text}" data-high="{high_text}">'
        f"{low_text} to {high_text}</span>",
        layout={"flex": "0 1 auto", "min_width": f"{RANGE_EM}em", "margin": "2px 0 2px 4px"},
    )
