"""The chapter "Your own congestion control"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
