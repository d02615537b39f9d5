"""Features of this machine's own kernel, determined as root, and remedies for missing ones."""

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from netlab.base.errors import EngineError
from netlab.base.location import IMPORT_ROOT
from netlab.engines import Requirement
from netlab.network.congestion import CONGESTION_CONTROLS, NETLAB_CONTROLS
from netlab.network.queues import DISCIPLINES
from netlab_engines.kernels.parts import PARTS
from netlab_engines.kernels.versions import parse_version

ASK = """
import json, sys
sys.path.append(sys.argv[1])
from netlab_engines.agent.parts import kernel_errors
print(json.dumps(kernel_errors()))
"""
NEEDED_PARTS = ("veth", "ifb", "ingress", "matchall", "mirred", "tbf", "netem")
"""Features that every link needs; a scenario needs few of the others."""
CONTAINERS = ("/run/.containerenv", "/.dockerenv", "/run/systemd/container")
OWN_KERNEL_HINT = "The pocket and the library engine bring their own kernel."
LOADING_FAILED = "The kernel could not load the modules {modules}. "
# Microsoft's kernel has loadable modules since 6.6.36.3 (the notes of that release of WSL2-Linux-Kernel).
WSL2 = (
    "WSL2's kernel comes with Windows, so packages of this distribution cannot add modules: `wsl --update` in Windows installs "
    "the newest kernel, which has more of them. "
)
CONTAINER = "This looks like a container, which uses its host's kernel: install the modules on the host. "
DISTRIBUTIONS = {
    "ubuntu": "Ubuntu has more modules in a separate package: `sudo apt install linux-modules-extra-{release}`. ",
    "fedora": "Fedora has more modules in a separate package: `sudo dnf install kernel-modules-extra-{release}`. ",
    "debian": "Debian's own kernels have these modules: restart this machine if an update has replaced its kernel, or boot "
    "Debian's kernel instead of another. ",
}
OTHER_DISTRIBUTION = "Check whether your distribution has the modules in a separate package. "


def privilege() -> list[str] | None:
    """Return the words to put before a command so that it runs as root: [] if this process is root, `sudo -n` (two
    words) if that works without a password, or None if this process cannot become root.
    """
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


@functools.cache
def kernel_errors() -> dict[str, str | None]:
    """Return the kernel's error message for each part (device, queue discipline or congestion control) that netlab
    uses, by the part's name: "" for a part that works, None for one that could not be tested because another is
    missing. The parts are tested as root, or as this user if that is impossible, and the first call's result is kept.
    Raises EngineError if the tests could not run, or not all of them.
    """
    command = [*(privilege() or []), sys.executable, "-I", "-S", "-B", "-c", ASK, str(IMPORT_ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found: dict[str, str | None] = json.loads(done.stdout)
        asked_all = found.keys() >= {*NEEDED_PARTS, *DISCIPLINES, *CONGESTION_CONTROLS}
    except (ValueError, AttributeError):
        asked_all = False
    if done.returncode != 0 or not asked_all:
        message = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise EngineError(
            f"Cannot determine the features of this machine's kernel ({message}). Use the pocket or the library engine, which "
            "bring their own kernel."
        )
    return found


def missing_parts() -> tuple[str, ...]:
    """Return the names of the queue disciplines and congestion controls of netlab that this machine's kernel refused,
    tested at the first call. Raises EngineError if the tests could not run.
    """
    found = kernel_errors()
    return tuple(name for name in (*DISCIPLINES, *CONGESTION_CONTROLS) if found[name])


def links() -> Requirement:
    """Return the requirement that this machine's kernel has the parts NEEDED_PARTS for every link, met or not; they are
    tested as root.
    """
    return _parts_requirement("kernel", NEEDED_PARTS, f"{platform.release()} has all that links need")


def features() -> Requirement:
    """Return the optional requirement that this machine's kernel has all queue disciplines and congestion controls that
    netlab uses, met or not, with a remedy; they are tested as root.
    """
    return _parts_requirement(
        "kernel features", (*DISCIPLINES, *CONGESTION_CONTROLS), "all that netlab uses", required=False
    )


def _parts_requirement(name: str, parts: Sequence[str], finding_if_met: str, *, required: bool = True) -> Requirement:
    """Return the requirement `name`, needed if `required`, that the kernel has all of the parts with the names `parts`:
    met, with the text `finding_if_met`, or not met, with the missing ones and a remedy. It is also not met if the
    kernel cannot be tested; nothing is raised.
    """
    try:
        missing = [part for part in parts if kernel_errors()[part]]
    except EngineError as error:
        return Requirement(name, False, "not known", str(error), required)
    finding = f"lacks {', '.join(missing)}" if missing else finding_if_met
    return Requirement(name, not missing, finding, remedy(missing), required)


def remedy(missing: Collection[str]) -> str:
    """Return sentences with the remedy for parts, given by their names, that this machine's kernel lacks: the modules
    to load or install, the first release that has a part, the parts that only netlab's own kernels have, and the
    engines to use instead. "" if `missing` is empty.
    """
    if not missing:
        return ""
    release = platform.release()
    rows = (DISCIPLINES[name] for name in missing if name in DISCIPLINES)
    newer = {row.name: row.since for row in rows if parse_version(release) < row.since}
    modules = [
        PARTS[name].module
        for name in missing
        if PARTS[name].module and name not in NETLAB_CONTROLS and name not in newer
    ]
    sentences = ""
    if modules:
        sentences += LOADING_FAILED.format(modules=", ".join(modules)) + module_hint().format(release=release)
    for name, (major, minor) in newer.items():
        sentences += f"This kernel is {release}; {name} came with Linux {major}.{minor}. "
    own = sorted(NETLAB_CONTROLS & set(missing))
    if own:
        sentences += f"Only netlab's own kernels have {', '.join(own)}. "
    return sentences + OWN_KERNEL_HINT


def module_hint() -> str:
    """Return a sentence about how to get this kernel's modules on this system (WSL2, a container or a distribution);
    the caller is to replace `{release}` in it by the kernel's release.
    """
    if "microsoft" in platform.release().lower():
        return WSL2
    if is_in_container():
        return CONTAINER
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return OTHER_DISTRIBUTION
    names = [system["ID"], *system.get("ID_LIKE", "").split()]
    return next((DISTRIBUTIONS[name] for name in names if name in DISTRIBUTIONS), OTHER_DISTRIBUTION)


def is_in_container() -> bool:
    """Return whether this process runs in a container of Podman, Docker, systemd or Kubernetes, as a file or an
    environment variable of theirs tells.
    """
    return any(Path(mark).exists() for mark in CONTAINERS) or "KUBERNETES_SERVICE_HOST" in os.environ
