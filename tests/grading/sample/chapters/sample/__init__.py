"""A small chapter with an exercise of each kind."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
