"""The first pages: what one can do here, and how the other chapters work."""

from netlab.chapters.opening import opener

begin = opener(__name__)
