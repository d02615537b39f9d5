"""A capture as a time-sequence graph and as data in flight."""

from __future__ import annotations

import pandas as pd
import pytest

from netlab import plots
from netlab.base.errors import NetlabError
from netlab.plots.packets import connection

ISN = 2**32 - 2000


def packet(t_s: float, src: str, seq: int, payload: int, ack: int | None = None, window: float = 10_000) -> dict:
    """A row as `netlab.captures` makes it, at h1's interface."""
    ports = (40000, 5001) if src == "h1" else (5001, 40000)
    return {
        "t_s": t_s, "node": "h1", "interface": "h1-eth0", "departs": src == "h1", "src": src, "dst": "h2" if src == "h1" else "h1",
        "protocol": "tcp", "src_port": ports[0], "dst_port": ports[1], "seq": seq % 2**32, "ack": ack if ack is None else ack % 2**32,
        "flags": "A", "window_bytes": window, "ecn": 0, "length_bytes": 66 + payload, "payload_bytes": payload,
    }  # fmt: skip


def table() -> pd.DataFrame:
    """Four segments of 1000 bytes across the end of the sequence numbers; the second is lost and sent again."""
    rows = [
        packet(0.0, "h1", ISN, 1000, 1),
        packet(0.1, "h1", ISN + 1000, 1000, 1),
        packet(0.2, "h1", ISN + 2000, 1000, 1),
    ]
    rows += [packet(0.3, "h2", 1, 0, ISN + 1000), packet(0.4, "h2", 1, 0, ISN + 1000)]
    rows += [packet(0.5, "h1", ISN + 1000, 1000, 1), packet(0.7, "h2", 1, 0, ISN + 3000)]
    rows += [packet(0.8, "h1", ISN + 3000, 1000, 1), packet(0.9, "h2", 1, 0, ISN + 4000)]
    far = [{**row, "node": "h2", "interface": "h2-eth0", "departs": not row["departs"]} for row in rows]
    return pd.DataFrame([*rows, *far]).sort_values("t_s", kind="stable", ignore_index=True)


def test_a_connection_is_seen_at_the_end_that_its_data_leaves() -> None:
    found = connection(table())
    assert found.label == "h1:40000 to h2:5001, seen at h1"
    assert found.data["first"].tolist() == [0, 1000, 2000, 1000, 3000], "numbers go on where they begin anew"
    assert found.data["again"].tolist() == [False, False, False, True, False]
    assert found.acks["ack"].tolist() == [1000, 1000, 3000, 4000]
    assert found.acks["window"].tolist() == [11_000, 11_000, 13_000, 14_000]


def test_data_is_in_flight_from_its_departure_to_its_acknowledgement() -> None:
    rows = plots.in_flight(table())
    assert rows.in_flight_bytes.tolist() == [1000, 2000, 3000, 2000, 2000, 2000, 0, 1000, 0]
    assert rows.receiver_window_bytes.iloc[-1] == 10_000


def test_the_time_sequence_graph_has_bars_and_two_lines() -> None:
    figure = plots.time_sequence(table())
    assert [trace.name for trace in figure.data] == ["sent", "sent again", "acknowledged", "receiver's window"]
    assert figure.data[1].y == (1000, 2000, None)
    assert figure.layout.yaxis.title.text == "Sequence number (bytes)"


def test_an_unknown_window_is_a_gap() -> None:
    packets = table().assign(window_bytes=float("nan"))
    figure = plots.time_sequence(packets)
    assert set(figure.data[-1].y) == {None}


def test_missing_tcp_data_is_reported_with_the_next_step() -> None:
    with pytest.raises(NetlabError, match="no TCP data from h9 to anywhere.*capture a link"):
        plots.time_sequence(table(), "h9")
