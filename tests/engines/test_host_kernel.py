"""The tests of this machine's own kernel: no part counts as present without a test, and the remedies fit the machine."""

from __future__ import annotations

import gzip
import json
import platform
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.base.errors import EngineError, NotHereError
from netlab_engines import host_kernel
from netlab_engines.kernels.parts import PARTS
from netlab_engines.kernels.versions import read_config
from netlab_engines.native import NativeEngine
from tests.stand_ins import HOST_PARTS, answer_as_kernel

CONFIG = Path("/proc/config.gz")


@given(
    asked=st.sets(st.sampled_from(HOST_PARTS)),
    returncode=st.sampled_from([0, 0, 1, 2, -9]),
    garbled=st.sampled_from(["", "null", "[]", "{", None]),
)
def test_a_kernel_whose_features_are_unknown_is_an_error(asked: set[str], returncode: int, garbled: str | None) -> None:
    if returncode == 0 and garbled is None and asked == set(HOST_PARTS):
        return
    text = json.dumps(dict.fromkeys(asked, "")) if garbled is None else garbled
    with pytest.MonkeyPatch.context() as patch:
        answer_as_kernel(patch, text, returncode, "unshare: Operation not permitted")
        for ask in (host_kernel.kernel_errors, host_kernel.missing_parts, NativeEngine().differences):
            with pytest.raises(
                EngineError,
                match=r"Cannot determine the features of this machine's kernel \(unshare: Operation not permitted",
            ):
                ask()
        for found in (host_kernel.links(), host_kernel.features()):
            assert not found.ok and found.finding == "not known" and "Cannot determine the features" in found.remedy
        with pytest.raises(EngineError, match="Cannot determine the features"):
            NativeEngine().refuse(nl.Scenario(nl.topologies.dumbbell(1), [nl.Ping("h1", "h2")]).plan())


@given(refused=st.sets(st.sampled_from(HOST_PARTS)))
def test_missing_parts_are_the_refused_ones(refused: set[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        answer_as_kernel(patch, dict.fromkeys(refused, "unknown"))
        links, features = host_kernel.links(), host_kernel.features()
        assert set(host_kernel.missing_parts()) == refused - set(host_kernel.NEEDED_PARTS)
    assert links.ok == (not refused & set(host_kernel.NEEDED_PARTS))
    assert features.ok == (not refused - set(host_kernel.NEEDED_PARTS))
    for found in (links, features):
        assert bool(found.remedy) == (not found.ok)
    text = links.finding + features.finding
    assert all(name in text for name in refused)


@pytest.mark.root
def test_this_machines_kernel_refuses_features_that_its_configuration_lacks() -> None:
    """No device of a kind that few kernels have stands between the question and the answer."""
    if not CONFIG.exists():
        pytest.skip("this machine's kernel does not show its configuration")
    configured = read_config(gzip.decompress(CONFIG.read_bytes()).decode())
    text = host_kernel.kernel_errors()
    for name in HOST_PARTS:
        if configured.get(PARTS[name].symbol) == "y":
            assert not text[name], (name, text[name])
        elif configured.get(PARTS[name].symbol) != "m" and text[name] is not None:
            assert "No such file" in text[name], (name, text[name])


@pytest.mark.root
def test_dependants_of_a_refused_part_are_not_probed() -> None:
    result = host_kernel.kernel_errors()
    assert (result["mirred"] is None) == (result["matchall"] != "")


RELEASE = "6.12.30-amd64"
UBUNTU, FEDORA = "linux-modules-extra-6.12.30-amd64`", "kernel-modules-extra-6.12.30-amd64`"


@pytest.mark.parametrize(
    ("system", "release", "mark", "says", "says_not"),
    [
        ("ID=ubuntu\nID_LIKE=debian\n", RELEASE, "", f"`sudo apt install {UBUNTU}", "dnf"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', RELEASE, "", f"`sudo apt install {UBUNTU}", "Debian's own kernels"),
        ("ID=fedora\n", RELEASE, "", f"`sudo dnf install {FEDORA}", "apt"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', RELEASE, "", f"`sudo dnf install {FEDORA}", "apt"),
        ("ID=debian\n", RELEASE, "", "Debian's own kernels have these modules", "apt"),
        ("ID=arch\n", RELEASE, "", "a separate package", "apt"),
        (None, RELEASE, "", "a separate package", "apt"),
        ("ID=ubuntu\n", "6.6.87.2-microsoft-standard-WSL2", "", "`wsl --update` in Windows", "apt"),
        ("ID=ubuntu\n", RELEASE, ".dockerenv", "install the modules on the host", "apt"),
        ("ID=ubuntu\n", RELEASE, "KUBERNETES_SERVICE_HOST", "install the modules on the host", "apt"),
    ],
)
def test_remedies_fit_the_machine(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    system: str | None,
    release: str,
    mark: str,
    says: str,
    says_not: str,
) -> None:
    stand_at(monkeypatch, tmp_path, system, release, mark)
    text = host_kernel.remedy(["netem", "vegas"])
    assert "could not load the modules sch_netem, tcp_vegas." in text
    assert says in text and says_not not in text
    assert text.endswith("The pocket and the library engine bring their own kernel.")


def stand_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, system: str | None, release: str, mark: str = "") -> None:
    def os_release() -> dict[str, str]:
        if system is None:
            raise OSError("no os-release")
        pairs = (line.split("=") for line in system.splitlines())
        return {name: value.strip('"') for name, value in pairs}

    monkeypatch.setattr("platform.release", lambda: release)
    monkeypatch.setattr("platform.freedesktop_os_release", os_release)
    monkeypatch.setattr(host_kernel, "CONTAINERS", (str(tmp_path / ".dockerenv"),))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    if mark.startswith("."):
        (tmp_path / mark).touch()
    elif mark:
        monkeypatch.setenv(mark, "10.0.0.1")


@pytest.mark.parametrize(
    ("missing", "release", "says", "says_not"),
    [
        ((), RELEASE, [], ["engine"]),
        (("tahoe",), RELEASE, ["Only netlab's own kernels have tahoe."], ["modules", "apt"]),
        (("dualpi2",), RELEASE, ["This kernel is 6.12.30-amd64; dualpi2 came with Linux 6.17."], ["modules", "apt"]),
        (("dualpi2",), "6.17.0-5-generic", ["could not load the modules sch_dualpi2."], ["came with"]),
        (
            ("cake", "dualpi2", "tahoe"),
            RELEASE,
            ["could not load the modules sch_cake.", "came with", "own kernels have tahoe"],
            [],
        ),
        # Built in or not there at all: no module to look for.
        (("fifo",), RELEASE, ["bring their own kernel"], ["modules"]),
    ],
)
def test_a_module_is_looked_for_only_where_there_can_be_one(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    missing: tuple[str, ...],
    release: str,
    says: list[str],
    says_not: list[str],
) -> None:
    stand_at(monkeypatch, tmp_path, "ID=ubuntu\n", release)
    text = host_kernel.remedy(missing)
    assert all(words in text for words in says), text
    assert not any(words in text for words in says_not), text


def test_a_run_is_refused_for_a_missing_feature_of_its_plan_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer_as_kernel(monkeypatch, {"dualpi2": "unknown", "cake": "unknown"})
    stand_at(monkeypatch, tmp_path, "ID=debian\n", RELEASE)
    topology = nl.topologies.dumbbell(1, aqm="dualpi2")
    with pytest.raises(NotHereError, match=r"needs dualpi2, which .* came with Linux 6\.17\. The pocket"):
        NativeEngine().refuse(nl.Scenario(topology, [nl.Tcp("h1", "h2")]).plan())


def test_native_engine_reports_missing_root_without_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_kernel, "privilege", lambda: None)
    monkeypatch.setattr("subprocess.run", lambda *_words, **_more: pytest.fail("asked without root"))
    monkeypatch.setattr(shutil, "which", lambda name, **_more: f"/usr/bin/{name}")
    found = {requirement.name: requirement for requirement in NativeEngine().requirements()}
    assert not found["root"].ok and "kernel" not in found and "namespaces" not in found
    assert "allow this user to use sudo without a password" in found["root"].remedy
    assert "the pocket and the library engine need neither" in found["root"].remedy


@pytest.mark.parametrize("contained", [True, False])
def test_root_without_namespaces_gets_no_advice_about_modules(monkeypatch: pytest.MonkeyPatch, contained: bool) -> None:
    refused = "unshare: unshare failed: Operation not permitted"
    monkeypatch.setattr(host_kernel, "privilege", list)
    monkeypatch.setattr(host_kernel, "is_in_container", lambda: contained)
    monkeypatch.setattr(shutil, "which", lambda name, **_more: f"/usr/bin/{name}")
    answer_as_kernel(monkeypatch, "", 1, refused)
    *_others, last = NativeEngine().requirements()
    assert (last.name, last.ok, last.finding) == ("namespaces", False, refused)
    assert ("docker run --privileged" in last.remedy) is contained
    assert "modules" not in last.remedy


def test_features_are_queried_in_a_separate_python_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = answer_as_kernel(monkeypatch, {})
    monkeypatch.setattr(host_kernel, "privilege", lambda: ["sudo", "-n"])
    assert host_kernel.missing_parts() == ()
    assert commands[0][:3] == ["sudo", "-n", sys.executable]
    assert host_kernel.links().finding == f"{platform.release()} has all that links need"
