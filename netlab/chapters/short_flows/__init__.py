"""The chapter on short transfers: `begin` opens it."""

from netlab.chapters.opening import opener

begin = opener(__name__)
