"""Find and download Linux source packages with apt, which verifies them.

On Debian a private apt directory is used, so that a release's backports can be read without changing the machine's own
sources and without root. Its mirror is that of the machine's apt.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from netlab.base.errors import KernelError
from netlab_engines.kernels.versions import Version, parse_version
from netlab_kernel import programs, tree

TESTED_DEBIAN = ("trixie", 13)
"""The Debian release whose source packages netlab is tested with; its backports have the newest kernel."""
TESTED_VERSION = "7.3.4"
"""The upstream version of that kernel, for users who download a source themselves."""
KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
)
TARGET_FORMAT = "$(ORIGIN)|$(LABEL)|$(RELEASE)|$(COMPONENT)|$(REPO_URI)"
PACKAGE_NAME = re.compile(r"linux-source-\d+(\.\d+)+")
LIST_TIMEOUT_S = 60.0
WATCH_INTERVAL_S = 1.0


@dataclass(frozen=True)
class Target:
    """A component of a suite that apt is configured to read, with the fields of apt's index as text; `repository` is a
    URL. A field that apt does not know is "".
    """

    origin: str
    label: str
    release: str
    component: str
    repository: str


@dataclass(frozen=True)
class Package:
    """A Linux source package that apt can download: its name such as "linux-source-7.3", the package's version, the
    SHA-256 in hexadecimal digits and the size of its .deb file.
    """

    name: str
    version: str
    """The version of the package."""
    sha256: str
    size_bytes: int
    """The size of its file."""

    @property
    def kernel_version(self) -> Version:
        """The kernel's version as numbers, such as (7, 3, 4) for a package of version `7.3.4-1~bpo13+1`."""
        return parse_version(self.version)

    @property
    def file_name(self) -> str:
        """The name of the downloaded file, without characters that a file system may reject."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_all.deb"


def parse_targets(text: str) -> list[Target]:
    """Parse the output of `apt-get indextargets --format TARGET_FORMAT`, one target per line, and return a Target for
    each line with five fields and a repository, in the order of the output; other lines are left out, and fields that
    apt does not know are "".
    """
    targets = []
    for line in text.splitlines():
        fields = ["" if field.startswith("$(") else field for field in line.split("|")]
        if len(fields) == 5 and fields[4]:
            targets.append(Target(*fields))
    return targets


def debian_mirror(targets: Iterable[Target], codename: str) -> str | None:
    """Return the URL of the repository from which apt gets Debian itself (not its security updates or third-party
    packages): the first target of the component main with the origin and label Debian, else the first without an origin
    whose release is `codename` (the machine's, such as "trixie") or one of Debian's; None if no target is one.

    >>> debian_mirror([Target("", "", "trixie", "main", "http://mirror.test/debian/")], "trixie")
    'http://mirror.test/debian/'
    """
    rows = [target for target in targets if target.component == "main"]
    for target in rows:
        if target.origin == "Debian" and target.label == "Debian":
            return target.repository
    # Until the first 'apt-get update' apt knows only its list of sources, without their origins.
    for target in rows:
        if not target.origin and target.release in {codename, "stable", "testing", "unstable", "sid"}:
            return target.repository
    return None


def suites(codename: str, number: int | None) -> list[list[str]]:
    """Return the names of the suites to search for a kernel source on the Debian release with this code name, such as
    "bookworm", and number, such as 12 (None: testing or unstable), in groups, the preferred group first; the first
    group that has a source is to be used.

    >>> suites("bookworm", 12)
    [['trixie-backports'], ['trixie'], ['bookworm-backports', 'bookworm']]
    """
    tested, tested_number = TESTED_DEBIAN
    own = [[f"{codename}-backports", codename]] if number is not None else [[codename]]
    tested_suites = [[f"{tested}-backports"], [tested]]
    groups = tested_suites + own if number is not None and number <= tested_number else own + tested_suites
    seen: set[str] = set()
    result = []
    for group in groups:
        fresh = [suite for suite in group if suite and suite not in seen]
        seen.update(fresh)
        if fresh:
            result.append(fresh)
    return result


def parse_packages(text: str) -> list[Package]:
    """Parse the output of `apt-cache show` and return the packages in it whose name is linux-source-VERSION and that
    have a version, a SHA-256 and a size, in the order of the output.
    """
    packages = []
    for stanza in text.split("\n\n"):
        fields = dict(re.findall(r"(?m)^([A-Za-z0-9-]+): (.*)$", stanza))
        name = fields.get("Package", "")
        if PACKAGE_NAME.fullmatch(name) and {"Version", "SHA256", "Size"} <= fields.keys():
            packages.append(Package(name, fields["Version"], fields["SHA256"], int(fields["Size"])))
    return packages


def newest(packages: Iterable[Package]) -> Package | None:
    """Return the package with the highest kernel version and, among those, the highest package version (compared as
    text); None if there are no packages.
    """
    return max(packages, key=lambda package: (package.kernel_version, package.version), default=None)


class Apt:
    """The machine's apt, or, with a directory `private`, an apt whose sources, lists and cache are in that directory,
    so that it needs no root. The output of its programs is appended to the file `log`.
    """

    def __init__(self, log: Path, private: Path | None = None) -> None:
        """Choose the options of apt's programs, whose output is appended to the file `log`. With a directory `private`,
        which is made, apt's sources, lists and cache are there; None stands for the machine's own.
        """
        self._log = log
        self._private = private
        self.options: list[str] = ["-o", "Acquire::Languages=none", "-o", "APT::Sandbox::User="]
        if private:
            for folder in ("lists/partial", "archives/partial"):
                (private / folder).mkdir(parents=True, exist_ok=True)
            settings = {
                "Dir::Etc::sourcelist": private / "sources.list",
                "Dir::Etc::sourceparts": "/dev/null",
                "Dir::Etc::preferences": "/dev/null",
                "Dir::Etc::preferencesparts": "/dev/null",
                "Dir::State": private,
                "Dir::State::lists": private / "lists",
                "Dir::State::status": "/dev/null",
                "Dir::Cache": private,
                "Dir::Cache::archives": private / "archives",
                "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
                "Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled": "false",
                "Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled": "false",
                "Acquire::IndexTargets::deb::DEP-11-icons-hidpi::DefaultEnabled": "false",
            }
            for key, value in settings.items():
                self.options += ["-o", f"{key}={value}"]

    def read(self, mirror: str, names: Iterable[str]) -> None:
        """Set the private apt's sources to the suites `names`, such as "trixie", of the mirror at the URL `mirror`, and
        download their package lists; a suite that does not exist, or a failed download, is not an error. Only for an
        Apt with a private directory.
        """
        assert self._private is not None
        signed = next((f"[signed-by={path}] " for path in KEYRINGS if path.exists()), "")
        lines = [f"deb {signed}{mirror} {name} main\n" for name in names]
        (self._private / "sources.list").write_text("".join(lines))
        programs.run(
            ["apt-get", *self.options, "update"],
            log=self._log,
            doing="read the package lists",
            env=_english(),
            allow_failure=True,
        )

    def sources(self) -> list[Package]:
        """Return the Linux source packages in apt's lists, each in its candidate version; [] if the lists have none or
        `apt-cache` fails. Raises KernelError if `apt-cache` cannot be run or takes longer than LIST_TIMEOUT_S.
        """
        found = _ask(["apt-cache", *self.options, "search", "--names-only", r"^linux-source-[0-9.]+$"])
        names = sorted({line.split()[0] for line in found.splitlines() if PACKAGE_NAME.fullmatch(line.split()[0])})
        if not names:
            return []
        return parse_packages(_ask(["apt-cache", *self.options, "show", "--no-all-versions", *names]))

    def download(self, package: Package, directory: Path, on_share: Callable[[float], None]) -> Path:
        """Download a package to a directory, unless its file is already there with the right checksum, and return the
        path of the .deb file; `on_share` is called about once a second with the fraction, in [0, 1], that is done.
        Raises KernelError if the download fails or the checksum differs.
        """
        path = directory / package.file_name
        if path.is_file() and sha256_of(path) == package.sha256:
            return path
        partial = directory / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            with _report_download(partial, package.size_bytes, on_share):
                programs.run(
                    ["apt-get", *self.options, "download", f"{package.name}={package.version}"],
                    log=self._log,
                    doing=f"download {package.name} {package.version}",
                    cwd=partial,
                    env=_english(),
                )
            files = list(partial.glob("*.deb"))
            if len(files) != 1 or sha256_of(files[0]) != package.sha256:
                raise KernelError(
                    f"apt downloaded {package.name} {package.version}, but its checksum is not the one in the package "
                    "list. Try again; a cache between this machine and the mirror may be stale."
                )
            files[0].replace(path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return path


def find_package(log: Path, private: Path, on_step: Callable[[float, str], None]) -> tuple[Apt, Package]:
    """Return a tuple of the `Apt` that can download the newest suitable Linux source package, and that package.
    `private` is the directory for a private apt on Debian, whose lists are downloaded to it, `log` the file for apt's
    output; `on_step` gets the done fraction of the download phase, in [0, 1], and a text about the present step. Raises
    KernelError, with a remedy, if apt is missing or offers no source, or only one that is too old for this processor.
    """
    _check_apt()
    release = _os_release()
    if release.get("ID") == "debian":
        codename = release.get("VERSION_CODENAME", "")
        number = release.get("VERSION_ID", "")
        mirror = debian_mirror(_targets(), codename) or debian_mirror(_targets("--no-release-info"), codename)
        if mirror:
            apt = Apt(log, private)
            for group in suites(codename or "unstable", int(number) if number.isdigit() else None):
                on_step(0.1, f"package lists of {', '.join(group)}")
                apt.read(mirror, group)
                package = newest(apt.sources())
                if package and not _refusal(package):
                    return apt, package
    apt = Apt(log)
    package = newest(apt.sources())
    reason = _refusal(package)
    if package is None or reason:
        raise KernelError(f"{reason}\nThe output of apt is in {log}.")
    return apt, package


def check() -> None:
    """Check before a build that apt is installed and, except on Debian, that its lists have a source that is new
    enough; the network is not used. Raises KernelError, with a remedy, if apt is missing or offers no source, or one
    that is too old.
    """
    _check_apt()
    # On Debian `find_package` will download the lists of other releases too.
    if _os_release().get("ID") != "debian" and (reason := _refusal(newest(Apt(Path(os.devnull)).sources()))):
        raise KernelError(reason)


def _check_apt() -> None:
    """Raise KernelError, with other ways to get a kernel in its message, if `apt-get` or `apt-cache` is not installed."""
    if not shutil.which("apt-get") or not shutil.which("apt-cache"):
        raise KernelError(f"This machine has no apt to download the kernel's source.\n{_other_ways()}")


def _refusal(package: Package | None) -> str:
    """Return why a source package cannot be used here (`package` is None: apt has none; or its kernel is too old for
    this processor), with a remedy, as text for users; "" if it can be used.
    """
    if package is None:
        return (
            "apt offers no linux-source package. Run 'sudo apt-get update' and try again. "
            f"If it still offers none:\n{_other_ways()}"
        )
    oldest = tree.oldest_here()
    if package.kernel_version >= oldest:
        return ""
    offered, needed = (".".join(map(str, version)) for version in (package.kernel_version, oldest))
    return f"The newest source of apt is Linux {offered}; this machine needs {needed} or later.\n{_other_ways()}"


def _other_ways() -> str:
    """Return instructions for users, as text of several lines, to get kernels without apt: build from a downloaded
    source, or unpack kernels from another machine.
    """
    oldest = ".".join(map(str, tree.oldest_here()))
    archive, command = f"linux-{TESTED_VERSION}.tar.xz", f"{sys.executable} -m netlab_kernel.command"
    return (
        f"In netlab's folder, download a source from kernel.org and build from it (tested with {TESTED_VERSION}; "
        f"{oldest} or later is allowed, 7.x is best):\n"
        f"  curl -LO https://cdn.kernel.org/pub/linux/kernel/v{TESTED_VERSION.partition('.')[0]}.x/{archive}\n"
        f"  {command} build --source {archive}\n"
        "Or install kernels that 'netlab kernel pack' packed on another machine:\n"
        f"  {command} unpack FILE"
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's contents in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _targets(*options: str) -> list[Target]:
    """Return the components of suites that the machine's apt is configured to read; `options` are further command-line
    options of `apt-get indextargets`. The list is empty if that command fails.
    """
    return parse_targets(_ask(["apt-get", "indextargets", "--format", TARGET_FORMAT, *options, "Created-By: Packages"]))


def _os_release() -> dict[str, str]:
    """Return the entries of this system's os-release file, such as ID and VERSION_CODENAME, by name; {} if there is no
    such file.
    """
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def _english() -> Mapping[str, str]:
    """Return the environment variables with which apt prints English and asks nothing."""
    return {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


def _ask(command: list[str]) -> str:
    """Run a command of apt (program and arguments) without input and return its standard output; "" if its exit status
    is not 0. Raises KernelError if it cannot be run or takes longer than LIST_TIMEOUT_S.
    """
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIST_TIMEOUT_S,
            env={**os.environ, **_english()},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KernelError(f"Cannot run {command[0]} to list packages ({error}).") from error
    return done.stdout if done.returncode == 0 else ""


@contextmanager
def _report_download(directory: Path, size_bytes: int, on_share: Callable[[float], None]) -> Iterator[None]:
    """Return a context manager that, while its block runs, calls `on_share` about once a second, in a thread, with the
    done fraction, in [0, 1], of a download: the size of all files below `directory`, divided by `size_bytes`.
    """
    done = threading.Event()

    def watch() -> None:
        """Call `on_share` with the done fraction of the download, in [0, 1], every WATCH_INTERVAL_S until the event
        `done` is set.
        """
        while not done.wait(WATCH_INTERVAL_S):
            try:
                have_bytes = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
            except OSError:
                continue
            on_share(min(1.0, have_bytes / size_bytes))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
