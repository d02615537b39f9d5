"""The part of `netlab doctor`'s report about building kernels on this machine."""

import platform
import shutil
import sys

from netlab.engines import Requirement
from netlab_engines.kernels import background_build, pocket_kernel
from netlab_kernel import prerequisites


def sections() -> dict[str, list[Requirement]]:
    """Return one optional requirement, the programs for a build of the pocket kernel, met or not, in a list by the
    title of the report's section; {} if a pocket kernel is there, a build runs, or this machine cannot run one.
    """
    here = sys.platform == "linux" and platform.machine() == pocket_kernel.POCKET_MACHINE
    if not here or pocket_kernel.builds() or background_build.current_progress():
        return {}
    missing = [program for program in prerequisites.NEEDED_PROGRAMS if not shutil.which(program)]
    requirement = Requirement(
        "kernel build",
        not missing,
        f"{', '.join(missing)} not found" if missing else "all programs are there",
        "Needed only to build the kernel here; `make lab` installs them, or install a kernel from another machine "
        "with `netlab kernel unpack FILE`.",
        required=False,
    )
    return {"Building kernels (only where none is installed)": [requirement]}
