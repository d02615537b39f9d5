"""The defaults that `netlab lab` gives to JupyterLab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netlab_course import lab_command
from netlab_course.lab_command import DEFAULTS

ROOT = Path(__file__).parents[2]
NOTIFICATION, TRACKER = "@jupyterlab/apputils-extension:notification", "@jupyterlab/notebook-extension:tracker"
EARLIER = {NOTIFICATION: DEFAULTS[NOTIFICATION]}


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        (None, False),
        (json.dumps(EARLIER, indent=1), False),
        (json.dumps({**DEFAULTS, TRACKER: {"windowingMode": "none"}}), False),
        (json.dumps({TRACKER: {"windowingMode": "full"}}), True),
        (json.dumps({TRACKER: {"windowingMode": "none", "recordTiming": True}}), True),
        (json.dumps({**EARLIER, "mine": {}}), True),
        (json.dumps({**EARLIER, TRACKER: 1}), True),
        ("[]", True),
        ("not JSON", True),
    ],
)
def test_jupyterlab_gets_defaults_only_for_unset_settings(tmp_path: Path, before: str | None, kept: bool) -> None:
    path = tmp_path / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    path.parent.mkdir(parents=True)
    if before is not None:
        path.write_text(before)
    lab_command._set_defaults(tmp_path)
    if kept:
        assert path.read_text() == before
    else:
        assert json.loads(path.read_text()) == DEFAULTS


def test_the_image_has_the_defaults() -> None:
    assert json.loads((ROOT / "binder" / "overrides.json").read_text()) == DEFAULTS
