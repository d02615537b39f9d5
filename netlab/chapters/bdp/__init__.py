"""The chapter on the bandwidth-delay product."""

from netlab.chapters.opening import opener

begin = opener(__name__)
