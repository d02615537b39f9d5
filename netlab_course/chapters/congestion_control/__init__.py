"""The chapter on congestion control: its settings, its figures, its checks and its panel."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
