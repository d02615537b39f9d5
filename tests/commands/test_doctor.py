"""The findings of `netlab doctor`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from netlab.commands import cli, doctor
from netlab_engines import doctor_report, host_kernel
from netlab_engines.kernels import pocket_kernel
from tests.stand_ins import answer_as_kernel


def test_doctor_names_missing_parts_and_the_remedy(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    monkeypatch.delenv("NETLAB_KERNEL", raising=False)
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    assert cli.main(["doctor"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "pocket kernel MISSING" in said
    assert "netlab kernel build" in said
    assert "Not ready: pocket kernel. Follow the advice above" in said


@pytest.mark.pocket
@pytest.mark.library
def test_doctor_boots_the_pocket_kernel_and_tells_why_it_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    assert cli.main(["doctor"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "kernel boot ok the pocket kernel starts in " in said and "Missing: " not in said
    forbidden = tmp_path / "linux"
    forbidden.write_text("#!/bin/sh\necho 'ptrace: Operation not permitted'\nexit 1\n")
    forbidden.chmod(0o755)
    kernel = replace(pocket_kernel.find(), path=forbidden)
    monkeypatch.setattr(pocket_kernel, "find", lambda: kernel)
    assert cli.main(["doctor"]) == 0, "runs of the library engine need no pocket kernel"
    said = " ".join(capsys.readouterr().out.split())
    assert "kernel boot MISSING the pocket kernel does not start" in said and "forbids both ways" in said
    assert said.endswith("Missing: kernel boot. Features that need it do not work; the advice is above.")


@pytest.mark.library
def test_our_own_library_kernel_lacks_nothing() -> None:
    (features,) = [found for found in doctor_report.library() if found.name == "kernel features"]
    assert features.ok, features.finding


NETEM_LACKS = {"netem": "Specified qdisc kind is unknown"}
RELEASE = "6.8.0-51-generic"


@pytest.mark.parametrize(
    ("system", "lacks", "seen", "does"),
    [
        ("ubuntu", NETEM_LACKS, "kernel no lacks netem", f"`sudo apt install linux-modules-extra-{RELEASE}`"),
        ("fedora", NETEM_LACKS, "kernel no lacks netem", f"`sudo dnf install kernel-modules-extra-{RELEASE}`"),
        (
            "ubuntu",
            {"dualpi2": "Specified qdisc kind is unknown"},
            "kernel features no lacks dualpi2",
            f"This kernel is {RELEASE}; dualpi2 came with Linux 6.17. The pocket",
        ),
    ],
)
def test_doctor_names_missing_features_of_the_machines_kernel_and_the_remedy(
    monkeypatch: pytest.MonkeyPatch, system: str, lacks: dict[str, str], seen: str, does: str
) -> None:
    monkeypatch.setattr("platform.release", lambda: RELEASE)
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": system})
    monkeypatch.setattr(host_kernel, "is_in_container", lambda: False)
    monkeypatch.setattr(host_kernel, "privilege", list)
    monkeypatch.setattr("shutil.which", lambda name, **_more: f"/usr/bin/{name}")
    answer_as_kernel(monkeypatch, lacks)
    said = native_section()
    assert seen in said and does in said


def test_doctor_reports_that_the_native_engine_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_kernel, "privilege", lambda: None)
    said = native_section()
    assert "root no neither root nor sudo without a password Run as root, or allow this user to use sudo" in said
    assert "the pocket and the library engine need neither" in said
    assert "kernel" not in said.partition("mnexec")[0]


def test_doctor_does_not_take_a_kernel_that_did_not_answer_to_lack_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_kernel, "privilege", list)
    monkeypatch.setattr("shutil.which", lambda name, **_more: f"/usr/bin/{name}")
    answer_as_kernel(monkeypatch, "", 0, "python: no")
    said = native_section()
    assert "kernel no not known Cannot determine the features of this machine's kernel (python: no)." in said
    assert "all that netlab uses" not in said


def native_section() -> str:
    """Return doctor's section on the native engine as one line."""
    return " ".join(" ".join(doctor.section_lines("Native engine", doctor_report.native(), 100)).split())
