"""Find modules and names that a script imports and that its Python in the guest does not have."""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from netlab.base.errors import NetlabError
from netlab_engines.lab.script_check.added_directories import added_directories, extends_path
from netlab_engines.lab.script_check.problem import Problem
from netlab_engines.lab.script_check.reading import Source
from netlab_engines.lab.shared_directories import home_directory
from netlab_engines.paths import python_path

PYTHON_2 = {
    "commands": "subprocess.getoutput",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "httplib": "http.client",
    "BaseHTTPServer": "http.server",
    "SimpleHTTPServer": "http.server",
    "CGIHTTPServer": "http.server",
    "SocketServer": "socketserver",
    "Queue": "queue",
    "ConfigParser": "configparser",
    "StringIO": "io.StringIO",
    "cStringIO": "io.StringIO",
    "cPickle": "pickle",
    "thread": "_thread",
    "Tkinter": "tkinter",
    "tkMessageBox": "tkinter.messagebox",
    "__builtin__": "builtins",
    "HTMLParser": "html.parser",
    "tkFont": "tkinter.font",
    "tkFileDialog": "tkinter.filedialog",
    "tkSimpleDialog": "tkinter.simpledialog",
    "ttk": "tkinter.ttk",
    "Cookie": "http.cookies",
    "cookielib": "http.cookiejar",
    "xmlrpclib": "xmlrpc.client",
    "SimpleXMLRPCServer": "xmlrpc.server",
    "md5": "hashlib",
    "sha": "hashlib",
    "sets": "set",
    "dummy_thread": "_thread",
    "exceptions": "builtins",
}
"""Modules of Python 2, with what Python 3 has in their place."""
OTHER_PROGRAMS = {
    "ryu": "Ryu is a controller of OpenFlow switches, which netlab does not have",
    "pox": "POX is a controller of OpenFlow switches, which netlab does not have",
    "mn_wifi": "Mininet-WiFi is another program",
    "p4_mininet": "P4 switches are not part of Mininet",
    "p4utils": "P4 switches are not part of Mininet",
    "ipmininet": "IPMininet is another program",
}
PROJECTS = {
    "cv2": "opencv-python",
    "yaml": "PyYAML",
    "serial": "pyserial",
    "sklearn": "scikit-learn",
    "PIL": "pillow",
    "paho": "paho-mqtt",
    "zmq": "pyzmq",
    "grpc": "grpcio",
    "dateutil": "python-dateutil",
    "bs4": "beautifulsoup4",
    "Crypto": "pycryptodome",
    "OpenSSL": "pyOpenSSL",
}
"""Names under which pip knows a module, where they differ."""
RELATIVE = "a relative import (`from .name import`) fails outside a package; write `from name import`."
SYSTEM_PACKAGES = {"tkinter": "python3-tk"}
ASK = """
import importlib.util, json, sys
packages, own, names = json.loads(sys.stdin.read())
sys.path[:] = [*own, *(path for path in sys.path if path), *packages]
def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False
print(json.dumps([name for name in names if not has(name)]))
"""
PATIENCE_S = 20.0


@dataclass(frozen=True)
class ModuleDirectories:
    """The directories in which a script finds its own modules: its own directory, and those by which it extends
    sys.path.

    `script` is the script's own. `more` are those by which it extends sys.path, as far as they are in its text;
    `open_ended` says that it extends sys.path at all.
    """

    script: Path
    more: tuple[Path, ...]
    open_ended: bool

    def module(self, name: str) -> Path | None:
        """Return the path of the file of the script's own module or package `name`, which may have dots; None if the
        directories have none.
        """
        for place in (self.script, *self.more):
            path = _module_file(place / name.replace(".", os.sep))
            if path is not None:
                return path
        return None


def _module_file(base: Path) -> Path | None:
    """Return the path of the file of a Python package (`base/__init__.py`) or module (`base.py`), the package first;
    None if there is neither.
    """
    found = (path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file())
    return next(found, None)


def module_directories(source: Source, directory: Path) -> ModuleDirectories:
    """Return the directories in which a script that runs in `directory` finds its own modules: the directory of its
    file, and existing ones by which it extends sys.path, as far as its text names them.
    """
    home = source.path.parent
    more = [base / text for text in added_directories(source.tree, source.path) for base in (directory, home)]
    return ModuleDirectories(home, tuple(place for place in more if place.is_dir()), extends_path(source.tree))


def problems(source: Source, directories: ModuleDirectories) -> list[Problem]:
    """Return a problem for each module that a script imports and that is missing, and for each name that a module of
    Mininet lacks, except where the script has code for that; one that it certainly imports stops it, unless it is a
    missing module and the script extends sys.path. `directories` has the directories of its own modules.
    """
    imports = [(name, node) for name, node in imported_modules(source.tree) if node not in source.prepared_nodes]
    lacking = _missing_modules({name.partition(".")[0] for name, _ in imports}, directories)
    found = []
    for name, node in imports:
        top = name.partition(".")[0]
        if top in lacking:
            # A script that says itself where its modules are may also write them.
            stops = node in source.certain_nodes and not directories.open_ended
            found.append(
                Problem(source.path, _missing_sentence(top), [node.lineno], stops=stops, is_python2=top in PYTHON_2)
            )
    for part in ast.walk(source.tree):
        if isinstance(part, ast.ImportFrom) and part not in source.prepared_nodes:
            if not part.level:
                found += _missing_names(source.path, part, part in source.certain_nodes)
            elif not source.in_package:
                stops = part in source.certain_nodes
                found.append(Problem(source.path, RELATIVE, [part.lineno], stops=stops))
    return found


def local_modules(source: Source, directories: ModuleDirectories) -> Iterator[tuple[Path, bool]]:
    """Yield the path of each module in `directories`, the script's own modules, that the script imports, and whether it
    certainly imports it; a module may come several times. Relative imports, and those for whose failure the script is
    prepared (`except ImportError`), are left out; `from package import module` gives the package's file.
    """
    for name, node in imported_modules(source.tree):
        path = directories.module(name)
        if path is not None and node not in source.prepared_nodes:
            yield path, node in source.certain_nodes


def imported_modules(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the full name of each module that a parsed script imports, with the statement that does it; relative
    imports are left out.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node


def _missing_sentence(name: str) -> str:
    """Return a sentence with a remedy about the missing top-level module `name`, such as "numpy" (not "numpy.linalg"):
    its successor in Python 3, its package or the command that installs it.
    """
    if name in PYTHON_2:
        return f"module {name} is Python 2; Python 3 has {PYTHON_2[name]}."
    if name in OTHER_PROGRAMS:
        return f"module {name} is not installed: {OTHER_PROGRAMS[name]}."
    if name in SYSTEM_PACKAGES:
        return f"module {name} is not installed; on Debian and Ubuntu its package is {SYSTEM_PACKAGES[name]}."
    return (
        f"module {name} is not installed for netlab's Python and is not next to the script; if it is a package of PyPI: "
        f"{sys.executable} -m pip install {PROJECTS.get(name, name)}"
    )


def _missing_modules(names: set[str], directories: ModuleDirectories) -> set[str]:
    """Return those of `names`, names of top-level modules, that a script with its own modules in `directories` cannot
    import, as a Python process with the guest's paths tells; an empty set if that cannot be tested within PATIENCE_S s.
    The modules are not executed.
    """
    names = {name for name in names if name not in ("mininet", "netlab") and not _is_certainly_there(name)}
    # Python 3.12 has no distutils; the guest has the part that Mininet asks for.
    names.discard("distutils")
    if not names:
        return set()
    try:
        packages = python_path()
    except NetlabError:
        return set()
    own = [str(place.absolute()) for place in (directories.script, *directories.more)]
    question = json.dumps([packages, own, sorted(names)])
    try:
        answer = subprocess.run(
            [os.path.realpath(sys.executable), "-c", ASK],
            input=question,
            capture_output=True,
            text=True,
            cwd="/",
            env={"HOME": str(home_directory()), "PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            timeout=PATIENCE_S,
            check=True,
        )
        return set(json.loads(answer.stdout))
    except (OSError, subprocess.SubprocessError, ValueError):
        # An unknown answer is not a problem of the script.
        return set()


def _is_certainly_there(name: str) -> bool:
    """Return whether the top-level module `name` is in the standard library of every Python on every distribution."""
    # Distributions leave out what the C library or a graphical display would have to have.
    return name in sys.builtin_module_names or (
        name in sys.stdlib_module_names and name not in ("tkinter", "distutils")
    )


@functools.cache
def _names_of(module: str) -> frozenset[str] | None:
    """Return the names that can be imported from a module of Mininet, such as "mininet.net": an empty set if Mininet
    has no such module, None if they are not known, because Mininet is not installed or the module itself imports all
    names of another. The module's text is read and not executed.
    """
    found = importlib.util.find_spec("mininet")
    if found is None or found.origin is None:
        return None
    path = _module_file(Path(found.origin).parent.joinpath(*module.split(".")[1:]))
    if path is None:
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {entry.stem for entry in path.parent.iterdir()} if path.name == "__init__.py" else set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return None
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return frozenset(names | {"__file__", "__doc__", "__name__"})


def _missing_names(path: Path, node: ast.ImportFrom, executed: bool) -> list[Problem]:
    """Return a problem for each name in the statement `node` of the file `path` that a module of Mininet lacks, or one
    problem if Mininet lacks the module; [] for other modules, and if the names are not known. `executed` is whether the
    statement certainly runs, so that the problem stops the script.
    """
    module = node.module or ""
    if module.partition(".")[0] != "mininet":
        return []
    names = _names_of(module)
    if names is None:
        return []
    if not names:
        return [Problem(path, f"Mininet has no module {module}.", [node.lineno], stops=executed)]
    return [
        Problem(path, f"{module} of Mininet has no {alias.name}.", [node.lineno], stops=executed)
        for alias in node.names
        if alias.name != "*" and alias.name not in names
    ]
