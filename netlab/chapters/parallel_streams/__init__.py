"""The chapter on parallel streams: how its notebook opens it."""

from netlab.chapters.opening import opener

begin = opener(__name__)
