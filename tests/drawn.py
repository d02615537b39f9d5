"""Checks of the drawing of a panel."""

PATIENCE_S = 20.0


def by_role(panel, wanted):
    """The traces of the panel's figure with this role."""
    return [trace for trace in panel.figure.data if (trace.meta or {}).get("role") == wanted]
