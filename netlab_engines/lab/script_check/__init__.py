"""Look for problems in a Mininet script before it runs: Python 2, missing modules and programs, what Linux bridges lack."""

from collections.abc import Iterator
from pathlib import Path

from netlab_engines.lab.script_check import idioms, imports, programs
from netlab_engines.lab.script_check.problem import Problem, merge
from netlab_engines.lab.script_check.reading import Source, conversion, read_source

__all__ = ["Problem", "check", "own_sources"]

MAX_FILES = 50


def check(script: Path, directory: Path) -> list[Problem]:
    """Return all problems of the Mininet script at `script`, and of modules and programs of its own that it uses (at
    most MAX_FILES files), merged by their texts, those that stop the script first; nothing of them is run, and a file
    that cannot be read is a problem. `directory` is the directory in which it would run.

    A problem stops the script if the script comes to it for certain.
    """
    sources = list(own_sources(script, directory))
    directories = imports.module_directories(sources[0][0], directory)
    found: list[Problem] = []
    for source, runs in sources:
        own = [*_problems(source, directories), *programs.inner_scripts(source, (directory, script.parent))]
        for problem in own:
            problem.stops &= runs
        found += own
    return merge(found)


def own_sources(script: Path, directory: Path) -> Iterator[tuple[Source, bool]]:
    """Yield the source of the script at `script` and of modules and programs of its own that it uses (at most MAX_FILES
    files), and whether it runs for certain; `directory` is the directory in which the script would run.
    """
    waiting = [(script, True)]
    seen: set[Path] = set()
    first = read_source(script)
    directories = imports.module_directories(first, directory)
    while waiting and len(seen) < MAX_FILES:
        path, runs = waiting.pop(0)
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        source = first if path is script else read_source(path, path.parent.resolve() != script.parent.resolve())
        yield source, runs
        waiting += [(module, runs and certain) for module, certain in imports.local_modules(source, directories)]
        waiting += [(program, False) for program, _ in programs.python_programs(source, (directory, script.parent))]


def _problems(source: Source, directories: imports.ModuleDirectories) -> list[Problem]:
    """Return the problems of one Python file; if it is Python 2, one of them names the command that converts it.
    `directories` has the directories in which the script finds its own modules.
    """
    found = [
        *source.problems,
        *idioms.problems(source),
        *imports.problems(source, directories),
        *programs.problems(source),
    ]
    old = [problem for problem in found if problem.is_python2]
    if old and not any(problem.is_python2 for problem in source.problems):
        stops = any(problem.stops for problem in old)
        found.append(Problem(source.path, conversion(source.path, False, True, source.in_package), stops=stops))
    return found
