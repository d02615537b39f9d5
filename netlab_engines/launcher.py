"""Confine this process to some directories and a CPU, then execute a program, which ends with its parent.

This is a separate program, because Landlock, resource limits and the death signal must not apply to the notebook, and
because a Python process with threads must not set them between fork and exec.

Usage: launcher.py PARENT_PID CPU WRITABLE READABLE PROGRAM [ARGUMENT...]

CPU -1 allows all CPUs. WRITABLE and READABLE are paths separated by colons. An empty READABLE does not limit reading;
else the program can read no other files and cannot use the host's network. A directory after `=` can be listed, but its
files not read.
"""

import ctypes
import os
import resource
import signal
import struct
import sys

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
VERSION_QUERY = 1
RULE_PATH_BENEATH = 1

# From linux/landlock.h: rights that the guest has only in its own directories.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << bit for bit in range(4))
REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
REFER, TRUNCATE = 1 << 13, 1 << 14
SCOPE_ABSTRACT_UNIX_SOCKET, SCOPE_SIGNAL = 1 << 0, 1 << 1
BIND_AND_CONNECT_TCP = (1 << 0) | (1 << 1)
NETWORK_SINCE = 4
ALWAYS_READABLE = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/proc", "/sys", "/dev")
"""Programs, libraries and the kernel's own files, which every program needs and which have no secrets."""
LIST_ONLY = "="

_libc = ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """Return the version of Landlock's interface in this machine's kernel, or 0 if Landlock is
    missing or switched off.
    """
    return max(0, int(_libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, VERSION_QUERY)))


def confine(writable: list[str], readable: list[str] | None = None) -> bool:
    """Allow this process and its children, for good, to write only below the paths `writable` and to device files, and
    to read only those, system programs and `readable` (None: everything); a path in `readable` that begins with `=` may
    only be listed. As far as the kernel can, `readable` also forbids TCP, and signals and abstract sockets reach only
    such children. Return True, or False, with nothing confined, if the kernel has no Landlock. Raises OSError if
    Landlock refuses or a path does not exist.
    """
    version = landlock_version()
    if version < 1:
        return False
    write = WRITE_FILE | REMOVE_AND_MAKE
    if version >= 2:
        write |= REFER
    if version >= 3:
        write |= TRUNCATE
    read = EXECUTE | READ_FILE | READ_DIR if readable is not None else 0
    scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL if version >= 6 else 0
    network = BIND_AND_CONNECT_TCP if version >= NETWORK_SINCE and readable is not None else 0
    size = 24 if version >= 6 else 16 if version >= NETWORK_SINCE else 8
    attributes = struct.pack("QQQ", write | read, network, scoped)[:size]
    ruleset = _libc.syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    rules = [(directory, write | read) for directory in writable]
    rules.append(("/dev", write & (WRITE_FILE | TRUNCATE)))
    if readable is not None:
        rules += [(path, read) for path in ALWAYS_READABLE if os.path.exists(path)]
        rules += [(path[1:], READ_DIR) if path.startswith(LIST_ONLY) else (path, read) for path in readable]
    for path, allowed in rules:
        handle = os.open(path, os.O_PATH)
        # Landlock refuses rights for directory entries on a file.
        fitting = allowed if os.path.isdir(path) else allowed & (EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE)
        rule = struct.pack("=Qi", fitting, handle)
        if _libc.syscall(LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0) != 0:
            raise OSError(ctypes.get_errno(), f"landlock_add_rule {path}")
        os.close(handle)
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0:
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    return True


def main(arguments: list[str]) -> None:
    """Confine this process, raise its limit of open files, and execute a program in place of it; does not return.
    `arguments` are the parent's pid, a CPU (-1: all), writable and readable paths (each separated by colons; no
    readable ones: all), the program and its arguments. The process is killed when its parent ends, and exits with 1 if
    that has ended.
    """
    parent, cpu, writable, readable = int(arguments[0]), int(arguments[1]), arguments[2], arguments[3]
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # The parent died before the signal was set.
        sys.exit(1)
    if cpu >= 0:
        os.sched_setaffinity(0, {cpu})
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # hostfs holds a descriptor for every file that the guest has open or cached.
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    confine(writable.split(":"), readable.split(":") if readable else None)
    os.execv(arguments[4], arguments[4:])  # noqa: S606 (executing a program is the purpose of a launcher)


if __name__ == "__main__":
    main(sys.argv[1:])
