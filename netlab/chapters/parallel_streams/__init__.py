"""The chapter "Parallel streams"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
