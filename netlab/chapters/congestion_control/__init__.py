"""The chapter on congestion control: its settings, its figures, its checks and its panel."""

from netlab.chapters.opening import opener

begin = opener(__name__)
