"""A small chapter with an exercise of each kind."""

from netlab.chapters.sample import check, settings

from netlab.chapters.opening import opener

begin = opener("sample", settings, check.Checks)

__all__ = ["begin"]
