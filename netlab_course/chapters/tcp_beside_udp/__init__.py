"""The chapter "TCP beside UDP"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
