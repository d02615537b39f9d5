"""Definitions of virtual machines: an appliance that VirtualBox can read, and one script for all machines."""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.programs import ROOT, load

OVF = "{http://schemas.dmtf.org/ovf/envelope/1}"
RASD = "{http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData}"
SECTORS = 20_973_568


@pytest.fixture
def ova() -> ModuleType:
    return load("vm/ova.py")


def a_disk(folder: Path, flags: int = 0x30001) -> Path:
    disk = folder / "netlab-1234567-amd64.vmdk"
    disk.write_bytes((b"KDMV" + struct.pack("<IIQ", 3, flags, SECTORS)).ljust(512, b"\0") + b"x" * 1000)
    return disk


def test_an_appliance_describes_its_disk_and_its_machine(ova, tmp_path):
    disk = a_disk(tmp_path)
    with tarfile.open(ova.make(disk)) as tar:
        assert tar.getnames() == [f"{disk.stem}.ovf", f"{disk.stem}.mf", disk.name]
        text, manifest, inside = (tar.extractfile(name).read() for name in tar.getnames())
    assert inside == disk.read_bytes()
    for name, content in ((f"{disk.stem}.ovf", text), (disk.name, inside)):
        assert f"SHA256({name})= {hashlib.sha256(content).hexdigest()}\n" in manifest.decode()
    envelope = ET.fromstring(text)  # noqa: S314 (our own)
    file, found = envelope.find(f".//{OVF}File"), envelope.find(f".//{OVF}Disk")
    assert (file.get(f"{OVF}href"), int(file.get(f"{OVF}size"))) == (disk.name, 1512)
    assert found.get(f"{OVF}fileRef") == file.get(f"{OVF}id")
    assert int(found.get(f"{OVF}capacity")) == SECTORS * 512
    items = {item.findtext(f"{RASD}ResourceType"): item for item in envelope.iter(f"{OVF}Item")}
    assert set(items) == {"3", "4", "10", "17", "20"}
    assert items["17"].findtext(f"{RASD}HostResource") == f"/disk/{found.get(f'{OVF}diskId')}"
    assert items["17"].findtext(f"{RASD}Parent") == items["20"].findtext(f"{RASD}InstanceID")
    assert int(items["4"].findtext(f"{RASD}VirtualQuantity")) >= 2048


def test_a_disk_of_another_kind_is_told_how_to_make_the_right_one(ova, tmp_path):
    with pytest.raises(ValueError, match="subformat=streamOptimized"):
        ova.make(a_disk(tmp_path, flags=1))
    (tmp_path / "short.vmdk").write_bytes(b"KDMV")
    with pytest.raises(ValueError, match="no VMDK"):
        ova.make(tmp_path / "short.vmdk")


def test_every_machine_is_made_by_the_one_script():
    for name in ("build.sh", "cloud-init.yaml", "lima.yaml"):
        assert "machine.sh" in (ROOT / "vm" / name).read_text()


def calls(tmp_path: Path, script: str, **statuses: int) -> tuple[int, list[str]]:
    """Run a script where there are these programs only, each ending with its status; its own status, and what it called."""
    said = tmp_path / "said"
    said.touch()
    for name, status in statuses.items():
        program = tmp_path / name.replace("_", "-")
        program.write_text(f'#!/bin/sh\necho "{program.name} $*" >> {said}\nexit {status}\n')
        program.chmod(0o755)
    words = [str(shutil.which("sh")), "-c", script, "machine.sh", "SOURCE"]
    done = subprocess.run(words, env={"PATH": str(tmp_path)}, capture_output=True, check=False)
    return done.returncode, said.read_text().splitlines()


@pytest.mark.parametrize(
    ("enabled", "called"),
    [
        (0, ["systemctl is-enabled --quiet netlab.service"]),
        (1, ["systemctl is-enabled --quiet netlab.service", "apt-get update -q"]),
    ],
)
def test_a_machine_that_is_made_stays_as_it_is_when_it_starts_again_without_a_network(tmp_path, enabled, called):
    script = (ROOT / "vm" / "machine.sh").read_text()
    status, seen = calls(tmp_path, script, systemctl=enabled, apt_get=100)
    assert seen == called
    assert (status == 0) is (enabled == 0)


def test_lima_takes_a_debian_by_its_number_and_asks_apt_for_nothing_that_is_there(tmp_path):
    # Lima's names without a number lead to templates of whole machines, not to images.
    told = yaml.safe_load((ROOT / "vm" / "lima.yaml").read_text())
    assert told["base"] == "template:_images/debian-13"
    (made,) = told["provision"]
    status, seen = calls(tmp_path, made["script"], git=0, sh=0, apt_get=100)
    assert status == 0
    assert seen == ["git clone -q SOURCE /opt/netlab-source", "sh /opt/netlab-source/vm/machine.sh SOURCE"]
