"""The key of a cached run: everything that determines a number changes it; and the size of the cache. (The tests of sweeps
cover the use of the cache.)
"""

from __future__ import annotations

import ast
import inspect
import shutil
from pathlib import Path

import pytest

from netlab import captures
from netlab.base.location import IMPORT_ROOT, package_directories
from netlab.runs import cache as run_cache
from netlab_engines.fingerprint import fingerprint


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a copy of netlab's sources."""
    copy = tmp_path_factory.mktemp("sources")
    for package in package_directories():
        shutil.copytree(package, copy / package.name, ignore=shutil.ignore_patterns("__pycache__", "carried", "recipe"))
    return copy


@pytest.fixture(scope="module")
def before(sources: Path) -> str:
    """The hashes of the sources as they are."""
    return hashes(sources)


def hashes(sources: Path) -> str:
    """Return netlab's hash of its own code and the fingerprint of an engine, for a copy of the sources."""
    return run_cache.code_hash(sources / "netlab") + fingerprint("a kernel", sources / "netlab_engines")


def changes(sources: Path, before: str, path: Path) -> bool:
    """Return whether an additional line in this file changes the hash."""
    text = path.read_text()
    path.write_text(text + "\n# more\n")
    try:
        return hashes(sources) != before
    finally:
        path.write_text(text)


def source(made: object) -> Path:
    """The file of a function or class, below the directory of the packages."""
    return Path(inspect.getfile(made)).relative_to(IMPORT_ROOT)


def imported_files(sources: Path, roots: list[str], without: tuple[str, ...]) -> set[Path]:
    """Files of the package that the modules below `roots` import, directly or through others."""
    ahead = [path for root in roots for path in (sources / root).rglob("*.py") if not {*without} & {*path.parts}]
    seen: set[Path] = set()
    while ahead:
        path = ahead.pop()
        # The package's own names are looked up when used; the kernel is hashed itself, and the version is in the key.
        if (
            path in seen
            or path.relative_to(sources).parts[0] == "netlab_kernel"
            or path == sources / "netlab/__init__.py"
        ):
            continue
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                place = sources / name.replace(".", "/")
                ahead += [found for found in (place.with_suffix(".py"), place / "__init__.py") if found.is_file()]
    return seen


@pytest.mark.slow
def test_a_change_of_code_that_decides_a_figure_changes_the_key(sources: Path, before: str) -> None:
    """Each file of the agent, the engines, the measure, and of all that they import; the kernel is hashed itself."""
    files = imported_files(sources, ["netlab_engines", "netlab/measure"], without=("lab", "perf"))
    assert {"batch.py", "shaping.py", "udp.py", "pocket.py", "headers.py"} <= {path.name for path in files}
    assert [path for path in files if not changes(sources, before, path)] == []


@pytest.mark.parametrize("file", ["netlab_course/checks.py", "netlab/runs/scenario.py", "netlab/theory/tcp.py"])
def test_a_change_of_code_that_only_prints_numbers_does_not(sources: Path, before: str, file: str) -> None:
    """Changes of a scenario's meaning are visible in its plan, which is part of the key."""
    assert not changes(sources, before, sources / file)


def test_inputs_of_a_runs_files_change_the_key(sources: Path, before: str) -> None:
    """A run's captures are kept with it; `experiment` may hand them on, but not decide them."""
    tree = ast.parse((sources / "netlab/runs/experiment.py").read_text())
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    makers = {"finish", "finish_run", "Origin"}
    for name in makers & used:
        assert changes(sources, before, sources / source(getattr(captures, name))), name
    assert makers & used == {"finish_run"}


def test_a_source_that_is_gone_is_no_hash(sources: Path) -> None:
    missing = (sources / "netlab/theory").rename(sources / "gone")
    with pytest.raises(FileNotFoundError):
        hashes(sources)
    missing.rename(sources / "netlab/theory")


def test_a_run_larger_than_the_cache_does_not_push_the_others_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    cache = run_cache.RunCache(limit_bytes=1000)
    cache.directory.mkdir()
    for name, size_bytes in (("older", 50), ("old", 50), ("newest", 2000)):
        (cache.directory / f"{name}.json").write_bytes(b"x" * size_bytes)
    cache.prune()
    assert {path.stem for path in cache.directory.iterdir()} == {"older", "old"}
