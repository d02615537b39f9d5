"""The chapter "Queues that speak up"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
