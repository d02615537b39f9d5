"""The library engine: a plan runs in Linux's network stack as a single program, in virtual time, without any other program."""

from netlab_engines.library.engine import LibraryEngine

__all__ = ["LibraryEngine"]
