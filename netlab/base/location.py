"""Where this package is installed."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
CARRIED = PACKAGE / "carried"
"""What a wheel brings with it: the chapters, and the library kernel as WebAssembly."""
