"""The chapter "TCP beside UDP"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
