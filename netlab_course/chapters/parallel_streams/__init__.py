"""The chapter "Parallel streams"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
