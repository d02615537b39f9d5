"""The chapter on reliable transfer: `begin` opens it."""

from netlab.chapters.opening import opener

begin = opener(__name__)
