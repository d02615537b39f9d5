"""The chapter "How sure are you?"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
