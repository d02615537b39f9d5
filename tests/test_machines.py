"""Definitions of virtual machines: an appliance that VirtualBox can read, and one script for all machines."""

from __future__ import annotations

import hashlib
import os
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


def test_disk_of_another_kind_is_reported_with_the_way_to_make_one(ova, tmp_path):
    with pytest.raises(ValueError, match="subformat=streamOptimized"):
        ova.make(a_disk(tmp_path, flags=1))
    (tmp_path / "short.vmdk").write_bytes(b"KDMV")
    with pytest.raises(ValueError, match="is not a VMDK"):
        ova.make(tmp_path / "short.vmdk")


def test_every_machine_is_made_by_the_one_script():
    for name in ("build.sh", "cloud-init.yaml", "lima.yaml"):
        assert "machine.sh" in (ROOT / "vm" / name).read_text()


def calls(tmp_path: Path, script: str, **statuses: int) -> tuple[int, list[str]]:
    """Run a script where there are these programs only, each ending with its status; its own status, and what it called."""
    log = tmp_path / "commands"
    log.touch()
    for name, status in statuses.items():
        program = tmp_path / name.replace("_", "-")
        program.write_text(f'#!/bin/sh\necho "{program.name} $*" >> {log}\nexit {status}\n')
        program.chmod(0o755)
    words = [str(shutil.which("sh")), "-c", script, "machine.sh", "WHEEL"]
    done = subprocess.run(words, env={"PATH": str(tmp_path)}, capture_output=True, check=False)
    return done.returncode, log.read_text().splitlines()


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


def test_machine_without_a_wheel_is_reported_with_the_option(tmp_path):
    done = subprocess.run(["sh", ROOT / "vm" / "machine.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "name netlab's wheel, a file or an address" in done.stderr


def test_lima_takes_a_debian_by_its_number_and_installs_only_missing_packages(tmp_path):
    # Lima's names without a number lead to templates of whole machines, not to images.
    result = yaml.safe_load((ROOT / "vm" / "lima.yaml").read_text())
    assert result["base"] == "template:_images/debian-13"
    (created,) = result["provision"]
    script = created["script"].replace("WHEEL", "https://example.edu/a/netlab.whl").replace("/root/", f"{tmp_path}/")
    status, seen = calls(tmp_path, script, curl=0, mv=0, sh=0, apt_get=100)
    assert status == 0
    assert seen == [
        f"curl -fsSL https://example.edu/a/machine.sh -o {tmp_path}/machine.sh.part",
        f"mv {tmp_path}/machine.sh.part {tmp_path}/machine.sh",
        f"sh {tmp_path}/machine.sh https://example.edu/a/netlab.whl",
    ]
    (tmp_path / "machine.sh").touch()
    (tmp_path / "commands").unlink()
    _, again = calls(tmp_path, script, curl=7, mv=0, sh=0, apt_get=100)
    assert again == seen[2:], "a machine that starts again without a network runs the script that it has"


def test_cloud_init_fetches_the_script_from_the_directory_of_the_wheel(tmp_path):
    result = yaml.safe_load((ROOT / "vm" / "cloud-init.yaml").read_text())
    (words,) = result["runcmd"]
    assert words[:2] == ["sh", "-euc"] and words[3:] == ["sh", "WHEEL"]
    script = f"set -- https://example.edu/a/netlab.whl; {words[2]}"
    status, seen = calls(tmp_path, script, curl=0, sh=0)
    assert status == 0
    assert seen == [
        "curl -fsSL https://example.edu/a/machine.sh -o /root/machine.sh",
        "sh /root/machine.sh https://example.edu/a/netlab.whl",
    ]


def test_image_without_a_wheel_is_reported_with_the_way_to_make_one(tmp_path):
    for name in ("mmdebstrap", "mcopy", "mkfs.vfat", "mke2fs", "sfdisk", "qemu-img", "dpkg"):
        (tmp_path / name).write_text("#!/bin/sh\necho amd64\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "clone" / "vm").mkdir(parents=True)
    script = shutil.copy(ROOT / "vm" / "build.sh", tmp_path / "clone" / "vm")
    variables = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", script], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("build.sh: there is no wheel for x86_64 in ")
    assert "make it with 'make wheel'" in done.stderr
