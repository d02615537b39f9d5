"""Programs that are in no package, as modules that a test can call."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def load(path: str) -> ModuleType:
    """A program of the clone, such as "tools/setup.py", loaded anew."""
    name = "netlab_" + Path(path).stem
    folder = str((ROOT / path).parent)
    if folder not in sys.path:
        # A program finds the modules in its directory, as when Python runs it.
        sys.path.append(folder)
    specification = importlib.util.spec_from_file_location(name, ROOT / path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # Its dataclasses look their own module up.
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module
