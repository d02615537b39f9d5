"""The command line: what each command is called, and what is said to an unknown one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from netlab.commands import cli


@pytest.mark.parametrize("words", [[], ["walk"], ["run"], ["perf"], ["kernel"], ["run", "x", "--engine", "steam"]])
def test_a_wrong_command_line_shows_the_usage(capsys, words):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert "usage: netlab" in capsys.readouterr().err


def test_an_unknown_command_names_what_is_allowed_and_the_nearest(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["rum", "scenario.json"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert f"unknown command: got 'rum'; allowed: {', '.join(cli.COMMANDS)}" in said
    assert said.endswith("; did you mean run?\n")


def test_an_unknown_command_that_is_near_to_none_gets_no_guess(capsys):
    with pytest.raises(SystemExit):
        cli.main(["xyz"])
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself(capsys, name):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: netlab {name}" in capsys.readouterr().out


# A fork for each command: what all of them import from elsewhere is imported once.
FORKS = """
import os, sys
import ipywidgets, jinja2, nbformat, pandas, plotly
from netlab.commands import cli
modules = {name: command.module for name, command in cli.COMMANDS.items()}
for name in modules:
    assert not set(modules.values()) & set(sys.modules)
    if os.fork():
        assert os.wait()[1] == 0
        continue
    sys.stdout = open(os.devnull, "w")
    try:
        cli.main([name, "--help"])
    except SystemExit:
        pass
    print(name, *(other for other in modules if modules[other] in sys.modules), file=sys.stderr, flush=True)
    os._exit(0)
"""


def test_no_command_imports_another():
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [f"{name} {name}" for name in cli.COMMANDS]


def test_perf_starts_without_the_large_packages():
    program = (
        "import sys\nfrom netlab.commands import cli\n"
        "try:\n    cli.main(['perf', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('pandas', 'numpy', 'plotly', 'mininet') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
