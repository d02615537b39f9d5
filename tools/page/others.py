"""In the page's Python: finds the modules that no chapter needs at first, in an archive that is fetched when one of them is imported."""

from __future__ import annotations

import sys
import zipimport
from importlib.machinery import ModuleSpec
from pathlib import Path

ARCHIVE = Path("/lib/others.zip")
NAMES = frozenset(Path(__file__).with_name("_others.txt").read_text(encoding="utf-8").split())


class OtherPackagesFinder:
    """A finder of `sys.meta_path`."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Return where a module is, if the archive has it."""
        if name not in NAMES:
            return None
        if not ARCHIVE.exists():
            import js  # type: ignore[import-not-found]

            ARCHIVE.write_bytes(js.netlabOthers().to_py())
        folder = name.rpartition(".")[0].replace(".", "/")
        return zipimport.zipimporter(f"{ARCHIVE}/{folder}" if folder else str(ARCHIVE)).find_spec(name)


def install() -> None:
    """Begin, and look for modules in the notebook's folder last: there, each look asks the page."""
    sys.meta_path.insert(0, OtherPackagesFinder())
    sys.path.append(sys.path.pop(sys.path.index("")))
