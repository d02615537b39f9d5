"""A small chapter with an exercise of each kind."""

from netlab.chapters.opening import opener

begin = opener(__name__)
