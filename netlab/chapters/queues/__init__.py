"""The chapter on queue management: `begin` opens it."""

from netlab.chapters.opening import opener

begin = opener(__name__)
