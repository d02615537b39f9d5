"""The chapter "Build a reliable transfer"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
