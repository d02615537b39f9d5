"""The chapter "Fair by which measure?"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
