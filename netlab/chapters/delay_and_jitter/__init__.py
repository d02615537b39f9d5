"""The chapter on delay and jitter: what a notebook opens."""

from netlab.chapters.delay_and_jitter import check, settings
from netlab.chapters.opening import opener

begin = opener("delay_and_jitter", settings, check.Checks)

__all__ = ["begin"]
