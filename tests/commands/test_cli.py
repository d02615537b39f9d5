"""The command line: what each command is called, and what is said to an unknown one."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from netlab.commands import cli
from netlab.runs.sweeps import SweepInterrupted


@pytest.mark.parametrize("words", [[], ["walk"], ["run"], ["perf"], ["kernel"], ["run", "x", "--engine", "steam"]])
def test_a_wrong_command_line_shows_the_usage(capsys, words):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert "usage: netlab" in capsys.readouterr().err


def test_unknown_command_is_reported_with_allowed_and_nearest_commands(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["rum", "scenario.json"])
    assert ended.value.code == 2
    output = capsys.readouterr().err
    assert f"unknown command: got 'rum'; allowed: {', '.join(cli.commands())}" in output
    assert output.endswith("; did you mean run?\n")


def test_an_unknown_command_that_is_near_to_none_gets_no_guess(capsys):
    with pytest.raises(SystemExit):
        cli.main(["xyz"])
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize("name", cli.commands())
def test_every_command_explains_itself(capsys, name):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: netlab {name}" in capsys.readouterr().out


def test_the_rule_that_no_command_imports_another_knows_every_command(request):
    settings = (request.config.rootpath / "pyproject.toml").read_text()
    independent = settings.partition('name = "No command imports another"')[2].partition("[[tool")[0]
    assert all(f'"{module}"' in independent for _, module in cli.commands().values())


def test_marks_that_the_output_cannot_encode_are_replaced():
    program = (
        "import sys, types\nfrom netlab.commands import cli\n"
        "module = sys.modules['marks'] = types.ModuleType('marks')\nmodule.main = lambda options: print('✓ done') or 0\n"
        "cli.commands = lambda: {'marks': ('print a mark', 'marks')}\nsys.exit(cli.main(['marks']))"
    )
    windows = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=windows, check=False)
    assert (done.returncode, done.stdout.split()) == (0, [b"?", b"done"]), done.stderr


def test_perf_starts_without_the_large_packages():
    program = (
        "import sys\nfrom netlab.commands import cli\n"
        "try:\n    cli.main(['perf', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('pandas', 'numpy', 'plotly', 'mininet') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (
            SweepInterrupted({}, 3),
            "netlab: the sweep was stopped; 0 of 3 runs had finished, and the next sweep starts from them.",
        ),
        (KeyboardInterrupt(), "netlab: stopped."),
    ],
)
def test_ctrl_c_names_kept_results_when_they_are_known(raised, message, monkeypatch, capsys):
    def main(_options):
        raise raised

    monkeypatch.setattr("netlab_course.demo_command.main", main)
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err.strip() == message


def test_noexec_environment_is_reported_and_other_import_errors_pass(monkeypatch, capsys):
    def refuse(_name):
        raise ImportError(text)

    monkeypatch.setattr(importlib, "import_module", refuse)
    monkeypatch.setattr(cli, "_options", lambda _given: SimpleNamespace(command="demo"))
    monkeypatch.setattr(cli, "commands", lambda: {"demo": ("", "home")})
    text = "numpy/_multiarray_umath.so: failed to map segment from shared object"
    assert cli.main(["demo"]) == cli.EXIT_FAILED
    output = capsys.readouterr().err
    assert output.count("\n") == 1 and sys.prefix in output and "noexec" in output and "venv" in output
    text = "cannot import name 'x'"
    with pytest.raises(ImportError, match="cannot import name"):
        cli.main(["demo"])


@pytest.mark.parametrize(
    ("words", "usage", "error"),
    [
        (
            ["lab", "--no-browser"],
            "usage: netlab lab [-h] [--folder",
            "unrecognized arguments: --no-browser. Options for jupyter lab follow --, as in: netlab lab -- --no-browser",
        ),
        (["doctor", "--now"], "usage: netlab doctor [-h]", "unrecognized arguments: --now"),
    ],
)
def test_an_unknown_option_shows_the_usage_of_its_command(
    words: list[str], usage: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == 2
    output = capsys.readouterr().err
    assert output.startswith(usage) and output.rstrip().endswith(error)
