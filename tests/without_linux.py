"""Windows or macOS, as far as Python on Linux can be it: run with -c before netlab is imported.

Modules that are not there cannot be imported, and `os`, `select` and `signal` lack what they lack there. The standard
library and the packages are imported before, because on those systems they are others.
"""

import asyncio.subprocess  # noqa: F401
import concurrent.futures.process  # noqa: F401
import ctypes  # noqa: F401
import importlib.abc
import importlib.metadata
import multiprocessing  # noqa: F401
import os
import platform
import select
import shutil  # noqa: F401
import signal
import sys
import tempfile  # noqa: F401
import types

import pandas as pd  # noqa: F401
import wasmtime  # noqa: F401

MODULES = frozenset({"fcntl", "resource", "termios", "tty", "pty", "grp", "pwd", "mininet"})
NAMES = {
    os: (
        "getuid geteuid getgid fork setsid sched_getaffinity sched_setaffinity killpg getpgid uname mkfifo sysconf getloadavg "
        "O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY eventfd pidfd_open setns unshare"
    ),
    select: "poll epoll EPOLLIN POLLIN",
    signal: "SIGKILL SIGHUP SIGALRM SIGPROF SIGUSR1 SIGCHLD SIGQUIT SIGPIPE SIGTSTP setitimer alarm pthread_sigmask",
}


class _NotThere(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


_version = importlib.metadata.version


def _version_there(name):
    if name in MODULES:
        raise importlib.metadata.PackageNotFoundError(name)
    return _version(name)


def begin(system: str = "win32") -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in MODULES]:
        del sys.modules[name]
    if system == "emscripten":
        # A browser's `fcntl` exists, but without locks.
        sys.modules["fcntl"] = types.ModuleType("fcntl")
    sys.meta_path.insert(0, _NotThere())
    for module, words in NAMES.items():
        for word in words.split():
            if system == "win32" and hasattr(module, word):
                delattr(module, word)
    importlib.metadata.version = _version_there
    sys.platform = system
    platform.system = lambda: {"win32": "Windows", "darwin": "Darwin", "emscripten": "Emscripten"}[system]
    platform.machine = lambda: {"win32": "AMD64", "darwin": "arm64", "emscripten": "wasm32"}[system]
