"""The chapter on the bandwidth-delay product."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
