"""Programs that a build calls."""

from pathlib import Path

import pytest

from netlab.base.errors import KernelError
from netlab_kernel import programs


def test_missing_and_killed_programs_are_reported(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="no-such-program: No such file"):
        programs.run(["no-such-program"], log=tmp_path / "log", doing="do it")
    with pytest.raises(KernelError, match=r"Could not do it \(ended by signal 9\)"):
        programs.run(["sh", "-c", "kill -9 $$"], log=tmp_path / "log", doing="do it")
