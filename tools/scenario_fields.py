"""Write the fields of each kind of traffic into the reference: `python tools/scenario_fields.py` rewrites the table in
docs/reference/scenario_file.md.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any, cast

from netlab.traffic import KINDS

PAGE = Path(__file__).parent.parent / "docs/reference/scenario_file.md"
HEAD = "| `kind` | fields |\n|---|---|\n"


def table() -> str:
    """Return the table: a row for each kind of traffic that a file can have, with its fields in the order of the class."""
    rows = []
    for name, kind in KINDS.items():
        # A field whose placeholder is None is a class of the user's own, which no file has.
        if None not in kind.required.values():
            fields = ", ".join(f"`{field.name}`" for field in dataclasses.fields(cast("Any", kind)))
            rows.append(f"| `{name}` | {fields} |\n")
    return HEAD + "".join(rows)


def rewrite_page(page: str) -> str:
    """Return the page's text with the present table in place of the one that it has."""
    return re.sub(f"{re.escape(HEAD)}(\\|.*\n)*", lambda _found: table(), page)


if __name__ == "__main__":
    PAGE.write_text(rewrite_page(PAGE.read_text()))
