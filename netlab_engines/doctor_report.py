"""The part of `netlab doctor`'s report about engines: their requirements, with remedies."""

import contextlib
import platform
import sys
import time
from collections.abc import Collection
from dataclasses import replace

from netlab.base.errors import KernelError, NetlabError
from netlab.engines import Requirement
from netlab_engines import selection
from netlab_engines.kernels import background_build, library_kernel, pocket_kernel
from netlab_engines.kernels.builds import FEATURES_HINT, REBUILD_HINT
from netlab_engines.kernels.parts import PARTS
from netlab_engines.library.engine import kernel_requirement

# Host files of the pocket kernel, which the library kernel does not need.
POCKET_ONLY = {"host_channel", "hostfs", "overlay", "pause"}


def sections() -> dict[str, list[Requirement]]:
    """Check this machine and return the requirements of each engine, met or not, in a list by the title of their
    section in the report, in its order; the section of programs in hosts is left out on machines without a pocket
    kernel. A guest may be booted for the check.
    """
    pocket_sections = {"Pocket engine (experiments in netlab's own kernel, without root)": pocket()}
    if has_pocket_engine():
        pocket_sections["Programs in hosts (optional: commands, terminals and Mininet scripts)"] = host_programs()
    return {
        **pocket_sections,
        "Library engine (the network stack as one program, for runs without commands)": library(),
        "Native engine (optional: experiments on this machine's kernel, as root)": native(),
    }


def has_pocket_engine() -> bool:
    """Return whether this machine runs Linux on the only processor for which there is a pocket kernel (x86-64); nothing
    is booted.
    """
    return sys.platform == "linux" and platform.machine() == pocket_kernel.POCKET_MACHINE


def host_programs() -> list[Requirement]:
    """Return the programs that commands in hosts use most, each as an optional requirement that is met if the program
    is installed.
    """
    from netlab_engines import pocket

    return pocket.host_programs()


def pocket() -> list[Requirement]:
    """Check the requirements of the pocket engine and the features of its kernel, and return them, met or not, in a
    list. Without a kernel, the progress or the failure of its build takes the place of its features; on processors
    without a pocket kernel there is one optional requirement that is not met. A guest is booted if all required ones
    are met.
    """
    if not has_pocket_engine():
        seen = f"is for {pocket_kernel.POCKET_MACHINE} Linux, this is {platform.system()} on {platform.machine()}"
        return [
            Requirement("pocket kernel", False, seen, "Use the library engine; it has no commands.", required=False)
        ]
    from netlab_engines.pocket import machine_requirements

    found = machine_requirements()
    try:
        kernel = pocket_kernel.find()
    except KernelError:
        if moment := background_build.current_progress():
            return [*found, Requirement("kernel build", True, selection.build_sentence(moment))]
        if reason := background_build.failure():
            found.append(
                Requirement(
                    "kernel build", False, reason, "`netlab kernel build` or the next `make lab` tries again.", False
                )
            )
        return found
    if pocket_kernel.by_another_version(kernel):
        seen = "another version of netlab built this kernel"
        found.append(Requirement("kernel recipe", False, seen, REBUILD_HINT, required=False))
    hint = f"Chapters that need them stop with a message. {FEATURES_HINT}"
    if all(requirement.ok for requirement in found if requirement.required):
        found.append(_boot(kernel))
    return [*found, _features(set(PARTS) - kernel.capabilities, hint)]


def _boot(kernel: pocket_kernel.PocketKernel) -> Requirement:
    """Boot a guest in this pocket kernel and end it. Return the result as a requirement: met, with the time in s, or
    not met, with the error as its remedy; nothing is raised if it does not start.
    """
    from netlab_engines.guests import Guest

    began_s = time.monotonic()
    try:
        with contextlib.closing(Guest(kernel)) as guest:
            guest.wait_until_ready()
    except (NetlabError, OSError) as error:
        return Requirement("kernel boot", False, "the pocket kernel does not start", str(error))
    return Requirement("kernel boot", True, f"the pocket kernel starts in {time.monotonic() - began_s:.1f} s")


def library() -> list[Requirement]:
    """Check the requirements of the library engine and, if its kernel is built, the kernel's features, and return them,
    met or not, in a list; the kernel is optional where the pocket engine works, and the features always.
    """
    found = [replace(kernel_requirement(), required=not has_pocket_engine())]
    try:
        lacking = set(PARTS) - library_kernel.find().capabilities - POCKET_ONLY
    except KernelError:
        return found
    return [*found, _features(lacking, FEATURES_HINT)]


def _features(missing: Collection[str], hint: str) -> Requirement:
    """Return the optional requirement that a kernel has all of netlab's features; it is not met if `missing`, the names
    of the missing ones, is not empty. `hint` is its remedy, a sentence.
    """
    seen = f"lacks {', '.join(sorted(missing))}" if missing else "all that netlab uses"
    return Requirement("kernel features", not missing, seen, hint, required=False)


def native() -> list[Requirement]:
    """Check the requirements of the native engine and, if they are met, the features of this machine's kernel, and
    return them, met or not, as optional ones in a list; on other systems than Linux there is one that is not met.
    """
    if sys.platform != "linux":
        return [Requirement("Linux", False, f"this is {platform.system()}", required=False)]
    from netlab_engines import host_kernel
    from netlab_engines.native import NativeEngine

    found = NativeEngine().requirements()
    if all(requirement.ok for requirement in found):
        found.append(host_kernel.features())
    return [replace(requirement, required=False) for requirement in found]
