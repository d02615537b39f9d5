"""Linux kernels as ordinary programs, built once and kept in the user's cache: the pocket kernel and the library kernel.

`find()` returns the pocket kernel that runs experiments, and `library.find()` the library kernel. `build()` makes both;
`pack()` and `unpack()` copy them to other machines.
"""

from netlab.base.errors import KernelError
from netlab_kernel.archive import pack, unpack
from netlab_kernel.building import Kernels, build
from netlab_kernel.installed import Kernel, builds, find
from netlab_kernel.progress import BuildProgress

__all__ = ["BuildProgress", "Kernel", "KernelError", "Kernels", "build", "builds", "find", "pack", "unpack"]
