"""Describe what a release contains in addition to netlab's own files, as entries of a list in CycloneDX's format."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from netlab_engines.kernels import library_kernel, pocket_kernel

DECODER = Path(__file__).resolve().parent / "page" / "npm" / "package-lock.json"
"""The pin of the decoder that `lite.py` puts into the page."""
KERNEL_PROGRAMS = (*pocket_kernel.PROGRAMS[:1], library_kernel.PROGRAM, library_kernel.WASM_PROGRAM)
KERNEL_FACTS = re.compile(r"/carried/(kernels|libraries)/[^/]+/build\.json$")
KERNEL_LICENCES = [{"license": {"id": "GPL-2.0-only"}}]
EMPTY = "0"
"""The version of wheels in the page that stand for packages that it does not have."""


def kernels(wheels: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield the entry of each kernel in some wheels for a list in CycloneDX's format, with the source that netlab changed, its
    hash and the licence.
    """
    for path in sorted(wheels):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            for about in filter(KERNEL_FACTS.search, names):
                folder, facts = about.removesuffix("build.json"), json.loads(archive.read(about))
                program = next(name for name in KERNEL_PROGRAMS if folder + name in names)
                program_sha256 = hashlib.sha256(archive.read(folder + program)).hexdigest()
                yield _kernel_entry(path.name, program, program_sha256, facts)


def _kernel_entry(wheel: str, program: str, program_sha256: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of the kernel `program` in `wheel`, both names of files; `facts` is what its build.json holds."""
    source, machine = facts["source"], facts.get("machine", pocket_kernel.POCKET_MACHINE)
    is_package = source["kind"] == "package"
    ancestor = {
        "type": "operating-system",
        "bom-ref": f"{wheel}/{program}/source",
        "name": source["name"],
        "version": source["version"],
        "hashes": [{"alg": "SHA-256", "content": source["sha256"]}],
        "licenses": KERNEL_LICENCES,
        "purl": f"pkg:deb/debian/{source['name']}@{quote(source['version'])}"
        if is_package
        else f"pkg:generic/linux@{facts['release']}",
    }
    return {
        "type": "operating-system",
        "bom-ref": f"{wheel}/{program}",
        "name": "linux",
        "version": facts["release"],
        "description": f"{program} in {wheel}, for {machine}: Linux with netlab's changes (netlab.patch next to it)",
        "hashes": [{"alg": "SHA-256", "content": program_sha256}],
        "licenses": KERNEL_LICENCES,
        "pedigree": {"ancestors": [ancestor]},
    }


def page(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the entry of each package in the page in a directory: Pyodide, its packages, and JupyterLite's packages from npm."""
    lock = json.loads((folder / "static" / "pyodide" / "pyodide-lock.json").read_text())
    python = {(one["name"].lower(), one["version"], "") for one in lock["packages"].values()}
    npm = {
        (one["name"], one["versionInfo"], one["licenseId"])
        for path in folder.rglob("third-party-licenses.json")
        for one in json.loads(path.read_text(encoding="utf-8"))["packages"]
    } | {("pyodide", lock["info"]["version"], "MPL-2.0")}
    for place, package in json.loads(DECODER.read_text())["packages"].items():
        if place:
            npm.add((place.removeprefix("node_modules/"), package["version"], package["license"]))
    for kind, found in (("pypi", python), ("npm", npm)):
        for name, version, licence in sorted(found):
            if name != "netlab" and version != EMPTY:
                entry: dict[str, Any] = {
                    "type": "library",
                    "bom-ref": f"page/{kind}/{name}@{version}",
                    "name": name,
                    "version": version,
                    "description": "in the page in a browser",
                    "purl": f"pkg:{kind}/{quote(name)}@{quote(version)}",
                }
                yield {**entry, "licenses": [{"expression": licence}]} if licence else entry
