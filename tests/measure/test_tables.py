"""Tables of runs are data frames that say which column was meant."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from netlab.measure.results import TABLES, Run, frame
from netlab.measure.tables import ColumnError, Table

ROWS: list[dict[str, Any]] = [
    {"flow": "h1-h2 cubic", "kind": "tcp", "src": "h1", "goodput_mbps": 4.75, "rtt_ms": 40.5},
    {"flow": "h1-h2 ping", "kind": "ping", "src": "h1", "goodput_mbps": None, "rtt_ms": 20.25},
]


def flows() -> Table:
    return frame(ROWS, TABLES["flows"])


@pytest.mark.parametrize(
    ("take", "words"),
    [
        (lambda table: table["goodput"], "there is no column 'goodput'; did you mean 'goodput_mbps'?"),
        (lambda table: table["RTT"], "did you mean 'rtt_ms'?"),
        (lambda table: table[["flow", "throughput"]], "no column 'throughput'; did you mean 'throughput_mbps'?"),
        (lambda table: table["cwnd_segments"], "there is no column 'cwnd_segments'; run.intervals has 'cwnd_segments'"),
        (lambda table: table["backlog"], "run.queues has 'backlog_bytes'"),
        (lambda table: table["colour"], "there are: flow, kind, src"),
        (lambda table: table[table["kind"] == "tcp"]["goodput"], "did you mean 'goodput_mbps'?"),
        (lambda table: table.query("kind == 'tcp'").head(1)["goodput"], "did you mean 'goodput_mbps'?"),
        (lambda table: table.assign(x=1).reset_index(drop=True)["goodput"], "did you mean 'goodput_mbps'?"),
        (lambda table: pd.concat([table, table])["goodput"], "did you mean 'goodput_mbps'?"),
        (lambda table: table.set_index("flow").loc["h1-h2 ping", "goodput"], "did you mean 'goodput_mbps'?"),
        (lambda table: table.loc[table["kind"] == "tcp", "goodput"], "did you mean 'goodput_mbps'?"),
        (lambda table: table.loc[:, ["flow", "goodput"]], "did you mean 'goodput_mbps'?"),
        (lambda table: table.groupby("flows"), "did you mean 'flow'?"),
        (lambda table: table.sort_values("goodput"), "did you mean 'goodput_mbps'?"),
        (lambda table: table.set_index("flows"), "did you mean 'flow'?"),
        (lambda table: table.drop(columns=["goodput"]), "did you mean 'goodput_mbps'?"),
        (lambda table: table.pivot_table(index="kind", values="goodput"), "did you mean 'goodput_mbps'?"),
    ],
)
def test_wrong_column_is_reported_with_the_likely_one(take: Callable[[Any], object], words: str) -> None:
    with pytest.raises(KeyError) as caught:
        take(flows())
    assert isinstance(caught.value, ColumnError)
    assert words in str(caught.value)


def test_wrong_attribute_is_reported_on_access() -> None:
    table: Any = flows()
    with pytest.raises(AttributeError, match="no attribute 'goodput'; did you mean 'goodput_mbps'"):
        _ = table.goodput
    assert not hasattr(table, "dtype") and not hasattr(table, "_ipython_display_")
    assert list(table.goodput_mbps.dropna()) == [4.75]


def test_missing_row_raises_the_error_of_pandas() -> None:
    table = flows().set_index("flow")
    for take in (lambda: table.loc["h9"], lambda: table.loc["h9", "kind"], lambda: table[5]):
        with pytest.raises(KeyError) as caught:
            take()
        assert not isinstance(caught.value, ColumnError)
    assert table.get("goodput", "nothing") == "nothing"
    assert "goodput" not in table


def test_a_table_is_as_good_as_a_plain_data_frame() -> None:
    table = flows()
    plain = pd.DataFrame(table)
    assert type(plain) is pd.DataFrame and isinstance(table, pd.DataFrame)
    pd.testing.assert_frame_equal(table, plain, check_frame_type=False)
    for same in (copy.deepcopy(table), pickle.loads(pickle.dumps(table)), table.copy()):  # noqa: S301 - our own
        assert type(same) is Table
        pd.testing.assert_frame_equal(same, table)
    assert type(table["goodput_mbps"]) is pd.Series
    assert json.loads(table[["flow", "goodput_mbps"]].to_json(orient="records"))[0] == {
        "flow": "h1-h2 cubic",
        "goodput_mbps": 4.75,
    }
    assert type(table.groupby("kind")["rtt_ms"].mean()) is pd.Series
    table.loc[0, "goodput_mbps"] = 5.0
    assert table["goodput_mbps"].iloc[0] == 5.0
    table["late"] = table["rtt_ms"] > 30
    assert list(table["late"]) == [True, False]


def test_each_table_of_a_run_is_one() -> None:
    run = Run.from_dict({"flows": ROWS, "settings": {}, "more": {"requests": [{"flow": "x", "start_s": 1.0}]}})
    assert all(type(getattr(run, name)) is Table for name in TABLES)
    with pytest.raises(ColumnError, match="did you mean 'start_s'"):
        _ = run.more["requests"]["start"]
