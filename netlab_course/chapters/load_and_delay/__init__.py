"""The chapter "Why is 95 % too much?"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
