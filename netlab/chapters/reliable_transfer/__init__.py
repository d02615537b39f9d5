"""The chapter "Build a reliable transfer"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
