"""The chapter "Delay and jitter"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
