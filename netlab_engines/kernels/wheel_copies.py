"""Copy kernels of netlab's wheel to the user's cache where they cannot be executed in `site-packages`."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from netlab.base.cache import root
from netlab.base.errors import KernelError
from netlab.base.location import CARRIED


def executable_build(directory: Path, programs: Sequence[str], kind_directory: Path) -> Path:
    """Return the directory of a build whose programs can be executed: `directory` itself if it is not in netlab's wheel
    or its programs can be executed there, else a copy in the user's directory of that kind of kernel, which is made at
    the first call.

    Parameters
    ----------
    directory : Path
        The directory of a build.
    programs : sequence of str
        The names of its programs.
    kind_directory : Path
        The user's directory of that kind of kernel, as `cache.kernels` returns it.

    Raises
    ------
    KernelError
        If the copy cannot be made, or its programs cannot be executed either.
    """
    if CARRIED not in directory.parents or _can_execute(directory, programs):
        return directory
    target = kind_directory / directory.name
    try:
        if not target.is_dir():
            _copy(directory, target, programs)
    except OSError as error:
        raise KernelError(
            f"The programs in {directory} cannot be executed there, and copying them to {target} failed "
            f"({error.strerror}). Set NETLAB_CACHE to a directory of yours in which programs may be executed."
        ) from error
    if not _can_execute(target, programs):
        raise KernelError(
            f"The programs in {directory} cannot be executed, neither there nor in the copy {target}. Set NETLAB_CACHE to a "
            "directory of yours in which programs may be executed (mounted without noexec)."
        )
    return target


def _can_execute(directory: Path, programs: Sequence[str]) -> bool:
    """Return whether this user may execute all these programs; False on a file system that is mounted noexec."""
    return all(os.access(directory / name, os.X_OK) for name in programs)


def _copy(directory: Path, target: Path, programs: Sequence[str]) -> None:
    """Copy a build with executable programs to `target` at once; if another process has made the copy meanwhile, keep
    that one. Raises OSError.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    # In the cache's top directory, so that a search for kernels does not find an incomplete copy.
    with tempfile.TemporaryDirectory(prefix=".copy-", dir=root()) as work:
        copied = Path(work) / target.name
        shutil.copytree(directory, copied)
        for name in programs:
            (copied / name).chmod(0o755)
        try:
            copied.rename(target)
        except OSError:
            if not target.is_dir():
                raise
