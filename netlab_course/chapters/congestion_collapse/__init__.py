"""The chapter "Congestion collapse"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
