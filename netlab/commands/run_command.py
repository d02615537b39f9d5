"""`netlab run`: run a scenario file, print the measurements of its flows, write the whole result."""

import argparse
import math
import os
import stat
import sys
from pathlib import Path

from netlab import engines
from netlab.base.errors import NetlabError
from netlab.base.tables import run_summary, text_table
from netlab.measure.results import Run, as_text
from netlab.runs import experiment
from netlab.runs.scenario import read_scenario

STANDARD = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument `scenario` and the options --output and --engine of `netlab run` to its parser."""
    parser.add_argument("scenario", help="a scenario file in JSON; - reads it from the standard input")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the whole result as JSON; - writes it to the standard output"
    )
    parser.add_argument(
        "--engine",
        choices=engines.NAMES,
        help="where it runs (default: $NETLAB_ENGINE, else pocket, or library where that cannot run)",
    )


def main(options: argparse.Namespace) -> int:
    """Run the scenario, print its flows (or `--output -`: its result), write the result file if asked, and warn on
    standard error of failed flows and lost files; return 0. Raises NetlabError if scenario, engine or output is wrong.
    """
    if options.output is not None and options.output != STANDARD:
        _require_writable(Path(options.output), Path(options.scenario))
    scenario = read_scenario("/dev/stdin" if options.scenario == STANDARD else options.scenario)
    run = experiment.run(scenario, engine=options.engine)
    if options.output == STANDARD:
        _write_out(as_text(run.to_dict()))
    else:
        _write_out(flow_table(run) + "\n")
        if options.output is not None:
            run.to_json(options.output)
    for flow, error, received_bytes in run.flows[["flow", "error", "received_bytes"]].itertuples(index=False):
        if error is not None or received_bytes == 0:
            print(f"netlab: warning: {flow}: {error or 'nothing of it arrived'}", file=sys.stderr)
    for name, reason in run.artifacts.unsaved.items():
        print(f"netlab: warning: {name} was not saved: {reason}", file=sys.stderr)
    if run.artifacts and (options.output is None or options.output == STANDARD):
        names = ", ".join(run.artifacts)
        print(
            f"netlab: warning: {names} came back from the run; only with --output FILE are they kept", file=sys.stderr
        )
    return 0


def _require_writable(target: Path, scenario: Path) -> None:
    """Raise NetlabError, before a long run starts, if `target` cannot be written or is the scenario's file."""
    directory = target.absolute().parent
    if not directory.is_dir():
        problem = f"there is no directory {directory}"
    elif target.exists() and not stat.S_ISREG(target.stat().st_mode):
        problem = "it is not an ordinary file; for the standard output write -"
    elif not os.access(directory, os.W_OK | os.X_OK):
        problem = f"you may not write in {directory}"
    elif target.exists() and not os.access(target, os.W_OK):
        problem = "it is write-protected"
    elif target.exists() and scenario.exists() and target.samefile(scenario):
        problem = "it is the scenario"
    else:
        return
    raise NetlabError(f"The result cannot go to {target}: {problem}. Nothing was run; choose another --output.")


def _write_out(text: str) -> None:
    """Write a text to the standard output. Raises BrokenPipeError if its reader closed it, else NetlabError."""
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
    """Return the output of `netlab run`: a row per flow with its measurements, then a line about the run.

    Returns
    -------
    str
        Lines of text; a dash where a quantity does not apply to a flow.
    """
    rows = [
        [row["flow"], *(_number(row[name], form) for name, _, form in _FLOW_COLUMNS)]
        for row in run.flows.to_dict(orient="records")
    ]
    table = text_table(["flow", *(title for _, title, _ in _FLOW_COLUMNS)], rows)
    return f"{table}\n\n{run_summary(run.settings)}"


def _number(value: float | None, form: str) -> str:
    """Return a number in the format `form`, or "-" for None and NaN."""
    return "-" if value is None or math.isnan(value) else format(value, form)
