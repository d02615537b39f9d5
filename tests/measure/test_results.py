"""Runs: to files and back, and sentences where that cannot be."""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import NetlabError
from netlab.measure.results import TABLES, Run, frame
from tests.examples import examples

SETTINGS = {"scenario": {"interval_s": 1.0, "duration_s": 3}, "engine": "pocket", "clock": "virtual", "network_s": 3.0}


def make_run(**tables: list[dict[str, Any]]) -> Run:
    """A run with these records and no others."""
    return Run.from_dict({**tables, "settings": SETTINGS})


def intervals(*goodputs_mbps: float | None, flow: str = "a") -> list[dict[str, Any]]:
    """Records of a flow's goodput, a second each."""
    return [{"flow": flow, "t_s": t + 1.0, "goodput_mbps": value} for t, value in enumerate(goodputs_mbps)]


TEXT = {"flow", "kind", "src", "dst", "congestion", "interface", "host", "command", "stdout", "stderr", "error"}


@st.composite
def records(draw: st.DrawFn, table: str) -> list[dict[str, Any]]:
    """Rows of a table in which anything but the flow's name may be missing."""
    row = st.fixed_dictionaries(
        {
            name: st.none()
            | (st.text(max_size=8) if name in TEXT else st.floats(allow_infinity=False) | st.integers(0, 2**40))
            for name in TABLES[table]
        }
    )
    return draw(st.lists(row, max_size=4))


@examples(35)
@given(tables=st.sampled_from(list(TABLES)).flatmap(lambda name: st.fixed_dictionaries({name: records(name)})))
def test_a_run_comes_back_from_its_file_as_it_was(
    tables: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """NaN and None become null and come back; numbers and texts stay."""
    run = make_run(**tables)
    path = tmp_path_factory.mktemp("run") / "run.json"
    run.to_json(path)
    json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    again = Run.from_json(path)
    assert again.to_dict() == run.to_dict()
    for name, columns in TABLES.items():
        assert tuple(getattr(again, name).columns) == columns
        for given_row, row in zip(tables.get(name, []), again.to_dict()[name], strict=True):
            for column, value in given_row.items():
                missing = value is None or (isinstance(value, float) and math.isnan(value))
                assert row[column] == (None if missing else value), f"{name}.{column}"


def test_the_contract_has_its_tables_and_columns() -> None:
    data = make_run().to_dict()
    assert {"flows", "intervals", "queues", "settings"} <= set(data)
    assert {"goodput_mbps", "throughput_mbps", "loss_rate", "retransmits", "rtt_ms", "jitter_ms"} <= set(
        TABLES["flows"]
    )
    assert {"t_s", "goodput_mbps", "cwnd_segments", "rtt_ms"} <= set(TABLES["intervals"])
    assert {"t_s", "interface", "backlog_bytes", "backlog_packets", "drops", "marks"} <= set(TABLES["queues"])


def test_numbers_are_numbers_even_in_an_empty_table() -> None:
    """Arithmetic must work before anything was measured."""
    flows = frame([], TABLES["flows"])
    assert all(pd.api.types.is_numeric_dtype(flows[name]) for name in TABLES["flows"] if name not in TEXT)
    assert math.isnan(frame([{"flow": "a"}], TABLES["flows"]).goodput_mbps[0])


def test_goodput_after_slow_start_is_the_mean_of_whole_intervals() -> None:
    run = make_run(intervals=intervals(1.0, 4.0, 6.0) + intervals(None, 2.0, 2.0, flow="b"))
    assert dict(run.goodput_mbps()) == pytest.approx({"a": 11 / 3, "b": 2.0})
    assert dict(run.goodput_mbps(after_s=1)) == {"a": 5.0, "b": 2.0}
    assert dict(run.goodput_mbps(after_s=0.5, before_s=2)) == {"a": 4.0, "b": 2.0}


def test_a_run_describes_itself() -> None:
    run = make_run(flows=[{"flow": "a", "goodput_mbps": 4.7823}])
    assert repr(run) == "Run of 3.0 s with 1 flow (pocket engine, virtual time)"
    assert "4.782" in run._repr_html_()
    assert "jitter_ms" not in run._repr_html_(), "a column without a value is noise"
    assert run.scenario == SETTINGS["scenario"]


def test_run_names_the_place_of_a_guessed_quantity() -> None:
    run = make_run(flows=[{"flow": "a", "rtt_ms": 20.0}])
    with pytest.raises(
        AttributeError, match=r"no attribute 'rtt'; there is run.flows\['rtt_ms'\], run.flows\['rtt_min_ms'\]"
    ):
        _ = run.rtt  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="no attribute 'speed'; its tables are flows, intervals"):
        _ = run.speed  # type: ignore[attr-defined]


def test_calling_a_run_reports_where_commands_run() -> None:
    with pytest.raises(NetlabError, match=r"a command runs in a host: lab\['h1'\]\.run\('ls'\)"):
        make_run()("ls")  # type: ignore[operator]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("an older run")
    path.chmod(0o600)
    old_mask = os.umask(0o027)
    try:
        make_run().to_json(path)
        make_run().to_json(tmp_path / "new.json")
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600, "a file that others may not read stays so"
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o640
    assert Run.from_json(path).settings == SETTINGS
    assert {file.name for file in tmp_path.iterdir()} == {"run.json", "new.json"}, "no temporary file is left"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "there.json", tmp_path / "run.json"
    target.write_text("")
    link.symlink_to(target)
    make_run().to_json(link)
    assert link.is_symlink()
    assert Run.from_json(target).settings == SETTINGS


def test_a_device_or_pipe_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    """`--output /dev/null` by root must not leave a file in its place."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    make_run().to_json(pipe)
    assert json.loads(os.read(reading, 65_536))["settings"] == SETTINGS
    os.close(reading)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", ["missing/run.json", "file/run.json", ".", "n" * 300])
def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NetlabError, match=r"cannot be written: .+\. Choose another place\."):
        make_run().to_json(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_value_that_json_cannot_hold_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("an older run")
    with pytest.raises(TypeError):
        Run.from_dict({"settings": {"engine": object()}}).to_json(path)
    assert path.read_text() == "an older run"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"5",
        b"null",
        b"{}",
        b'{"settings": 5}',
        b'{"topology": {}, "traffic": []}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"settings": {}, "flows": "many"}',
        b'{"settings": {}, "flows": [{"goodput_mbps": "fast"}]}',
        b'{"settings": {}, "flows": 5}',
    ],
)
def test_a_file_that_is_no_run_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(NetlabError, match=r"is not a run; it should be a file that `netlab run --output` wrote\."):
        Run.from_json(path)


def test_a_missing_file_is_reported_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NetlabError, match=r"none\.json cannot be read: No such file or directory\."):
        Run.from_json(tmp_path / "none.json")


def test_failed_command_is_reported_with_its_output() -> None:
    words = {"flow": "c", "host": "h1", "t_s": 0.0, "stdout": ""}
    run = make_run(
        commands=[
            {**words, "command": "tc qdisc add dev eth0", "exit_code": 1, "stderr": 'Cannot find device "eth0"\n'},
            {**words, "command": "true", "exit_code": 0, "stderr": ""},
            {**words, "command": "ping h2", "exit_code": None, "stderr": ""},
        ]
    )
    text = 'A command on h1 failed with exit code 1: tc qdisc add dev eth0: Cannot find device "eth0"'
    assert run.failed_commands() == [text]
    assert text in repr(run)
    assert "Cannot find device" in run._repr_html_()
