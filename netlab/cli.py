"""The console command `netlab`: run, demo, doctor, kernel, perf, replicate.

Only the chosen subcommand is imported, so that `netlab perf` starts as fast as a small tool should.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from netlab.endings import ending_signals_raise
from netlab.errors import NetlabError, ScenarioError
from netlab.version import VERSION

if TYPE_CHECKING:
    from netlab.results import Run

EXIT_FAILED = 1
EXIT_MISTAKE = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT
STANDARD = "-"


@dataclass(frozen=True)
class Command:
    """A subcommand: its line in the help, and what adds its options and runs it."""

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    main: Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after `netlab`; None takes the process's own.

    Returns
    -------
    int
        0 when all went well, 2 for a mistake in a scenario or in the options, 130 after Ctrl-C, else 1.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = _parser(words).parse_args(words)
        with ending_signals_raise():
            status = COMMANDS[options.command].main(options)
        sys.stdout.flush()
    except NetlabError as error:
        print(f"netlab: {error}", file=sys.stderr)
        return EXIT_MISTAKE if isinstance(error, ScenarioError) else EXIT_FAILED
    except KeyboardInterrupt:
        print("\nnetlab: stopped; nothing of it is kept.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output (`| head`) has enough; the interpreter must not fail again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    return status


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="netlab", description="Learn how networks perform by running them.")
    parser.add_argument("--version", action="version", version=f"netlab {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="|".join(COMMANDS), required=True)
    for name, command in COMMANDS.items():
        own = commands.add_parser(
            name, help=command.summary, description=f"{command.summary[0].upper()}{command.summary[1:]}."
        )
        if name in words[:1]:
            command.add_arguments(own)
    return parser


# run ----------------------------------------------------------------------------------------------------------


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    from netlab import engines

    parser.add_argument("scenario", help="a scenario file in JSON; - reads it from the standard input")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the whole result as JSON; - writes it to the standard output"
    )
    parser.add_argument("--engine", choices=engines.NAMES, help="where it runs (default: $NETLAB_ENGINE, else pocket)")


def _run(options: argparse.Namespace) -> int:
    from netlab import experiment

    if options.output is not None and options.output != STANDARD:
        _require_writable(Path(options.output), Path(options.scenario))
    scenario = experiment.read_scenario("/dev/stdin" if options.scenario == STANDARD else options.scenario)
    run = experiment.run(scenario, engine=options.engine)
    if options.output == STANDARD:
        _write_out(json.dumps(run.to_dict(), indent=1, allow_nan=False) + "\n")
    else:
        _write_out(flow_table(run) + "\n")
        if options.output is not None:
            run.to_json(options.output)
    failures = run.flows[run.flows["error"].notna()]
    for flow, error in zip(failures["flow"], failures["error"], strict=True):
        print(f"netlab: {flow}: {error}", file=sys.stderr)
    return EXIT_FAILED if len(failures) else 0


def _require_writable(target: Path, scenario: Path) -> None:
    """Raise NetlabError when `target` cannot be written; a long run must not end with that."""
    directory = target.absolute().parent
    if not directory.is_dir():
        problem = f"there is no directory {directory}"
    elif target.exists() and not stat.S_ISREG(target.stat().st_mode):
        problem = "it is no ordinary file; for the standard output write -"
    elif not os.access(directory, os.W_OK | os.X_OK):
        problem = f"you may not write in {directory}"
    elif target.exists() and not os.access(target, os.W_OK):
        problem = "it is there and write-protected"
    elif target.exists() and scenario.exists() and target.samefile(scenario):
        problem = "it is the scenario"
    else:
        return
    raise NetlabError(f"The result cannot go to {target}: {problem}. Nothing was run; choose another --output.")


def _write_out(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise NetlabError(f"The standard output cannot be written: {error.strerror}.") from None


_FLOW_COLUMNS = (
    ("goodput_mbps", "goodput\nMbit/s", ".3f"),
    ("throughput_mbps", "throughput\nMbit/s", ".3f"),
    ("loss_rate", "loss\nrate", ".4f"),
    ("retransmits", "retrans-\nmits", ".0f"),
    ("rtt_ms", "RTT\nms", ".3f"),
    ("jitter_ms", "jitter\nms", ".3f"),
)


def flow_table(run: Run) -> str:
    """What `netlab run` prints: a row per flow, and what it ran on.

    Parameters
    ----------
    run : Run

    Returns
    -------
    str
        Lines of text; a dash where a quantity does not apply to a flow.
    """
    from netlab.tables import ran_on, text_table

    rows = [
        [row["flow"], *(_number(row[name], form) for name, _, form in _FLOW_COLUMNS)]
        for row in run.flows.to_dict(orient="records")
    ]
    table = text_table(["flow", *(title for _, title, _ in _FLOW_COLUMNS)], rows)
    return f"{table}\n\n{ran_on(run.settings)}"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or value != value else format(value, form)


# demo, doctor, kernel, perf, replicate: each in a module of its own --------------------------------------------------------


def _no_arguments(_parser: argparse.ArgumentParser) -> None:
    """Nothing to add."""


def _demo(_options: argparse.Namespace) -> int:
    from netlab import demo

    return demo.main()


def _doctor(_options: argparse.Namespace) -> int:
    from netlab import doctor

    return doctor.main()


def _kernel_arguments(parser: argparse.ArgumentParser) -> None:
    from netlab.kernel import command

    command.add_arguments(parser)


def _kernel(options: argparse.Namespace) -> int:
    from netlab.kernel import command

    return command.main(options)


def _perf_arguments(parser: argparse.ArgumentParser) -> None:
    from netlab.perf import command

    command.add_arguments(parser)


def _perf(options: argparse.Namespace) -> int:
    from netlab.perf import command

    return command.main(options)


def _replicate_arguments(parser: argparse.ArgumentParser) -> None:
    from netlab.replication import command

    command.add_arguments(parser)


def _replicate(options: argparse.Namespace) -> int:
    from netlab.replication import command

    return command.main(options)


COMMANDS = {
    "run": Command("run a scenario and print what its flows measured", _run_arguments, _run),
    "demo": Command("run a first experiment and print theory beside measurement", _no_arguments, _demo),
    "doctor": Command("say what is there, what is missing and what to do", _no_arguments, _doctor),
    "kernel": Command("build, describe, pack or unpack the pocket kernel", _kernel_arguments, _kernel),
    "perf": Command("measure throughput between two machines", _perf_arguments, _perf),
    "replicate": Command(
        "measure published figures again and report both beside theory", _replicate_arguments, _replicate
    ),
}


if __name__ == "__main__":
    sys.exit(main())
