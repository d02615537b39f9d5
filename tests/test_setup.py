"""The set-up says what is missing and how to get it, and does not do again what is done."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from tests.programs import ROOT, load

PROGRAMS = ["gcc", "flex"]


@pytest.fixture
def setup() -> ModuleType:
    return load("tools/setup.py")


def without(monkeypatch, setup, *absent):
    find = setup.shutil.which
    monkeypatch.setattr(
        setup.shutil, "which", lambda name, **more: None if name in absent else find(name, **more) or name
    )


def never(*_words, **_more):
    raise AssertionError("nothing must be run")


def test_a_system_without_apt_is_told_exactly_which_programs_are_needed(monkeypatch, setup):
    without(monkeypatch, setup, "apt-get", "dnf", "pacman", "zypper")
    monkeypatch.setattr(setup.subprocess, "run", never)
    with pytest.raises(setup.SetupError) as caught:
        setup.install_system_packages([*PROGRAMS, "headers", "tc"])
    said = str(caught.value)
    assert "These are missing: gcc, flex, headers, tc." in said
    assert "flex gcc iproute2 libc6-dev" in said
    assert "unpack FILE" in said


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("dnf", "sudo dnf install flex gcc glibc-devel kernel-headers iproute iproute-tc"),
        ("pacman", "sudo pacman -S --needed flex gcc glibc linux-api-headers iproute2"),
        ("zypper", "sudo zypper install flex gcc glibc-devel linux-glibc-devel iproute2"),
    ],
)
def test_another_distribution_is_told_its_own_line(monkeypatch, setup, tool, line):
    without(monkeypatch, setup, *{"apt-get", "dnf", "pacman", "zypper"} - {tool})
    monkeypatch.setattr(setup.subprocess, "run", never)
    with pytest.raises(setup.SetupError) as caught:
        setup.install_system_packages(["gcc", "flex", "headers", "tc"])
    assert line in str(caught.value)


def test_a_user_without_sudo_gets_the_line_for_the_administrator(monkeypatch, setup):
    without(monkeypatch, setup, "sudo")
    monkeypatch.setattr(setup.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(setup.subprocess, "run", never)
    with pytest.raises(setup.SetupError, match="ask your administrator for\n  apt-get install .* iproute2"):
        setup.install_system_packages(["ip"])


def test_nobody_is_asked_for_a_password_when_only_a_convenience_is_missing(monkeypatch, setup):
    monkeypatch.setattr(setup.subprocess, "run", never)
    setup.install_system_packages(["ping"])
    setup.install_system_packages([])


@pytest.mark.parametrize(("uid", "prefix"), [(0, []), (1000, ["sudo", "-n"])])
def test_apt_is_run_without_questions(monkeypatch, setup, tmp_path, uid, prefix):
    without(monkeypatch, setup)
    ran = []

    def run(command, **more):
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(setup, "LOG", tmp_path / "log")
    monkeypatch.setattr(setup.os, "geteuid", lambda: uid)
    monkeypatch.setattr(setup.sys.stdin, "isatty", lambda: False, raising=False)
    monkeypatch.setattr(setup.subprocess, "run", run)
    setup.install_system_packages(["flex"])
    assert ran[1] == [
        *prefix,
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "install",
        "-y",
        "--no-install-recommends",
        "flex",
    ]


def test_an_environment_is_made_again_when_the_pins_change(monkeypatch, setup, tmp_path):
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    for name in ("requirements.lock", "requirements-3.10.lock", "pyproject.toml"):
        (tmp_path / name).write_text("numpy==1\n")
    stamps = [setup.environment_stamp(11), setup.environment_stamp(12), setup.environment_stamp(10)]
    (tmp_path / "requirements.lock").write_text("numpy==2\n")
    assert setup.environment_stamp(11) not in stamps
    assert setup.environment_stamp(12) not in stamps
    assert setup.environment_stamp(10) == stamps[2]


def test_a_directory_that_is_no_environment_is_not_kept(monkeypatch, setup, tmp_path):
    monkeypatch.setattr(setup, "VENV", tmp_path / ".venv")
    assert setup.environment_minor() is None
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    assert setup.environment_minor() is None


def test_every_pin_is_exact():
    for name in ("requirements.lock", "requirements-3.10.lock"):
        lines = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]
        assert lines
        assert [line for line in lines if line.count("==") != 1 or " " in line] == []


def test_the_system_packages_can_be_installed_for_somebody_else(monkeypatch, setup):
    """`--system`: what the next user's set-up needs, also where this user's own environment is ready; nothing else."""
    asked = []
    monkeypatch.setattr(setup, "environment_is_ready", lambda: True)
    monkeypatch.setattr(setup, "kernels_are_ready", lambda: False)
    monkeypatch.setattr(setup, "missing_programs", lambda *what, **named: asked.append((what, named)) or ["flex"])
    monkeypatch.setattr(setup, "install_system_packages", asked.append)
    monkeypatch.setattr(setup, "make_environment_and_kernel", never)
    assert setup.main(["--system"]) == 0
    assert asked == [((True,), {"for_environment": True}), ["flex"]]


def test_an_unknown_argument_of_the_set_up_is_told(capsys, setup):
    assert setup.main(["--sytsem"]) == 2
    assert "--system, got --sytsem" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pocket", "own", "failure", "machine", "ready"),
    [
        (True, True, "", "x86_64", True),
        (True, False, "", "x86_64", False),
        (True, False, "It does not link.", "x86_64", True),
        (False, True, "", "x86_64", False),
        (False, True, "", "aarch64", True),
        (False, False, "", "aarch64", False),
    ],
)
def test_the_set_up_builds_what_this_machine_can_run_and_does_not_try_in_vain_again(
    monkeypatch, setup, pocket, own, failure, machine, ready
):
    class Found:
        build = {"recipe": setup.recipe_hash()}  # noqa: RUF012 (a stand-in)

    monkeypatch.delenv("NETLAB_KERNEL", raising=False)
    monkeypatch.setattr(setup.installed, "builds", lambda: [Found()] if pocket else [])
    monkeypatch.setattr(setup.library, "ready", lambda: Found() if own else None)
    monkeypatch.setattr(setup.library, "failure", lambda: failure)
    monkeypatch.setattr(setup.building.platform, "machine", lambda: machine)
    assert setup.kernels_are_ready() is ready


def test_python_beside_a_clone_finds_the_package_and_not_the_folder(setup, tmp_path):
    """A clone is called netlab, as the package is: from its parent the folder would be imported, which has nothing in it."""
    clone, site = tmp_path / "netlab", tmp_path / "site"
    (clone / "netlab").mkdir(parents=True)
    (clone / "netlab" / "__init__.py").write_text("Topology = 'found'\n")
    site.mkdir()
    program = setup.CLONE_ON_PATH.replace('sysconfig.get_path("purelib")', repr(str(site)))
    subprocess.run([sys.executable, "-c", program, str(clone)], check=True)
    look = f"import site, sys; sys.path[:] = [p for p in sys.path if 'site' not in p]; site.addsitedir({str(site)!r}); "
    said = subprocess.run(
        [sys.executable, "-S", "-c", look + "import netlab; print(netlab.Topology)"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert said.stdout == "found\n", said.stderr
