"""The chapter "Wi-Fi"."""

from netlab.chapters.opening import opener

begin = opener(__name__)
