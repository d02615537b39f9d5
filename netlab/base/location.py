"""The path of the installed package."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
CARRIED = PACKAGE / "carried"
"""The files that a wheel includes: the chapters and the library kernel as WebAssembly."""
