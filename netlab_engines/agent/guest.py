"""First process of the pocket kernel: mount an overlay over the host's files, then run a program such as the agent.

Python itself is the init process: a shell script would start a process per mount.

Usage: guest.py FOLDER

FOLDER is an absolute path, the only host directory that the guest always writes to. Its file `boot.json` has the module
whose `work` is called (`program`), the directories of netlab and Mininet (`packages`), the shell's search path
(`path`), and other directories of the host that the guest may write to (`shared`).
"""

import ctypes
import fcntl
import json
import os
import sys
import time

MNT_DETACH = 2
MS_RDONLY, MS_BIND = 1, 4096
RB_POWER_OFF = 0x4321FEDC
RNDRESEEDCRNG = 0x5207
GRID_S = 0.01
STAGE = "/tmp"
CPUS, COMPLETE_CPUS = "/proc/cpuinfo", "/run/cpuinfo"
WRITTEN_FILES = "/run/netlab/written"
"""A directory of the files that the guest has written outside the host's directories, by their paths in the guest."""

libc = ctypes.CDLL(None, use_errno=True)
libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]


def mount(kind: str, target: str, options: str = "", flags: int = 0) -> None:
    """Mount a file system of the type `kind`, such as "tmpfs", on the directory `target`, with options as mount(8)
    takes them and flags as mount(2) does; the device has the name of the type. Raises OSError if the kernel refuses.
    """
    if libc.mount(kind.encode(), os.fsencode(target), kind.encode(), flags, os.fsencode(options)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind} on {target}: {os.strerror(number)}")


def bind(source: str, target: str) -> None:
    """Make the directory or file `source` visible at the directory or file `target` as well. Raises OSError if the
    kernel refuses.
    """
    if libc.mount(os.fsencode(source), os.fsencode(target), b"", MS_BIND, b"") != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"bind {source} to {target}: {os.strerror(number)}")


def enter_overlay(folder: str, shared: list[str]) -> None:
    """Make / an overlay over the host's files, with new proc, sys, dev and run file systems: what the guest writes
    stays in its memory, except below the run's folder `folder` and the directories `shared` (absolute paths), which are
    the host's own. A directory /root that the host's user may not enter is empty in the guest, where everybody is root.
    Raises OSError if a mount fails.
    """
    mount("tmpfs", STAGE, "mode=755")
    for name in ("upper", "work", "root"):
        os.mkdir(f"{STAGE}/{name}")
    root = f"{STAGE}/root"
    mount("overlay", root, f"lowerdir=/,upperdir={STAGE}/upper,workdir={STAGE}/work")
    for kind, name in (("proc", "proc"), ("sysfs", "sys"), ("tmpfs", "run"), ("devtmpfs", "dev")):
        os.makedirs(f"{root}/{name}", exist_ok=True)
        mount(kind, f"{root}/{name}")
    for name in ("dev/pts", "dev/shm", "run/netns"):
        os.makedirs(f"{root}/{name}", exist_ok=True)
    mount("devpts", f"{root}/dev/pts")
    mount("tmpfs", f"{root}/dev/shm")
    if os.path.isdir(f"{root}/root") and not os.access(f"{root}/root", os.R_OK | os.X_OK):
        os.makedirs(f"{STAGE}/upper/root", exist_ok=True)
        bind(f"{STAGE}/upper/root", f"{root}/root")
    if shared:
        share(root, folder, shared)
    os.makedirs(root + folder, exist_ok=True)
    mount("hostfs", root + folder, folder)
    os.makedirs(f"{root}/.old", exist_ok=True)
    if libc.pivot_root(root.encode(), f"{root}/.old".encode()) != 0:
        raise OSError(ctypes.get_errno(), "pivot_root")
    os.chdir("/")
    if libc.umount2(b"/.old", MNT_DETACH) != 0:
        raise OSError(ctypes.get_errno(), "umount")
    os.rmdir("/.old")
    if not os.path.exists("/dev/fd"):
        os.symlink("/proc/self/fd", "/dev/fd")
    end_cpu_description()


def share(root: str, folder: str, shared: list[str]) -> None:
    """Mount the host's directories `shared` for writing below the new root `root`, and the files that the guest writes
    elsewhere at WRITTEN_FILES; all are absolute paths. `folder` is the run's folder for the agent's files; the
    directory above its parent is hidden, save for the parent, which is read-only. Raises OSError if a mount fails.

    netlab's own files in the directory above `folder` stay hidden or read-only.
    """
    for place in sorted(shared):
        mount("hostfs", root + place, place)
    run = os.path.dirname(folder)
    # A script that clears /tmp must not delete its own guest's files or those of other runs.
    mount("tmpfs", root + os.path.dirname(run), "mode=700")
    os.makedirs(root + run)
    mount("hostfs", root + run, run, MS_RDONLY)
    os.makedirs(root + WRITTEN_FILES)
    bind(f"{STAGE}/upper", root + WRITTEN_FILES)


def end_cpu_description() -> None:
    """Show an empty line at the end of /proc/cpuinfo, as other kernels do after each processor. Raises OSError if the
    kernel refuses.

    `ps -ef`, `ps aux`, `top` and `vmstat` (procps 4) fail without that line, which User-Mode Linux does not print.
    """
    with open(CPUS) as file:
        text = file.read()
    with open(COMPLETE_CPUS, "w") as file:
        file.write(f"{text.rstrip()}\n\n")
    bind(COMPLETE_CPUS, CPUS)


def forget_start_up() -> None:
    """Draw new random keys in the guest's kernel and sleep until the next multiple of GRID_S s on the monotonic clock,
    so that nothing depends on how this Python started.
    """
    with open("/dev/urandom", "wb") as file:
        fcntl.ioctl(file, RNDRESEEDCRNG)
    time.sleep(GRID_S - time.monotonic() % GRID_S)


def power_off() -> None:
    """Write all buffered files to the host and end the guest at once, with all its programs; does not return."""
    os.sync()
    libc.reboot(RB_POWER_OFF)


def main() -> None:
    """Set up the guest from the file boot.json in the folder that the command line names: its environment variables,
    the overlay and the path of imports. Then run its program's function `work`, and power off in any case. The class
    and text of an exception are written to crash.txt in the folder.
    """
    folder = sys.argv[1]
    try:
        with open(f"{folder}/boot.json") as file:
            boot = json.load(file)
        os.environ["PATH"] = ":".join(boot["path"])
        os.environ["SHELL"] = "/bin/sh"
        os.environ["HOME"] = "/root"
        enter_overlay(folder, boot["shared"])
        # This file runs by path and without `site`, which would cost a tenth of a second.
        sys.path.extend(boot["packages"])
        import importlib

        from netlab_engines.agent.host_channel import HostChannel

        program = importlib.import_module(boot["program"])
        program.work(HostChannel(forget_start_up, power_off), folder, boot["packages"])
    except BaseException as error:
        with open(f"{folder}/crash.txt", "w") as file:
            file.write(f"{type(error).__name__}: {error}\n")
        raise
    finally:
        power_off()


if __name__ == "__main__":
    main()
