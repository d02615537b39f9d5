"""The chapter on fairness: `begin` opens it."""

from netlab.chapters.fairness import check, settings
from netlab.chapters.opening import opener

begin = opener("fairness", settings, check.Checks)

__all__ = ["begin"]
