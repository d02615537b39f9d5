"""The chapter "UDP loss"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
