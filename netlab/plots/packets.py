"""A captured TCP connection: tcptrace's time-sequence graph as a figure, and the data in flight as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import plotly.graph_objects as go

from netlab.base.errors import NetlabError
from netlab.plots.theme import COLOURS, hover

if TYPE_CHECKING:
    import pandas as pd

TIME = "Time (s)"
SEQUENCE = "Sequence number (bytes)"
SEQUENCE_NUMBERS = 2**32


class Connection(NamedTuple):
    """A direction of a TCP connection, as captured at the node that is nearest to its sender."""

    label: str
    data: pd.DataFrame
    """Segments with data that leave the node: t_s, first and last (bytes from the connection's first), again (True if sent before)."""
    acks: pd.DataFrame
    """Acknowledgements that arrive at the node: t_s, ack, window (the last byte that fits into the receiver's buffer; NaN if unknown)."""


def connection(packets: pd.DataFrame, src: str | None = None, dst: str | None = None) -> Connection:
    """Return the TCP connection that sends most data in a table of packets (`run.packets`); only from the node `src`
    and to the node `dst` if these are given. Raises NetlabError when the packets contain no such data.
    """
    chosen = packets[(packets.protocol == "tcp") & (packets.payload_bytes > 0) & packets.departs]
    for name, node in (("src", src), ("dst", dst)):
        if node is not None:
            chosen = chosen[chosen[name] == node]
    if chosen.empty:
        raise NetlabError(
            f"There is no TCP data from {src or 'anywhere'} to {dst or 'anywhere'} in these packets; capture a link that it "
            "crosses, without a filter that leaves it out."
        )
    ends = ["src", "src_port", "dst", "dst_port"]
    sender, port, receiver, other_port = cast(
        "tuple[str, float, str, float]", chosen.groupby(ends).payload_bytes.sum().idxmax()
    )
    sent = chosen[
        (chosen.src == sender) & (chosen.src_port == port) & (chosen.dst == receiver) & (chosen.dst_port == other_port)
    ]
    # Choose the end of the link that data leaves; with several captures, the first that sees the data.
    first = sent.iloc[0]
    at_node = packets[(packets.node == first.node) & (packets.interface == first.interface)]
    sent = sent[(sent.node == first.node) & (sent.interface == first.interface)]
    acks = at_node[
        ~at_node.departs
        & (at_node.protocol == "tcp")
        & (at_node.src == receiver)
        & (at_node.src_port == other_port)
        & (at_node.dst == sender)
        & (at_node.dst_port == port)
        & at_node.ack.notna()
    ]
    begin = int(sent.seq.iloc[0])
    data = sent[["t_s"]].assign(first=_relative_bytes(sent.seq, begin))
    data["last"] = data["first"] + sent.payload_bytes
    data["again"] = data["last"] <= data["last"].cummax().shift(fill_value=0)
    reached = acks[["t_s"]].assign(ack=_relative_bytes(acks.ack, begin))
    reached = reached.assign(window=reached.ack + acks.window_bytes)
    label = f"{sender}:{int(port)} to {receiver}:{int(other_port)}, seen at {first.node}"
    return Connection(label, data.reset_index(drop=True), reached.reset_index(drop=True))


def _relative_bytes(numbers: pd.Series, begin: int) -> pd.Series:
    """Return the bytes from sequence number `begin` to each number, also after wrapping; negative slightly before."""
    half = SEQUENCE_NUMBERS // 2
    return (numbers - begin + half) % SEQUENCE_NUMBERS - half


def time_sequence(
    packets: pd.DataFrame, src: str | None = None, dst: str | None = None, *, title: str = ""
) -> go.Figure:
    """Return the time-sequence graph of the TCP connection that sends most in `packets`, from `src` and to `dst` if
    given, as tcptrace draws it at the sender's end of a link. A segment is a bar from its first to its last byte; one
    sent again has another colour. Curves: acknowledged data, the receiver's window's limit.

    Parameters
    ----------
    packets : DataFrame
        `run.packets`, or the `packets` of a live capture.
    src, dst : str, optional
        Only data from and to these nodes; by default of the connection that sends most.
    title : str

    Raises
    ------
    NetlabError
        If the packets contain no TCP data.

    References
    ----------
    S. Ostermann, tcptrace, Ohio University, 1994-2003.
    """
    found = connection(packets, src, dst)
    figure = go.Figure()
    for again, name, colour in ((False, "sent", COLOURS[0]), (True, "sent again", COLOURS[1])):
        own = found.data[found.data.again == again]
        if own.empty:
            continue
        x = [value for t_s in own.t_s for value in (t_s, t_s, None)]
        y = [value for one, two in zip(own["first"], own["last"], strict=True) for value in (one, two, None)]
        figure.add_scatter(
            x=x, y=y, mode="lines", name=name, line={"color": colour, "width": 3},
            hovertemplate=hover(name, TIME, SEQUENCE), meta={"role": "measured"},
        )  # fmt: skip
    for column, name, colour in (("ack", "acknowledged", COLOURS[2]), ("window", "receiver's window", COLOURS[3])):
        _add_steps(figure, found.acks, column, name, colour)
    figure.update_yaxes(title_text=SEQUENCE, range=[0, 1.05 * float(found.data["last"].max())])
    figure.update_xaxes(title_text=TIME)
    figure.update_layout(template="netlab", height=450, title_text=title or found.label)
    return figure


def _add_steps(figure: go.Figure, rows: pd.DataFrame, column: str, name: str, colour: str) -> None:
    """Add a column of the acknowledgements `rows` to a time-sequence graph as the step curve `name` in a colour."""
    figure.add_scatter(
        x=rows.t_s.tolist(), y=rows[column].astype(object).where(rows[column].notna(), None).tolist(),
        mode="lines", name=name, line={"color": colour, "width": 1.5, "shape": "hv"},
        hovertemplate=hover(name, TIME, SEQUENCE), meta={"role": "measured"},
    )  # fmt: skip


def in_flight(packets: pd.DataFrame, src: str | None = None, dst: str | None = None) -> pd.DataFrame:
    """Return the data in flight (bytes beyond the last acknowledgement) over time of the TCP connection that sends most
    in `packets`, from `src` and to `dst` if given. The table draws itself: `table.plot(x="t_s", y=["in_flight_bytes",
    "receiver_window_bytes"])`.

    Returns
    -------
    DataFrame
        A row for each segment and acknowledgement: t_s, in_flight_bytes, receiver_window_bytes (NaN if unknown).

    Raises
    ------
    NetlabError
        If the packets contain no TCP data.
    """
    import pandas as pd

    found = connection(packets, src, dst)
    rows = pd.concat([found.data[["t_s", "last"]], found.acks], ignore_index=True).sort_values("t_s", kind="stable")
    sent, acked = rows["last"].cummax().ffill(), rows.ack.cummax().ffill().fillna(0)
    return pd.DataFrame(
        {
            "t_s": rows.t_s,
            "in_flight_bytes": (sent - acked).clip(lower=0),
            "receiver_window_bytes": rows.window.ffill() - rows.ack.ffill(),
        }
    ).reset_index(drop=True)
