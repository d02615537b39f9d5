"""The first pages: an introduction to the notebooks and to netlab."""

from netlab.chapters.opening import opener

begin = opener(__name__)
