"""The chapter "Fair by which measure?"."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
