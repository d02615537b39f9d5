"""What decides a number decides the key under which its run is kept; what sweeps make of the cache is tested with them."""

from __future__ import annotations

import ast
import inspect
import shutil
from pathlib import Path

import pytest

import netlab as nl
from netlab import captures
from netlab.runs import cache as run_cache


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of netlab's sources."""
    copy = tmp_path_factory.mktemp("sources") / "netlab"
    shutil.copytree(Path(nl.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__", "carried"))
    return copy


@pytest.fixture(scope="module")
def before(package: Path) -> str:
    """The hash of the sources as they are."""
    return run_cache.code_hash(package)


def changes(package: Path, before: str, path: Path) -> bool:
    """Whether a line more in this file makes another hash."""
    text = path.read_text()
    path.write_text(text + "\n# more\n")
    try:
        return run_cache.code_hash(package) != before
    finally:
        path.write_text(text)


def source(made: object) -> Path:
    """The file of a function or class, in the package."""
    return Path(inspect.getfile(made)).relative_to(Path(nl.__file__).parent)


def imported(package: Path, roots: list[str]) -> set[Path]:
    """Files of the package that the modules below `roots` import, directly or through others."""
    ahead = [path for root in roots for path in (package / root).rglob("*.py")]
    seen: set[Path] = set()
    while ahead:
        path = ahead.pop()
        # The package's own names are looked up when used; the kernel is hashed itself, and the version is in the key.
        if path in seen or path.relative_to(package).parts[0] in {"__init__.py", "kernel", "version.py"}:
            continue
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                place = package.parent / name.replace(".", "/")
                ahead += [found for found in (place.with_suffix(".py"), place / "__init__.py") if found.is_file()]
    return seen


def test_a_change_in_what_decides_a_figure_changes_the_key(package: Path, before: str) -> None:
    """Each file of the agent, the engines, the measure, and of all that they import; the kernel is hashed itself."""
    files = imported(package, ["agent", "engines", "measure"])
    assert {"batch.py", "shaping.py", "udp.py", "pocket.py", "headers.py"} <= {path.name for path in files}
    assert [path for path in files if not changes(package, before, path)] == []


@pytest.mark.parametrize(
    "file", ["perf/report.py", "perf/command.py", "course/checks.py", "runs/scenario.py", "theory/tcp.py"]
)
def test_a_change_in_what_only_speaks_of_numbers_does_not(package: Path, before: str, file: str) -> None:
    """What a scenario becomes is in its plan, which is part of the key."""
    assert not changes(package, before, package / file)


def test_what_makes_the_files_of_a_run_changes_the_key(package: Path, before: str) -> None:
    """A run's captures are kept with it; `experiment` may hand them on, but not decide them."""
    tree = ast.parse((package / "runs/experiment.py").read_text())
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    makers = {"finish", "finish_run", "Origin"}
    for name in makers & used:
        assert changes(package, before, package / source(getattr(captures, name))), name
    assert makers & used == {"finish_run"}


def test_a_source_that_is_gone_is_no_hash(package: Path) -> None:
    gone = (package / "sockets").rename(package / "gone")
    with pytest.raises(FileNotFoundError):
        run_cache.code_hash(package)
    gone.rename(package / "sockets")
