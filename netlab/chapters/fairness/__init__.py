"""The chapter on fairness: `begin` opens it."""

from netlab.chapters.fairness import check, settings
from netlab.chapters.fairness.panel import panel
from netlab.chapters.opening import opener

begin = opener("fairness", settings, check.Checks, panel)

__all__ = ["begin"]
