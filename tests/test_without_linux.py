"""Imports and error messages on systems that are not Linux, where a wheel installs netlab."""

import subprocess
import sys
from pathlib import Path

import pytest

import netlab
from netlab_engines.kernels import library_kernel
from tests.engines import webassembly

ROOT = Path(netlab.__file__).parents[1]
SYSTEMS = ["win32", "darwin", "emscripten"]


def run_on_system(system: str, program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    begin = f"import without_linux; without_linux.begin({system!r})\n"
    return subprocess.run(
        [sys.executable, "-c", begin + program],
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "HOME": "/nonexistent", "PATH": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


WITHOUT_A_KERNEL = """
import netlab as nl
from netlab.base import scratch
with scratch.run_directory(1 << 20) as folder: print(folder.is_dir())
print(folder.exists())
from netlab import engines
from netlab.base.errors import NetlabError
for ask in (lambda: engines.choose('pocket'), lambda: engines.choose('native')):
    try: ask()
    except NetlabError as error: print(error)
for name in nl.__all__:
    getattr(nl, name)
import netlab.commands.cli, netlab.commands.run_command, netlab_course.demo_command, netlab_course.lab_command
print('all that a chapter names')
"""


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_import_works_without_linux_and_unsupported_calls_are_reported(
    system: str,
) -> None:
    done = run_on_system(system, WITHOUT_A_KERNEL)
    assert done.returncode == 0, done.stderr
    there, after, *sentences, last = done.stdout.splitlines()
    assert (there, after, last) == ("True", "False", "all that a chapter names")
    assert len(sentences) == "".join(sentences).count("Linux") == 2


@pytest.mark.slow
def test_the_doctor_has_a_table_without_linux(tmp_path: Path) -> None:
    done = run_on_system(
        "win32", "from netlab.commands import cli\nraise SystemExit(cli.main(['doctor']))", NETLAB_CACHE=str(tmp_path)
    )
    assert "Windows on AMD64" in done.stdout, done.stderr
    assert not done.stderr


@pytest.mark.library
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_a_live_panel_plays_without_linux(system: str) -> None:
    kernel = webassembly.built()
    done = run_on_system(
        system,
        "import netlab as nl\n"
        "from netlab_course import demo_command as demo\n"
        "panel = nl.widgets.live(demo.topology(), demo.traffic(), first_s=1)\n"
        "panel.play()\n"
        "panel.page_timer.value += 1\n"
        "panel.step()\n"
        "print(panel.lab.session.guest.name, round(panel.lab.now_s, 3) >= 2, panel.message)\n"
        "panel.close()",
        NETLAB_LIBRARY=str(kernel.path),
        NETLAB_CACHE=str(kernel.path.parents[2]),
    )
    assert done.stdout == "library True \n", done.stderr


@pytest.mark.library
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_the_demo_gives_the_same_numbers_without_linux(system: str) -> None:
    kernel = webassembly.built()
    done = run_on_system(
        system,
        "from netlab_course import demo_command as demo\n"
        "from netlab.runs import experiment, scenario, sweeps\n"
        "run = experiment.run(demo.topology(), demo.traffic(), duration_s=demo.DURATION_S)\n"
        "print(run.settings['engine'], run.settings['machine'], run.flows.to_json())\n"
        "(again,) = sweeps.sweep([scenario.Scenario(demo.topology(), demo.traffic(), duration_s=demo.DURATION_S)])\n"
        "assert again.flows.to_json() == run.flows.to_json()",
        NETLAB_LIBRARY=str(kernel.path),
        NETLAB_CACHE=str(kernel.path.parents[2]),
    )
    assert done.returncode == 0, done.stderr
    from netlab.runs import experiment
    from netlab_course import demo_command as demo

    here = experiment.run(demo.topology(), demo.traffic(), duration_s=demo.DURATION_S, engine="library")
    assert done.stdout.split(" ", 2) == ["library", library_kernel.WASM, here.flows.to_json() + "\n"]
