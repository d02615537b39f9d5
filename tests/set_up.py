"""Changes of the set-up's module for a test."""

from __future__ import annotations


def without(monkeypatch, setup, *absent):
    find = setup.shutil.which
    monkeypatch.setattr(
        setup.shutil, "which", lambda name, **more: None if name in absent else find(name, **more) or name
    )


def never(*_words, **_more):
    raise AssertionError("nothing must be run")
