"""The limits of a container as a hub makes it for a student."""

from __future__ import annotations

import json
import os
from types import ModuleType

import pytest

from tests.programs import load


@pytest.fixture(scope="module")
def container() -> ModuleType:
    return load("tools/student_container.py")


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ({}, True),
        ({"includes": {"caps": ["CAP_SYS_ADMIN"]}}, False),
        ({"excludes": {"caps": ["CAP_SYS_ADMIN"]}}, True),
        ({"excludes": {"caps": ["CAP_SYS_ADMIN"], "arches": ["s390"]}}, True),
        ({"excludes": {"arches": ["amd64"]}}, False),
        ({"includes": {"arches": ["amd64", "x32"]}}, True),
        ({"includes": {"arches": ["arm64"]}}, False),
        ({"includes": {"minKernel": "4.8"}}, True),
        ({"includes": {"minKernel": "6.13"}}, False),
    ],
)
def test_a_rule_of_the_profile_holds_as_for_a_container_without_capabilities(container, rule, holds):
    assert container.applies(rule, "amd64", (6, 12)) is holds


def test_a_trial_gives_a_student_no_right_that_a_hub_would_not(container, tmp_path, monkeypatch):
    machine = os.uname().machine
    profile = tmp_path / "seccomp.json"
    allowed = {"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": None}
    denied = {"names": ["mount"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}}
    architectures = [{"architecture": f"SCMP_ARCH_{machine.upper()}", "subArchitectures": None}]
    words = {"defaultAction": "SCMP_ACT_ERRNO", "archMap": architectures, "syscalls": [allowed, denied]}
    profile.write_text(json.dumps(words))
    settings = {"Entrypoint": ["tini", "--"], "Env": ["LANG=C.UTF-8"], "WorkingDir": "/home/jovyan"}
    result = container.specification("x", tmp_path, settings, tmp_path, tmp_path, profile, ["netlab", "doctor"])
    assert result["process"]["args"] == ["tini", "--", "netlab", "doctor"]
    assert result["process"]["user"] == {"uid": 1000, "gid": 1000}
    assert not any(result["process"]["capabilities"].values())
    assert result["process"]["noNewPrivileges"] and result["root"]["readonly"]
    writable = [mount["destination"] for mount in result["mounts"] if mount["type"] == "bind"]
    assert writable == ["/home/jovyan", "/tmp"]
    seccomp = result["linux"]["seccomp"]
    assert [rule["names"] for rule in seccomp["syscalls"]] == [["read"]]
    assert (seccomp["defaultAction"], seccomp["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", 1)
