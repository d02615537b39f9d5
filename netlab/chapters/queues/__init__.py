"""The chapter "Queues that speak up"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
