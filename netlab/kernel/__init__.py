"""The pocket kernel: a Linux kernel as an ordinary program, built once and kept in the user's cache.

`find()` gives the kernel that runs experiments, `build()` makes one, `pack()` and `unpack()` carry it elsewhere.
"""

from netlab.errors import KernelError
from netlab.kernel.archive import pack, unpack
from netlab.kernel.building import build
from netlab.kernel.installed import Kernel, builds, find
from netlab.kernel.progress import BuildProgress

__all__ = ["BuildProgress", "Kernel", "KernelError", "build", "builds", "find", "pack", "unpack"]
