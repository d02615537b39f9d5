"""The chapter on congestion collapse: how its notebook opens it."""

from netlab.chapters.opening import opener

begin = opener(__name__)
