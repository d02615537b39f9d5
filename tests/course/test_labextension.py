"""netlab's extension of JupyterLab is where JupyterLab looks for it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from jupyterlab_server.config import get_federated_extensions, get_page_config

from netlab.base.location import PACKAGES
from netlab_course import marks
from netlab_course.lab_command import EXTENSIONS

ROOT = Path(__file__).parents[2]
SCRIPT = EXTENSIONS / "netlab" / "static" / "remoteEntry.js"


def test_address_of_the_script_changes_with_its_content() -> None:
    text = json.loads((EXTENSIONS / "netlab" / "package.json").read_text())["jupyterlab"]["_build"]["load"]
    digest = hashlib.sha256(SCRIPT.read_bytes()).hexdigest()[:12]
    assert text == f"static/{SCRIPT.name}?v={digest}", "write this into package.json"


def test_jupyterlab_finds_the_extension_in_the_folder_that_netlab_lab_names() -> None:
    assert list(get_federated_extensions([str(EXTENSIONS)])) == ["netlab"]
    (entry,) = get_page_config([str(EXTENSIONS)])["federated_extensions"]
    assert (EXTENSIONS / entry["name"] / entry["load"].partition("?")[0]).is_file()


def test_the_extension_knows_the_room_for_an_answer_by_its_prompt() -> None:
    prompt, ellipsis = marks.PROMPT.split(" …")[0], marks.PROMPT[-1]
    script = SCRIPT.read_text(encoding="utf-8")
    assert f"/^{prompt.replace('*', chr(92) + '*')}/m" in script
    assert f'endsWith("{ellipsis}")' in script


@pytest.mark.slow
def test_a_wheel_puts_the_extension_where_every_jupyterlab_looks(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "carried", "recipe"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(tmp_path), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = [name for name in wheel.namelist() if ".data/data/share/jupyter/labextensions/netlab/" in name]
        assert sorted(name.partition("labextensions/netlab/")[2] for name in names) == [
            "package.json",
            "static/remoteEntry.js",
        ]
        assert wheel.read(next(name for name in names if name.endswith(".js"))) == SCRIPT.read_bytes()
