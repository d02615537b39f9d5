"""The library engine: a plan runs in Linux's network stack in a single program, in virtual time, without other programs."""

from netlab_engines.library.engine import LibraryEngine

__all__ = ["LibraryEngine"]
