"""Write the hashes of the recipes to `netlab_engines/kernels/recipes.py`: by them, engines recognize builds of this
version. The files that `wire_format` generates are written before, because one of them is part of a recipe.

Run `python -m netlab_kernel.recipes` after a change of a recipe; a build and the set-up do it, too.
"""

from pathlib import Path

from netlab_engines.kernels import recipes
from netlab_engines.kernels.library_kernel import WASM
from netlab_kernel import edits, library_build, wire_format

TEXT = '''\
"""The hashes of the recipes of this version's kernels. Made by `python -m netlab_kernel.recipes`: change a recipe instead."""

POCKET = "{POCKET}"
LIBRARY = "{LIBRARY}"
WASM = "{WASM}"
'''


def current_hashes() -> dict[str, str]:
    """Return the SHA-256 of each kernel's recipe in hexadecimal digits, computed from the present files, by the name of
    its constant: POCKET, LIBRARY and WASM.
    """
    return {
        "POCKET": edits.recipe_hash(),
        "LIBRARY": library_build.recipe_hash(),
        "WASM": library_build.recipe_hash(WASM),
    }


def refresh() -> bool:
    """Write the wire format's generated files, and the hashes of the present recipes to the module
    netlab_engines.kernels.recipes, unless they are there already, and return whether any hash had changed; this process
    uses the new hashes at once. Raises OSError if a file cannot be written.
    """
    wire_format.refresh()
    found = current_hashes()
    changed = {name: value for name, value in found.items() if getattr(recipes, name) != value}
    if changed:
        Path(recipes.__file__).write_text(TEXT.format(**found))
        for name, value in changed.items():
            setattr(recipes, name, value)
    return bool(changed)


if __name__ == "__main__":
    refresh()
