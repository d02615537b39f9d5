"""The chapter "Why is 95 % too much?"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
