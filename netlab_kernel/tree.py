"""Unpack the part of a kernel source that a build of User-Mode Linux reads, from a package, an archive or a folder."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

from netlab.base.errors import KernelError
from netlab_engines.kernels.versions import Version
from netlab_kernel import programs

DECOMPRESSORS = {".xz": ["xz", "-dc", "-T0"], ".gz": ["gzip", "-dc"], ".bz2": ["bzip2", "-dc"], ".zst": ["zstd", "-dc"]}
ARCHIVE = re.compile(r"(?:^|/)linux-[^/]*\.tar\.(?:xz|gz|bz2|zst)$")
MIN_VERSION = (6, 1)
OLDEST_WITH_AMX = (6, 13)
"""Older User-Mode Linux panics on a processor with AMX, whose registers do not fit into its buffer of fixed size."""

# Nothing in these folders is compiled for User-Mode Linux. To skip their code (but not their Kconfig files and Makefiles) halves
# the time to unpack and saves three quarters of the disk space.
_OTHER_ARCHITECTURES = (
    "alpha arc arm arm64 csky hexagon loongarch m68k microblaze mips nios2 openrisc parisc powerpc riscv s390 sh "
    "sparc xtensa"
)
_DRIVERS = (
    "accel acpi ata bluetooth clk comedi crypto cpufreq edac extcon fpga gpio gpu greybus hid hwmon hwtracing i2c i3c "
    "iio infiniband input interconnect iommu irqchip isdn leds mailbox md media memory message mfd misc mmc mtd "
    "net/can net/dsa net/ethernet net/ipa net/phy net/usb net/wan net/wireless net/wwan nvme pci pcmcia perf phy "
    "pinctrl platform pmdomain power pwm regulator remoteproc rtc s390 scsi soc soundwire spi staging target thermal "
    "thunderbolt ufs usb vdpa vfio vhost video virt watchdog xen"
)
_FILE_SYSTEMS = "bcachefs btrfs ceph ext4 f2fs gfs2 jfs jfs2 nfs nfsd ntfs3 ocfs2 smb ubifs udf xfs"
_PROTOCOLS = "batman-adv bluetooth can ceph mac80211 rxrpc sctp smc sunrpc tipc wireless"


def unneeded_patterns(top: str) -> list[str]:
    """Return the tar patterns, such as "linux-7.3/sound/*.[chS]", of the files in a kernel archive that no build needs;
    `top` is the name of the archive's top folder.
    """
    code = [
        *(f"arch/{name}" for name in _OTHER_ARCHITECTURES.split()),
        *(f"drivers/{name}" for name in _DRIVERS.split()),
        *(f"fs/{name}" for name in _FILE_SYSTEMS.split()),
        *(f"net/{name}" for name in _PROTOCOLS.split()),
        "samples",
        "sound",
    ]
    patterns = [f"{folder}/*.[chS]" for folder in code]
    patterns += [f"arch/{name}/*.dts*" for name in _OTHER_ARCHITECTURES.split()]
    patterns += ["Documentation/*/*", "rust/*.rs", "tools/perf/*", "tools/testing/*", ".git/*"]
    return [f"{top}/{pattern}" for pattern in patterns]


def unpack_deb(deb: Path, tree: Path, scratch: Path, log: Path) -> None:
    """Unpack the kernel archive in the `linux-source` package at `deb` to the new folder `tree`; `scratch` is a folder
    in which the archive stays afterwards, and `log` the file for the programs' output. Raises KernelError if dpkg-deb
    is missing or the package does not contain exactly one kernel archive.
    """
    if not shutil.which("dpkg-deb"):
        raise KernelError(f"{deb} is a Debian package, and dpkg-deb is missing. Use a linux-*.tar.xz instead.")
    scratch.mkdir(parents=True, exist_ok=True)
    pattern = "*/linux-source-*.tar.*"
    script = f"dpkg-deb --fsys-tarfile {shlex.quote(str(deb))} | tar -x --wildcards {shlex.quote(pattern)}"
    _shell(script, scratch, log, f"open {deb.name}")
    archives = [path for path in scratch.rglob("*") if path.is_file() and ARCHIVE.search(str(path))]
    if len(archives) != 1:
        raise KernelError(
            f"{deb} contains {len(archives)} kernel archives instead of one: it is not a linux-source package."
        )
    unpack_archive(archives[0], tree, log)


def unpack_archive(archive: Path, tree: Path, log: Path) -> None:
    """Unpack the files that a build needs from a kernel archive (`linux-*.tar.{xz,gz,bz2,zst}`) to the new folder
    `tree`; the output of tar is appended to `log`. Raises KernelError if the name has another ending, the decompressor
    is missing, or the archive cannot be read.
    """
    command = DECOMPRESSORS.get(archive.suffix)
    if not command or archive.suffixes[-2:-1] != [".tar"]:
        known = ", ".join(f".tar{suffix}" for suffix in DECOMPRESSORS)
        raise KernelError(f"{archive} is not a kernel archive; its name must end with {known}.")
    if not shutil.which(command[0]):
        raise KernelError(f"{command[0]} is needed to unpack {archive.name}. {apt_line([command[0]])}")
    opened = " ".join(command) + f" {shlex.quote(str(archive))}"
    listing = subprocess.run(
        ["bash", "-c", f"{opened} 2>/dev/null | tar -t 2>/dev/null | head -n 1"],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    top = listing.stdout.strip().split("/")[0]
    if not top:
        raise KernelError(f"{archive} cannot be read: it is empty or damaged. Download it again.")
    _unpack(opened, top, tree, log, archive.name)


def copy_tree(source: Path, tree: Path, log: Path) -> None:
    """Copy the files that a build needs from the unpacked kernel source in the folder `source` to the new folder
    `tree`, without the products of earlier builds (a configured source is also cleaned after copying); the programs'
    output is appended to `log`. Raises KernelError if that fails.
    """
    name = source.resolve().name
    parent = shlex.quote(str(source.resolve().parent))
    objects = " ".join(f"--exclude={shlex.quote(pattern)}" for pattern in ("*.o", "*.a", "*.cmd"))
    # Exclude these names only at the top: there is an include/linux, and there are linker scripts for vmlinux.
    linked = " ".join(f"--exclude={shlex.quote(f'{name}/{pattern}')}" for pattern in ("vmlinux*", "linux"))
    _unpack(f"tar -C {parent} {objects} --anchored {linked} -c {shlex.quote(name)}", name, tree, log, str(source))
    if (source / ".config").exists():
        programs.run(["make", "ARCH=um", "mrproper"], cwd=tree, log=log, doing="clean the copied source")


def _unpack(producer: str, top: str, tree: Path, log: Path, name: str) -> None:
    """Extract the files that a build needs from the tar stream that the shell command `producer` writes to the new
    folder `tree`; the patterns of the others are written to the file "skipped" next to it. `top` is the stream's top
    folder, which is removed from the paths; `name` is the source's name for errors, and output is appended to `log`.
    Raises KernelError if that fails.
    """
    tree.mkdir(parents=True)
    patterns = tree.parent / "skipped"
    patterns.write_text("\n".join(unneeded_patterns(top)) + "\n")
    # Without LC_ALL=C and --anchored, matching a hundred patterns would take longer than unpacking.
    script = (
        f"{producer} | LC_ALL=C tar -x --anchored --exclude-from={shlex.quote(str(patterns))} "
        f"--strip-components=1 --no-same-owner -C {shlex.quote(str(tree))}"
    )
    _shell(script, tree.parent, log, f"unpack {name}")


def _shell(script: str, cwd: Path, log: Path, doing: str) -> None:
    """Run the text `script` with bash in the folder `cwd`, and append its output to the file `log`. Raises KernelError
    ("Could not ...", with the clause `doing`) if the exit status of the script or of a command in its last pipeline is
    not 0.
    """
    programs.run(["bash", "-o", "pipefail", "-c", script], cwd=cwd, log=log, doing=doing)


def release_of(tree: Path) -> tuple[str, Version]:
    """Return the release of the kernel source in the folder `tree` as text, such as "7.3.4", and its version as three
    numbers, both from its Makefile. Raises KernelError if the folder is not a kernel source, has no User-Mode Linux, or is
    older than MIN_VERSION.
    """
    try:
        text = (tree / "Makefile").read_text(errors="replace")
    except OSError as error:
        raise KernelError(f"{tree} is not a kernel source: it has no Makefile ({error.strerror}).") from error
    fields = dict(re.findall(r"(?m)^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *=[ \t]*(.*)$", text))
    if not fields.get("VERSION", "").isdigit() or not (tree / "arch/um/Kconfig").is_file():
        raise KernelError(f"{tree} is not a kernel source with User-Mode Linux. Use a linux-*.tar.xz or its folder.")
    version = tuple(int(fields.get(name) or 0) for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))
    if version < MIN_VERSION:
        needed = ".".join(map(str, MIN_VERSION))
        raise KernelError(
            f"The source is Linux {'.'.join(map(str, version))}; {needed} or later is needed, 7.x is best."
        )
    return ".".join(map(str, version)) + fields.get("EXTRAVERSION", "").strip(), version


def oldest_here() -> Version:
    """Return the oldest kernel version, such as (6, 1), whose User-Mode Linux works on this machine's processor:
    OLDEST_WITH_AMX on a processor with AMX, else MIN_VERSION.
    """
    try:
        amx = "amx_tile" in Path("/proc/cpuinfo").read_text()
    except OSError:
        amx = False
    return OLDEST_WITH_AMX if amx else MIN_VERSION


PACKAGES = {"xz": "xz-utils", "zstd": "zstd", "bzip2": "bzip2", "gzip": "gzip", "cc": "gcc", "ld": "binutils"}


def apt_line(programs_missing: list[str]) -> str:
    """Return a sentence with the apt command that installs missing programs, given by their names; the package of a
    program is looked up in PACKAGES.

    >>> apt_line(["flex", "xz"])
    'On Debian or Ubuntu: sudo apt-get install flex xz-utils'
    """
    names = sorted({PACKAGES.get(program, program) for program in programs_missing})
    return "On Debian or Ubuntu: sudo apt-get install " + " ".join(names)
