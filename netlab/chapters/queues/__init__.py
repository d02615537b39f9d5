"""The chapter on queue management: `begin` opens it."""

from netlab.chapters.opening import opener
from netlab.chapters.queues import check, settings

begin = opener("queues", settings, check.Checks)

__all__ = ["begin"]
