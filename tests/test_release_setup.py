"""The set-up for a release installs what only a release needs."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.programs import ROOT
from tests.set_up import never, without


def test_system_packages_can_be_installed_for_another_user(monkeypatch, setup):
    """`--system`: what the next user's set-up needs, also where this user's own environment is ready; nothing else."""
    calls = []
    monkeypatch.setattr(setup, "environment_is_ready", lambda: True)
    monkeypatch.setattr(setup, "missing_kernels", lambda: ["pocket", "library"])
    monkeypatch.setattr(setup, "missing_programs", lambda *what, **named: calls.append((what, named)) or ["flex"])
    monkeypatch.setattr(setup, "install_system_packages", lambda *what: calls.append(what))
    monkeypatch.setattr(setup, "make_environment_and_kernels", never)
    assert setup.main(["--system"]) == 0
    assert calls == [((True,), {"for_environment": True}), (["flex"], True)]


@pytest.mark.parametrize(
    ("absent", "packages"),
    [
        ((), []),
        (("npm",), ["npm"]),
        (
            ("node", "npm", "aarch64-linux-gnu-gcc"),
            ["nodejs", "npm", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
        ),
    ],
)
def test_a_release_installs_its_own_programs_although_all_others_are_installed(
    monkeypatch, setup, absent, packages, tmp_path
):
    calls = []
    without(monkeypatch, setup, *absent)
    monkeypatch.setattr(setup, "LOG", tmp_path / "log")
    monkeypatch.setattr(setup, "environment_is_ready", lambda: True)
    monkeypatch.setattr(setup, "missing_kernels", list)
    monkeypatch.setattr(setup, "missing_programs", lambda *_what: [])
    monkeypatch.setattr(setup.release_programs, "_has_headers", lambda: True)
    monkeypatch.setattr(setup, "install_system_packages", lambda missing, _kernel: calls.append(missing))
    assert setup.main(["--release"]) == 0
    assert [[setup.package_of(program) for program in missing] for missing in calls] == [packages][: len(packages)]
    assert setup.main([]) == 0 and len(calls) <= 1, "only a release needs them"


@pytest.mark.parametrize(("absent", "requested"), [(["ping", "flex"], [["ping", "flex"]]), (["ping"], [])])
def test_a_release_needs_the_programs_that_build_a_kernel_although_kernels_are_installed(
    monkeypatch, setup, absent, requested, tmp_path
):
    found = []
    monkeypatch.setattr(setup, "LOG", tmp_path / "log")
    monkeypatch.setattr(setup, "environment_is_ready", lambda: True)
    monkeypatch.setattr(setup, "missing_kernels", list)
    monkeypatch.setattr(setup, "missing_programs", lambda for_kernel, _environment: absent if for_kernel else [])
    monkeypatch.setattr(setup.release_programs, "missing_programs", lambda **_more: [])
    monkeypatch.setattr(setup, "install_system_packages", lambda missing, _kernel: found.append(missing))
    assert setup.main(["--release"]) == 0
    assert found == requested


def test_an_arm_compiler_without_a_c_library_is_not_enough_for_a_release(monkeypatch, setup):
    without(monkeypatch, setup)
    monkeypatch.setattr(setup.subprocess, "run", lambda command, **_more: subprocess.CompletedProcess(command, 1))
    assert [setup.package_of(name) for name in setup.release_programs.missing_programs()] == ["libc6-dev-arm64-cross"]


def test_only_a_release_with_an_image_needs_the_programs_that_make_it(monkeypatch, setup, tmp_path):
    without(monkeypatch, setup, "qemu-img", "syslinux")
    monkeypatch.setattr(setup, "missing_programs", lambda *_what: [])
    monkeypatch.setattr(setup.release_programs, "_has_headers", lambda: True)
    calls = []
    monkeypatch.setattr(setup, "environment_is_ready", lambda: True)
    monkeypatch.setattr(setup, "missing_kernels", list)
    monkeypatch.setattr(setup, "LOG", tmp_path / "log")
    monkeypatch.setattr(setup, "install_system_packages", lambda missing, _kernel: calls.extend(missing))
    assert setup.main(["--release"]) == 0 and calls == []
    assert setup.main(["--release", "--image"]) == 0
    assert [setup.package_of(name) for name in calls] == ["qemu-utils", "syslinux syslinux-common"]


def test_the_packages_for_an_image_are_those_that_its_script_names(setup):
    packages = " ".join(setup.release_programs.IMAGE.values()).split()
    assert set(packages) <= set(re.findall(r"[\w-]+", (ROOT / "vm" / "build.sh").read_text()))


def test_make_release_installs_the_programs_of_a_release():
    rule = re.search(r"^release:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    assert rule.index("tools/setup.sh --release") < rule.index("tools/release.py")
