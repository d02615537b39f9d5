"""A marked notebook's own examination: the answers that `%%answer` passes to it."""

from __future__ import annotations

import pytest

from netlab.base.errors import NetlabError
from netlab_classroom.grading.merged import Exam


def test_an_unknown_key_of_an_exercise_is_refused_with_the_known_ones() -> None:
    exam = Exam("01_udp_loss")
    with pytest.raises(NetlabError, match=r"no exercise 'limits'; its exercises are limit, overload"):
        exam.answer("limits\n", "1")
