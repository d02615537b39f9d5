"""The type of an edit of the kernel's source, and the folder of netlab's own source files."""

from dataclasses import dataclass
from pathlib import Path

from netlab_engines.kernels.versions import Version

RECIPE = Path(__file__).parent / "recipe"


@dataclass(frozen=True)
class Edit:
    """Replace the only place that `pattern`, a regular expression, matches in the file `path` of the kernel's source by
    the text `replacement`; `reason` is the purpose, a clause for error messages.
    """

    path: str
    pattern: str
    replacement: str
    reason: str
    since: Version = ()
    """The first Linux version that needs the edit; older ones do not have the place."""
