"""The first pages: an introduction to the notebooks and to netlab."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
