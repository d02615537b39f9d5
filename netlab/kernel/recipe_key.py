"""Keys of the cache: what a build depends on, as a hash."""

from __future__ import annotations

import hashlib
import platform

from netlab.kernel.edits import RECIPE, edits


def recipe_hash() -> str:
    """Hash of configuration, additions and edits: a change of any makes a new kernel."""
    digest = hashlib.sha256()
    for path in sorted(RECIPE.iterdir()):
        if path.suffix in {".c", ".h", ".config"}:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for edit in edits():
        digest.update(f"{edit.path}\0{edit.pattern}\0{edit.replacement}\0".encode())
    return digest.hexdigest()


def build_key(source_id: str) -> str:
    """Twelve digits that name the build of one source by this recipe for this architecture."""
    return hashlib.sha256(f"{source_id}\0{recipe_hash()}\0{platform.machine()}".encode()).hexdigest()[:12]
