"""The chapter on delay and jitter: what a notebook opens."""

from netlab.chapters.opening import opener

begin = opener(__name__)
