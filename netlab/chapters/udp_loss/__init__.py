"""The chapter "UDP loss"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
