"""The chapter "Delay and jitter"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
