"""The chapter "Multiplexing"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
