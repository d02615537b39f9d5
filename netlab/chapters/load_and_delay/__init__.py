"""The chapter on load and delay: `begin` opens it."""

from netlab.chapters.opening import opener

begin = opener(__name__)
