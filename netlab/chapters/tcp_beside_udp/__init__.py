"""The chapter on TCP beside UDP: how its notebook opens it."""

from netlab.chapters.opening import opener

begin = opener(__name__)
