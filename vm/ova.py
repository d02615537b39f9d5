"""Put a disk of build.sh into an appliance (OVA) that VirtualBox imports: a description of the machine, a manifest, the disk.

    python3 vm/ova.py DISK.vmdk          writes DISK.ova next to it

Standard library only. The disk must be a VMDK of the kind streamOptimized, for x86-64.
"""

from __future__ import annotations

import hashlib
import io
import struct
import sys
import tarfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

PROCESSORS = 2
MEMORY_MB = 3072
SECTOR_BYTES = 512
MAGIC = b"KDMV"
COMPRESSED_FLAG = 1 << 16
# DSP0243, version 1.1; the numbers of the items' kinds are those of CIM_ResourceAllocationSettingData.
DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<Envelope ovf:version="1.0" xml:lang="en" xmlns="http://schemas.dmtf.org/ovf/envelope/1"
  xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1"
  xmlns:rasd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData"
  xmlns:vssd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_VirtualSystemSettingData">
  <References>
    <File ovf:id="file1" ovf:href={disk} ovf:size="{disk_bytes}"/>
  </References>
  <DiskSection>
    <Info>Disks</Info>
    <Disk ovf:diskId="disk1" ovf:fileRef="file1" ovf:capacity="{capacity_bytes}"
      ovf:format="http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized"/>
  </DiskSection>
  <NetworkSection>
    <Info>Networks</Info>
    <Network ovf:name="NAT"><Description>NAT; forward port 8888 to 8888</Description></Network>
  </NetworkSection>
  <VirtualSystem ovf:id="netlab">
    <Info>netlab, set up</Info>
    <OperatingSystemSection ovf:id="96"><Info>System</Info><Description>Debian_64</Description></OperatingSystemSection>
    <VirtualHardwareSection>
      <Info>Hardware</Info>
      <System>
        <vssd:ElementName>Virtual hardware</vssd:ElementName>
        <vssd:InstanceID>0</vssd:InstanceID>
        <vssd:VirtualSystemIdentifier>netlab</vssd:VirtualSystemIdentifier>
        <vssd:VirtualSystemType>virtualbox-2.2</vssd:VirtualSystemType>
      </System>
      <Item>
        <rasd:Caption>{processors} processors</rasd:Caption>
        <rasd:ElementName>{processors} processors</rasd:ElementName>
        <rasd:InstanceID>1</rasd:InstanceID>
        <rasd:ResourceType>3</rasd:ResourceType>
        <rasd:VirtualQuantity>{processors}</rasd:VirtualQuantity>
      </Item>
      <Item>
        <rasd:AllocationUnits>byte * 2^20</rasd:AllocationUnits>
        <rasd:Caption>{memory_mb} MB of memory</rasd:Caption>
        <rasd:ElementName>{memory_mb} MB of memory</rasd:ElementName>
        <rasd:InstanceID>2</rasd:InstanceID>
        <rasd:ResourceType>4</rasd:ResourceType>
        <rasd:VirtualQuantity>{memory_mb}</rasd:VirtualQuantity>
      </Item>
      <Item>
        <rasd:Address>0</rasd:Address>
        <rasd:Caption>SATA</rasd:Caption>
        <rasd:ElementName>SATA</rasd:ElementName>
        <rasd:InstanceID>3</rasd:InstanceID>
        <rasd:ResourceSubType>AHCI</rasd:ResourceSubType>
        <rasd:ResourceType>20</rasd:ResourceType>
      </Item>
      <Item>
        <rasd:AddressOnParent>0</rasd:AddressOnParent>
        <rasd:Caption>Disk</rasd:Caption>
        <rasd:ElementName>Disk</rasd:ElementName>
        <rasd:HostResource>/disk/disk1</rasd:HostResource>
        <rasd:InstanceID>4</rasd:InstanceID>
        <rasd:Parent>3</rasd:Parent>
        <rasd:ResourceType>17</rasd:ResourceType>
      </Item>
      <Item>
        <rasd:AutomaticAllocation>true</rasd:AutomaticAllocation>
        <rasd:Caption>Network</rasd:Caption>
        <rasd:Connection>NAT</rasd:Connection>
        <rasd:ElementName>Network</rasd:ElementName>
        <rasd:InstanceID>5</rasd:InstanceID>
        <rasd:ResourceSubType>E1000</rasd:ResourceSubType>
        <rasd:ResourceType>10</rasd:ResourceType>
      </Item>
    </VirtualHardwareSection>
  </VirtualSystem>
</Envelope>
"""


def capacity_bytes(disk: Path) -> int:
    """Return the size in bytes of the disk that the machine sees.

    Raises
    ------
    ValueError
        If the file is not a VMDK of the kind streamOptimized.
    """
    with disk.open("rb") as file:
        head = file.read(SECTOR_BYTES)
    if len(head) < SECTOR_BYTES or head[:4] != MAGIC or not struct.unpack_from("<I", head, 8)[0] & COMPRESSED_FLAG:
        raise ValueError(
            f"{disk} is not a VMDK of the kind streamOptimized; make one with qemu-img convert -O vmdk -o subformat=streamOptimized."
        )
    return int(struct.unpack_from("<Q", head, 12)[0]) * SECTOR_BYTES


def make(disk: Path) -> Path:
    """Write the appliance next to its disk and return its path. The description comes first, as the standard demands."""
    text = DESCRIPTION.format(
        disk=quoteattr(disk.name),
        disk_bytes=disk.stat().st_size,
        capacity_bytes=capacity_bytes(disk),
        processors=PROCESSORS,
        memory_mb=MEMORY_MB,
    ).encode()
    name = f"{disk.stem}.ovf"
    digest = hashlib.sha256()
    with disk.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    manifest = f"SHA256({name})= {hashlib.sha256(text).hexdigest()}\nSHA256({disk.name})= {digest.hexdigest()}\n"
    target = disk.with_suffix(".ova")
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as tar:
        for member, content in ((name, text), (f"{disk.stem}.mf", manifest.encode())):
            about = tarfile.TarInfo(member)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
        tar.add(disk, disk.name, filter=_without_owner)
    return target


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("ova.py takes one argument, the disk: ova.py DISK.vmdk")
    try:
        print(make(Path(sys.argv[1])))
    except (OSError, ValueError) as error:
        raise SystemExit(f"ova.py: {error}") from error
