"""Copy kernels of netlab's wheel to the user's cache where they cannot be executed in `site-packages`."""

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from netlab.base.errors import KernelError
from netlab.base.location import CARRIED_FOLDER
from netlab_engines.kernels.installation import install, staging_directory

OTHER_CACHE = "Set NETLAB_CACHE to a directory of yours in which programs may be executed (mounted without noexec)."


def executable_build(directories: Sequence[Path], programs: Sequence[str], kind_directory: Path) -> Path:
    """Return the first of `directories`, which hold the same build, the best first, in which the programs with the
    names `programs` can be executed. If there is none, and one of them is in netlab's wheel, copy that one into
    `kind_directory`, the user's directory of this kind of kernel, and return the copy.

    Raises
    ------
    KernelError
        If the programs cannot be executed in any of them, and no copy can be made in which they can.
    """
    for directory in directories:
        if _can_execute(directory, programs):
            return directory
    of_wheel = [directory for directory in directories if CARRIED_FOLDER in directory.parents]
    if not of_wheel:
        raise KernelError(f"The programs in {directories[0]} cannot be executed. {OTHER_CACHE}")
    target = kind_directory / directories[0].name
    try:
        copy_build(of_wheel[0], target, programs)
    except OSError as error:
        raise KernelError(
            f"The programs in {of_wheel[0]} cannot be executed there, and copying them to {target} failed "
            f"({error.strerror}). {OTHER_CACHE}"
        ) from error
    return target


def _can_execute(directory: Path, programs: Sequence[str]) -> bool:
    """Return whether this user may execute all programs with these names in `directory`; False if one is missing or the
    file system is mounted noexec.
    """
    return all(os.access(directory / name, os.X_OK) for name in programs)


def copy_build(directory: Path, target: Path, programs: Sequence[str]) -> None:
    """Copy the build in `directory` to `target` in one step, and make the files `programs` in it executable. A build
    that is at `target` already is kept if its programs can be executed, and else replaced. Raises OSError if the copy's
    programs cannot be executed; nothing at `target` is then changed.
    """
    with staging_directory() as work:
        copied = work / target.name
        shutil.copytree(directory, copied)
        for name in programs:
            (copied / name).chmod(0o755)
        if not _can_execute(copied, programs):
            raise OSError(errno.EACCES, "programs cannot be executed there either")
        try:
            if not _can_execute(target, programs):
                install(copied, target)
        except OSError:
            # Another process may have copied it meanwhile.
            if not _can_execute(target, programs):
                raise
