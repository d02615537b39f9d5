"""The chapter "Congestion collapse"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
