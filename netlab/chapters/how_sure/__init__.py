"""The chapter "How sure are you?"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
