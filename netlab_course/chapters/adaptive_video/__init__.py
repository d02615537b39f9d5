"""The chapter "Adaptive video": its settings, its checks and its panel."""

from netlab_course.chapters.opening import opener

begin = opener(__name__)
