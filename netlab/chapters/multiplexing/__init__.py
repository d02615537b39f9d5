"""The chapter on multiplexing: its settings, its checks and its panel."""

from netlab.chapters.opening import opener

begin = opener(__name__)
