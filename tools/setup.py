"""Set netlab up: system packages, a virtual environment, the kernels, a self-check.

    python3 tools/setup.py            all of it
    python3 tools/setup.py --lab      what chapters need at once; the pocket kernel is built in the background
    python3 tools/setup.py --release  all of it, and the programs that only `make release` needs; --image: also programs for IMAGE=1
    python3 tools/setup.py --system   the system packages only, which is what needs root

Standard library only, because no package is installed yet. Finished parts are not made again: the environment contains
a stamp, a hash of everything on which it depends, and the kernels are found by their recipes.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import installed_kernels  # noqa: E402 (in the directory of this file)
import release_programs  # noqa: E402
from package_names import OPTIONAL_PROGRAMS, OTHER_TOOLS, PACKAGES  # noqa: E402

from netlab.base.errors import NetlabError  # noqa: E402

# The set-up runs before any package is installed: these use the standard library only.
from netlab_engines.kernels import library_kernel, pocket_kernel  # noqa: E402
from netlab_engines.kernels.background_build import BuildProgress  # noqa: E402
from netlab_kernel import building, prerequisites, recipes, sources, tree  # noqa: E402
from netlab_kernel.progress import ProgressLine  # noqa: E402

VENV = ROOT / ".venv"
STAMP = VENV / "netlab-setup"
LOG = ROOT / ".setup.log"
VERSIONS = range(10, 15)
OLDEST_OF_LOCK = 11
# Variables that would send packages elsewhere.
FOREIGN_VARIABLES = frozenset({"PIP_TARGET", "PIP_USER", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"})
CLONE_ON_PATH = (
    "import pathlib, sys, sysconfig; "
    'pathlib.Path(sysconfig.get_path("purelib"), "netlab_clone.pth").write_text(sys.argv[1] + chr(10))'
)
EXTENSIONS = "share/jupyter/labextensions"
SECONDS_PER_PACKAGE = 0.4
SYSTEM_ONLY, LAB, RELEASE, IMAGE = "--system", "--lab", "--release", "--image"
UNPACK = f"{sys.executable} -m netlab_kernel.command unpack FILE"
RUN_AGAIN = "Then run make again."
LEAVING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SetupError(Exception):
    """The set-up cannot continue; the text says what to do."""


@dataclass(frozen=True)
class Python:
    """A Python interpreter with which the environment may be made."""

    path: str
    minor: int
    has_venv: bool


def pythons() -> list[Python]:
    """Return every usable Python on PATH and in /usr/bin: first the ones that can make environments, newest first."""
    program = "import sys, importlib.util as u; print(sys.version_info[1], u.find_spec('ensurepip') is not None)"
    places = [*os.environ.get("PATH", "").split(":"), "/usr/bin"]
    names = ["python3", *(f"python3.{minor}" for minor in VERSIONS)]
    found: dict[str, Python] = {}
    for candidate in (f"{place}/{name}" for place in places if place for name in names):
        if not os.access(candidate, os.X_OK):
            continue
        done = subprocess.run([candidate, "-c", program], capture_output=True, text=True, check=False)
        words = done.stdout.split()
        if done.returncode == 0 and len(words) == 2 and int(words[0]) in VERSIONS:
            found.setdefault(os.path.realpath(candidate), Python(candidate, int(words[0]), words[1] == "True"))
    return sorted(found.values(), key=lambda python: (python.has_venv, python.minor), reverse=True)


def lock_for(minor: int) -> Path:
    """Return the file of pinned packages for this Python: newer releases of several packages do not support 3.10."""
    return ROOT / ("requirements.lock" if minor >= OLDEST_OF_LOCK else "requirements-3.10.lock")


def environment_stamp(minor: int) -> str:
    """Return a hash of everything on which the environment depends."""
    digest = hashlib.sha256(f"{minor} {ROOT}".encode())
    for path in (lock_for(minor), ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def environment_is_ready() -> bool:
    """Return whether the environment is complete and made from the current pins."""
    minor = environment_minor()
    return minor is not None and STAMP.exists() and STAMP.read_text() == environment_stamp(minor)


def environment_minor() -> int | None:
    """Return the minor version of the environment's Python; None without an environment that works and can be kept."""
    # Without pip no package can be installed: someone, or something, has deleted a part of the environment.
    program = "import sys, pip; print(sys.version_info[1], sys.prefix)"
    try:
        done = subprocess.run([VENV / "bin/python", "-I", "-c", program], check=True, capture_output=True, text=True)
        minor, prefix = done.stdout.rstrip("\n").split(" ", 1)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    # The programs of an environment that was moved still name its old place.
    moved = (VENV / "bin/pip").exists() and str(VENV) not in (VENV / "bin/pip").read_text()
    return int(minor) if int(minor) in VERSIONS and prefix == str(VENV) and not moved else None


def missing_kernels() -> list[str]:
    """Return the kinds of kernel that were not built by the present recipe; none if the user has chosen a kernel.

    A library kernel that could not be built here is not tried again: `netlab kernel build` does that.
    """
    if os.environ.get("NETLAB_KERNEL"):
        return []
    recipes.refresh()
    is_there = {
        building.POCKET: any(not pocket_kernel.by_another_version(found) for found in pocket_kernel.builds()),
        building.LIBRARY: library_kernel.ready() or library_kernel.failure(),
    }
    return [kind for kind in building.kinds_here() if not is_there[kind]]


def kernels_of_another_version() -> bool:
    """Return whether netlab was updated after it built the installed kernels."""
    others = map(pocket_kernel.by_another_version, pocket_kernel.builds())
    return any(others) or bool(library_kernel.builds() and not library_kernel.ready())


# System packages ----------------------------------------------------------------------------------------------


def missing_programs(for_kernel: bool, for_environment: bool) -> list[str]:
    """Return the names of missing programs, among them `headers` and `venv`."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    programs = [*sorted(OPTIONAL_PROGRAMS), *(prerequisites.NEEDED_PROGRAMS if for_kernel else ())]
    missing = [program for program in programs if not shutil.which(program, path=path)]
    if for_kernel and "gcc" not in missing and not _has_headers():
        missing.append("headers")
    if for_kernel and "gcc" in missing:
        missing.append("headers")
    if for_environment and not any(python.has_venv for python in pythons()):
        missing.append("venv")
    return missing


def _has_headers() -> bool:
    text = "#include <stdio.h>\n#include <elf.h>\n#include <linux/types.h>\n"
    command = ["gcc", "-E", "-x", "c", "-", "-o", os.devnull]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False).returncode == 0


def package_of(program: str) -> str:
    """Return the Debian package that contains a program."""
    return PACKAGES.get(program) or tree.PACKAGES.get(program, program)


def _install_command(names: Sequence[str]) -> str:
    """Return the command by which a distribution without apt installs the equivalents of these Debian packages."""
    for tool, (command, own_names) in OTHER_TOOLS.items():
        if shutil.which(tool):
            return f"sudo {command} " + " ".join(sorted({own_names.get(name, name) for name in names} - {""}))
    return f"(on Debian they are in: {' '.join(names)})"


def install_system_packages(missing: Sequence[str], for_kernel: bool = False) -> None:
    """Install missing programs through apt, as root or with sudo.

    If only optional programs are missing, they are installed for root, who needs no password, and may fail. Without apt, a
    kernel that is still to be built needs more of the user, and the message says so.

    Raises
    ------
    SetupError
        If there is no apt or no sudo, or apt fails; names the programs and the packages.
    """
    if not missing:
        return
    required = [program for program in missing if program not in OPTIONAL_PROGRAMS]
    names = sorted({package_of(program) for program in missing})
    command = "apt-get install -y --no-install-recommends " + " ".join(names)
    apt = shutil.which("apt-get")
    if not required and not (apt and os.geteuid() == 0):
        line = f"sudo {command}" if apt else _install_command(names)
        say(f"Commands in hosts will lack {', '.join(missing)}. To install them:\n  {line}")
        return
    text = f"These are missing: {', '.join(required)}."
    if set(required) & set(prerequisites.NEEDED_PROGRAMS):
        text += f"\nA kernel from another machine needs no programs to build it: {UNPACK}."
        if (VENV / "bin/netlab").exists() and pocket_kernel.builds():
            text += "\nUntil then, `.venv/bin/netlab lab` uses the installed kernel."
    if not apt:
        source = f"{sources.why_no_source()}\n" if for_kernel else ""
        raise SetupError(f"{text}\nInstall them:\n  {_install_command(names)}\n{source}{RUN_AGAIN}")
    prefix: list[str] = []
    if os.geteuid() != 0:
        prefix = ["sudo"] if sys.stdin.isatty() else ["sudo", "-n"]
        if not shutil.which("sudo"):
            raise SetupError(f"{text}\nThere is no sudo here; ask your administrator for\n  {command}")
    say(f"Installing system packages{' with sudo' if prefix else ''}: {' '.join(names)}")
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    with LOG.open("a") as log:
        update = [*prefix, *environment, "apt-get", "update", "-q"]
        subprocess.run(update, stdout=log, stderr=log, check=False)
        done = subprocess.run([*prefix, *environment, *command.split()], stdout=log, stderr=log, check=False)
    if done.returncode != 0 and not required:
        say(f"They could not be installed; only commands in hosts need them. The reason is in {LOG}.")
    elif done.returncode != 0:
        raise SetupError(
            f"{text}\nThey could not be installed; the reason is in {LOG}. Run this yourself, then make again:\n  sudo {command}"
        )


# The virtual environment --------------------------------------------------------------------------------------


class Environment:
    """The making of the virtual environment in the background, with its progress."""

    def __init__(self) -> None:
        minor = environment_minor()
        self._fresh = minor is None
        make = ":"
        if minor is None:
            usable = [python for python in pythons() if python.has_venv]
            if not usable:
                raise SetupError("No Python 3.10 to 3.14 with venv and ensurepip was found. Install python3-venv.")
            minor = usable[0].minor
            make = f"'{usable[0].path}' -m venv --clear '{VENV}'"
        self._minor = minor
        lock = lock_for(minor)
        self._packages = sum(1 for line in lock.read_text().splitlines() if line and line[0] not in "#-")
        self._log = (ROOT / ".setup-pip.log").open("w+")
        python = f"'{VENV}/bin/python' -m pip --disable-pip-version-check"
        pip = f"{python} install --no-input --no-deps --progress-bar off"
        script = "\n".join(
            [
                "set -e",
                make,
                # A pip that is ended leaves what it has unpacked; here it is removed with the environment.
                f"rm -rf '{VENV}/tmp'; mkdir '{VENV}/tmp'; export TMPDIR='{VENV}/tmp'",
                f"{pip} -r '{lock}'",
                f"{pip} --no-build-isolation --no-color -q -e '{ROOT}'",
                # Python started next to a clone named netlab would import that folder as the package; this path precedes it.
                f"'{VENV}/bin/python' -c '{CLONE_ON_PATH}' '{ROOT}'",
                # setuptools puts no data files into an editable installation.
                f"mkdir -p '{VENV}/{EXTENSIONS}'",
                f"ln -sfn '{ROOT}/netlab_course/labextensions/netlab' '{VENV}/{EXTENSIONS}/netlab'",
                f"{python} check",
                f"rm -rf '{VENV}/tmp'",
            ]
        )
        environment = {name: value for name, value in os.environ.items() if name not in FOREIGN_VARIABLES}
        self._process = subprocess.Popen(
            ["sh", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            start_new_session=True,
            env=environment,
        )

    def progress(self) -> tuple[str, float]:
        """Return the state as text, and an estimate of the remaining seconds."""
        lines = Path(self._log.name).read_text(errors="replace").splitlines()
        collected = sum(line.startswith("Collecting ") for line in lines)
        installing = any(line.startswith("Installing collected") for line in lines)
        if self._process.poll() is not None:
            return "Python packages: done", 0.0
        if installing:
            return "Python packages: installing", 0.3 * SECONDS_PER_PACKAGE * self._packages
        return f"Python packages: {collected} of {self._packages}", SECONDS_PER_PACKAGE * (
            self._packages - 0.7 * collected
        )

    def running(self) -> bool:
        """Return whether the process is still running."""
        return self._process.poll() is None

    def raise_failure(self) -> None:
        """Raise SetupError with the end of the log if it has failed, at once rather than minutes later."""
        if not self._process.poll():
            return
        tail = "\n".join(line[:300] for line in Path(self._log.name).read_text(errors="replace").splitlines()[-12:])
        raise SetupError(
            f"The Python packages could not be installed. The end of {self._log.name}:\n{tail}\n"
            "They are fetched over the network. If .venv is damaged, remove it (make clean) and run make again."
        )

    def finish(self) -> None:
        """Wait for the end and write the stamp; raises SetupError if the process failed."""
        self._process.wait()
        self.raise_failure()
        STAMP.write_text(environment_stamp(self._minor))

    def stop(self) -> None:
        """End the process and remove an incomplete environment; a second Ctrl-C does not stop that."""
        before = {number: signal.signal(number, signal.SIG_IGN) for number in LEAVING}
        try:
            if self.running():
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            if self._fresh and not STAMP.exists():
                shutil.rmtree(VENV, ignore_errors=True)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


# Progress -----------------------------------------------------------------------------------------------------


def say(text: str) -> None:
    """Print a line now."""
    print(text, flush=True)


def make_environment_and_kernels(need_environment: bool, kinds: Sequence[str]) -> None:
    """Make both at the same time: fetching packages waits for the network, compiling for the processor."""
    line = ProgressLine(sys.stdout)
    why_no_library = ""
    no_kernel: NetlabError | None = None
    environment = Environment() if need_environment else None

    def show(parts: Sequence[str], remaining_s: float) -> None:
        line.show(f"{'; '.join(part for part in parts if part)} (about {max(1, round(remaining_s))} s left)", "set-up")

    def packages() -> tuple[str, float]:
        return environment.progress() if environment else ("", 0.0)

    def show_progress(moment: BuildProgress) -> None:
        if environment:
            environment.raise_failure()
        words, rest_s = packages()
        show([f"Kernel: {moment.fraction:.0%}, {moment.phase}", words], max(moment.remaining_s, rest_s))

    try:
        if kinds:
            try:
                why_no_library = building.build(progress=show_progress, kinds=kinds).why_no_library
            except NetlabError as error:
                # The packages do not depend on it, and with them the user has `netlab kernel` and `netlab doctor`.
                no_kernel = error
                line.close()
                if environment and environment.running():
                    say("The kernels could not be built; the reason follows after the Python packages.")
        while environment and environment.running():
            words, rest_s = packages()
            show([words], rest_s)
            time.sleep(0.2)
        if environment:
            environment.finish()
    finally:
        line.close()
        if environment:
            environment.stop()
    if no_kernel:
        raise no_kernel
    if why_no_library:
        say(f"The library kernel could not be built; experiments run without it. {why_no_library}")


def set_up_now(need_environment: bool, kinds: Sequence[str], began_s: float) -> None:
    """Make the environment and the kernels, and run an experiment with them.

    Raises
    ------
    SetupError, NetlabError
        If they cannot be made, or the experiment fails.
    """
    updated = kernels_of_another_version()
    when = "because this version of netlab needs newer ones" if updated else "the first time"
    parts = ["the Python packages in .venv"] * need_environment + [f"the {kind} kernel" for kind in kinds]
    minutes = " and ".join(parts) + (
        f"; {when}, this takes {2 * len(kinds)} to {4 * len(kinds)} minutes" if kinds else ""
    )
    say(f"Setting up {minutes}")
    make_environment_and_kernels(need_environment, kinds)
    say(f"Set up in {time.monotonic() - began_s:.0f} s. Self-check:\n")
    if subprocess.run([VENV / "bin/netlab", "demo"], stdin=subprocess.DEVNULL, check=False).returncode != 0:
        raise SetupError("The self-check failed. `.venv/bin/netlab doctor` says what is missing.")
    say(f"\n{time.monotonic() - began_s:.0f} s from the start to here.")


def main(arguments: Sequence[str] = ()) -> int:
    """Set up what is missing; returns the exit code."""
    if list(arguments) not in ([], [SYSTEM_ONLY], [LAB], [RELEASE], [RELEASE, IMAGE]):
        options = f"{SYSTEM_ONLY}, {LAB} or {RELEASE} [{IMAGE}]"
        print(f"netlab: setup.py takes no argument, {options}, got {' '.join(arguments)}", file=sys.stderr)
        return 2
    began_s = time.monotonic()

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    try:
        building.kinds_here()
        need_environment, kinds = not environment_is_ready(), missing_kernels()
        if SYSTEM_ONLY in arguments:
            # For another user, whose environment is still to be made.
            install_system_packages(missing_programs(bool(kinds), for_environment=True), bool(kinds))
            return 0
        if ROOT.is_relative_to("/mnt") and "microsoft" in platform.release().lower():
            say("This clone is on a disk of Windows, and slow from here: clone it into your Linux home instead.")
        if kinds and (copied := installed_kernels.copy_kernels(kinds, ROOT)):
            say(
                "Using the kernels of an installed wheel, which have the same recipe:\n  "
                + "\n  ".join(map(str, copied))
            )
            kinds = missing_kernels()
        release = RELEASE in arguments
        missing = []
        if need_environment or kinds or release:
            # The kernel for ARM is built in a release, wherever this machine's own kernels come from.
            missing = missing_programs(bool(kinds) or release, need_environment)
        for_release = release_programs.missing_programs(image=IMAGE in arguments) if release else []
        if for_release and not shutil.which("apt-get"):
            names = " ".join(package_of(program) for program in for_release)
            raise SetupError(
                f"{', '.join(for_release)} are missing. Make a release on Debian or Ubuntu; there, they are in {names}."
            )
        if not (need_environment or kinds or for_release or {*missing} - OPTIONAL_PROGRAMS):
            return 0
        LOG.unlink(missing_ok=True)
        install_system_packages([*missing, *for_release], bool(kinds))
        if kinds and (reason := sources.why_no_source()):
            raise SetupError(f"{reason}\n{RUN_AGAIN}")
        later = [kind for kind in kinds if kind == building.POCKET] if LAB in arguments else []
        if later and library_kernel.failure():
            later = []
        now = [kind for kind in kinds if kind not in later]
        if LAB in arguments:
            # Half of pip's processor time: Python compiles a module when it first imports it, and all others in the background.
            os.environ["PIP_COMPILE"] = "no"
        if need_environment or now:
            set_up_now(need_environment, now, began_s)
        if need_environment and LAB in arguments:
            subprocess.Popen(
                ["nice", VENV / "bin/python", "-m", "compileall", "-qq", VENV / "lib"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        if later:
            say(
                "The pocket kernel, for commands in hosts, is being built in the background; "
                "`.venv/bin/netlab doctor` shows the progress."
            )
            subprocess.run(
                [VENV / "bin/python", "-c", "from netlab_kernel import background_builder; background_builder.start()"],
                check=True,
            )
    except (SetupError, NetlabError) as error:
        print(f"netlab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nnetlab: stopped; no partial files are left. Run make again to continue.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
