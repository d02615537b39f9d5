"""Read and write wheels: the same files give the same bytes, and programs keep the right to be executed.

pip and uv set the right to execute on the files whose mode in the archive has it; setuptools takes modes from the file
system and can write neither several platforms nor a fixed order.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import time
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

PLAIN_MODE, PROGRAM_MODE = 0o100644, 0o100755


def read(wheel: Path) -> dict[str, bytes]:
    """Return the contents of a wheel's files by name, without those that `write` makes anew."""
    with zipfile.ZipFile(wheel) as archive:
        names = [
            name for name in archive.namelist() if not name.endswith(("/", ".dist-info/RECORD", ".dist-info/WHEEL"))
        ]
        return {name: archive.read(name) for name in names}


def write(
    directory: Path,
    project: str,
    platforms: Sequence[str],
    files: Mapping[str, bytes],
    *,
    programs: Collection[str] = (),
    written_s: int,
) -> Path:
    """Write a wheel for any Python 3 and return its path.

    Parameters
    ----------
    directory : Path
        The directory of the wheel, which is made if it is missing.
    project : str
        The project's name and version as in the names of files, such as "netlab-0.1.0".
    platforms : sequence of str
        The platform tags, such as "any"; one of them is enough for a machine to accept the wheel.
    files : mapping of str to bytes
        The contents by name, with METADATA and without WHEEL and RECORD.
    programs : collection of str
        The names of those that can be executed.
    written_s : int
        The time of all files in s since 1970.
    """
    about = f"{project}.dist-info"
    # Root-Is-Purelib also holds for the wheels with kernels: no file is loaded by Python, and all of netlab's packages must
    # be in one directory, whichever wheel they come from.
    head = ["Wheel-Version: 1.0", "Generator: netlab's tools/wheel.py", "Root-Is-Purelib: true"]
    tags = [f"Tag: py3-none-{platform}" for platform in platforms]
    contents = {**files, f"{about}/WHEEL": "\n".join([*head, *tags, ""]).encode()}
    contents[f"{about}/RECORD"] = _record(contents, f"{about}/RECORD")
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / f"{project}-py3-none-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        # The descriptions come last, where installers find them without a search.
        for name in sorted(contents, key=lambda name: (name.startswith(about), name)):
            entry = zipfile.ZipInfo(name, time.gmtime(written_s)[:6])
            entry.create_system = 3
            entry.external_attr = (PROGRAM_MODE if name in programs else PLAIN_MODE) << 16
            archive.writestr(entry, contents[name], zipfile.ZIP_DEFLATED, compresslevel=9)
    return target


def _record(contents: Mapping[str, bytes], own_name: str) -> bytes:
    """Return the text of RECORD: each file's name, SHA-256 and size, and the name of RECORD itself."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for name in sorted(contents):
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(contents[name])])
    rows.writerow([own_name, "", ""])
    return text.getvalue().encode()
