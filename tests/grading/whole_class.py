"""All students, those who are honest and those who attack.

`python -m tests.grading.whole_class DIRECTORY` writes the files, to look at or to grade by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.grading.classroom import Pupil, honest, sample_chapter, write
from tests.grading.hostile_pupils import hostile


def whole_class(victim: Path) -> list[Pupil]:
    """All of the class."""
    return [*honest(), *hostile(victim)]


if __name__ == "__main__":
    with sample_chapter():
        write(Path(sys.argv[1]), whole_class(Path(sys.argv[1]).parent))
