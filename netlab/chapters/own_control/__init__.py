"""The chapter "Your own congestion control"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
