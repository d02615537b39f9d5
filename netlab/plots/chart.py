"""A figure in a notebook that is drawn again in place."""

from typing import Any

import ipywidgets
import plotly.graph_objects as go
import plotly.io as pio


def notebook_forms(figure: go.Figure) -> dict[str, Any]:
    """A figure in all forms that a notebook's output has, by their types."""
    forms: dict[str, Any] = pio.renderers["netlab"].to_mimebundle(figure.to_dict())
    return forms


class Chart(ipywidgets.Output):  # type: ignore[misc]
    """A Plotly figure that is drawn again in place, by what draws a notebook's other figures.

    A widget with Plotly inside (5 MB of code) gave up silently on busy machines: the browser allows it two seconds.
    """

    def show(self, figure: go.Figure) -> None:
        """Draw this figure instead of the present one."""
        self.outputs = ({"output_type": "display_data", "metadata": {}, "data": notebook_forms(figure)},)
