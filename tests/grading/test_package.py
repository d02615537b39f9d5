"""The part of netlab that student code may see, without a guest."""

from __future__ import annotations

import compileall

import pytest

from netlab.base.location import IMPORT_ROOT
from netlab_classroom.grading import sandbox


def test_the_students_package_has_no_checks_and_no_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compileall, "compile_dir", lambda *_given, **_named: True)
    with sandbox.student_package() as place:
        grader = place / "netlab_classroom" / "grading"
        assert {path.name for path in grader.iterdir()} == set(sandbox.GUEST_MODULES)
        course = place / "netlab_course"
        assert not list(course.glob("chapters/**/check.py")) and not list(course.glob("chapters/**/panel.py"))
        assert list(course.glob("chapters/*/__init__.py")) and (place / "netlab" / "theory" / "udp.py").is_file()
        assert not [path for path in sandbox.LEFT_OUT if (place / path.relative_to(IMPORT_ROOT)).exists()]
