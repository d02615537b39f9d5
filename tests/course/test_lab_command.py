"""The defaults that `netlab lab` gives to JupyterLab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netlab_course import lab_command

OLD = lab_command._as_text(lab_command._QUIET)


@pytest.mark.parametrize(("before", "kept"), [(None, False), (OLD, False), ('{"mine": {}}', True)])
def test_jupyterlab_saves_soon_unless_somebody_has_set_its_defaults(
    tmp_path: Path, before: str | None, kept: bool
) -> None:
    path = tmp_path / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    path.parent.mkdir(parents=True)
    if before is not None:
        path.write_text(before)
    lab_command._set_defaults(tmp_path)
    if kept:
        assert path.read_text() == before
    else:
        assert json.loads(path.read_text())["@jupyterlab/docmanager-extension:plugin"] == {"autosaveInterval": 10}
        assert json.loads(OLD).items() <= json.loads(path.read_text()).items()
