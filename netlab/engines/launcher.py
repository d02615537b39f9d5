"""Become a program that may write in the named directories only, runs on one CPU and dies with its parent.

A process of its own, because what it does to itself (Landlock, resource limits, the death signal) must not happen to the
notebook, and because Python forbids it between fork and exec of a program with threads.

Usage: launcher.py PARENT_PID CPU DIRECTORY[:DIRECTORY...] PROGRAM [ARGUMENT...]; CPU -1 leaves all CPUs.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446
VERSION_QUERY = 1
RULE_PATH_BENEATH = 1

# From linux/landlock.h: what the guest must not do to the host's files outside its own directories.
WRITE_FILE = 1 << 1
REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
REFER = 1 << 13
TRUNCATE = 1 << 14
SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0
SCOPE_SIGNAL = 1 << 1

_libc = ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """Landlock's interface version on this host; 0 where it is missing or switched off."""
    return max(0, int(_libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, VERSION_QUERY)))


def confine(directories: list[str]) -> bool:
    """Allow this process and its children to write below `directories` and to device files only.

    Returns
    -------
    bool
        False where the host has no Landlock; nothing is confined then.

    Raises
    ------
    OSError
        When Landlock is there and refuses.
    """
    version = landlock_version()
    if version < 1:
        return False
    handled = WRITE_FILE | REMOVE_AND_MAKE
    if version >= 2:
        handled |= REFER
    if version >= 3:
        handled |= TRUNCATE
    scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL if version >= 6 else 0
    attributes = struct.pack("QQQ", handled, 0, scoped)[: 24 if version >= 6 else 8]
    ruleset = _libc.syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    rules = [(directory, handled) for directory in directories]
    rules.append(("/dev", handled & (WRITE_FILE | TRUNCATE)))
    for directory, allowed in rules:
        handle = os.open(directory, os.O_PATH)
        rule = struct.pack("=Qi", allowed, handle)
        if _libc.syscall(LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0) != 0:
            raise OSError(ctypes.get_errno(), f"landlock_add_rule {directory}")
        os.close(handle)
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0:
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    return True


def main(arguments: list[str]) -> None:
    """Confine this process, then become the program."""
    parent, cpu, directories = int(arguments[0]), int(arguments[1]), arguments[2].split(":")
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # The parent died before the signal was ordered.
        sys.exit(1)
    if cpu >= 0:
        os.sched_setaffinity(0, {cpu})
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # hostfs holds a descriptor for every file that the guest has open or cached.
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    confine(directories)
    os.execv(arguments[3], arguments[3:])  # noqa: S606 (to become another program is what a launcher does)


if __name__ == "__main__":
    main(sys.argv[1:])
