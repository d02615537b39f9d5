"""The chapter on Wi-Fi: what a notebook opens."""

from netlab.chapters.opening import opener

begin = opener(__name__)
