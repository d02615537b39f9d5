"""What a student's code may see of netlab, without a guest."""

from __future__ import annotations

import compileall

import pytest

from netlab.grading import sandbox


def test_neither_checks_nor_the_grader_stand_in_a_students_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compileall, "compile_dir", lambda *_given, **_named: True)
    with sandbox.student_package() as place:
        package = place / "netlab"
        assert {path.name for path in (package / "grading").iterdir()} == set(sandbox.BEHIND_THE_WALL)
        assert not list(package.glob("chapters/**/check.py")) and not list(package.glob("chapters/**/panel.py"))
        assert list(package.glob("chapters/*/__init__.py")) and (package / "theory" / "udp.py").is_file()
        assert not [name for name in sandbox.LEFT_OUT if (package / name).exists()]
