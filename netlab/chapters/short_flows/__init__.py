"""The chapter on short transfers."""

from netlab.chapters.opening import opener

begin = opener(__name__)
