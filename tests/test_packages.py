"""The cost of importing netlab, and its message when another of its packages is missing."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

from netlab.base import packages
from netlab.base.location import IMPORT_ROOT, PACKAGES

MAX_MODULES = 90
PROGRAM = """
import sys
sys.path[:0] = {places!r}
import netlab as nl
{use}
"""
RUN = "nl.run(nl.topologies.dumbbell(1), [nl.Ping('h1', 'h2')], duration_s=1)"
API = """
import sys
import netlab as nl
for name in nl.__all__:
    if name not in ("live", "checks", "progress"):
        getattr(nl, name)
print(*(name for name in sys.modules if name.partition(".")[0].startswith("netlab")))
"""


@pytest.mark.slow
def test_importing_the_api_loads_few_modules_and_neither_agent_nor_kernel_build() -> None:
    done = subprocess.run([sys.executable, "-c", API], capture_output=True, text=True, check=True, cwd=IMPORT_ROOT)
    loaded = done.stdout.split()
    assert "netlab.runs.experiment" in loaded
    assert not [name for name in loaded if name.partition(".")[0] != "netlab"]
    assert len(loaded) <= MAX_MODULES


def with_packages(names: Sequence[str], home: Path, use: str) -> subprocess.CompletedProcess[str]:
    """Run a program that sees only some of netlab's packages, and not those of this installation."""
    home.mkdir()
    for name in names:
        (home / name).symlink_to(IMPORT_ROOT / name)
    # An editable installation adds its packages by a .pth file, which a path of this kind does not read.
    places = [str(home), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    command = [sys.executable, "-S", "-c", PROGRAM.format(places=places, use=use)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=home)


@pytest.mark.slow
def test_a_missing_package_is_named_with_the_remedy(tmp_path: Path) -> None:
    for number, use in enumerate((RUN, "nl.live", "nl.widgets.live")):
        done = with_packages(["netlab"], tmp_path / str(number), use)
        assert done.returncode == 1
        assert "The package netlab_engines is not installed" in done.stderr, done.stderr
        assert "pip install netlab" in done.stderr


@pytest.mark.pocket
@pytest.mark.parametrize("engine", ["pocket", "library"])
def test_engines_run_without_the_packages_for_maintainers_and_instructors(engine: str, tmp_path: Path) -> None:
    use = f"print({RUN.replace('duration_s', f'engine={engine!r}, duration_s')}.flows)"
    done = with_packages(["netlab", "netlab_user_code", "netlab_engines"], tmp_path / "home", use)
    assert done.returncode == 0 and "ping" in done.stdout, done.stderr


def test_a_module_that_is_missing_in_an_installed_package_is_an_error_as_such() -> None:
    with pytest.raises(ModuleNotFoundError, match="netlab_engines.nothing"):
        packages.load("netlab_engines.nothing")


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_has_a_page_of_one_screen_whose_modules_exist(package: str) -> None:
    home = IMPORT_ROOT / package
    text = (home / "README.md").read_text()
    assert len(text.splitlines()) <= 40
    assert f"make quick PACKAGE={package}" in text
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    folder = ""
    for name in re.findall(r"`([\w/.<>]+)`", "".join(rows)):
        folder = name.partition("/")[0] if "/" in name else folder
        places = [home / name.replace("<topic>", "udp_loss"), home / f"{name}.py", home / folder / f"{name}.py"]
        assert any(place.exists() for place in places), name
