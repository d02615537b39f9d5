"""The layouts and numbers of protocol.h. Made by `python -m netlab_kernel.wire_format`: change the header instead."""

from enum import IntEnum

from netlab_engines.library.layout import Layout

HASH = b"d58198f2af9b999f"
"""The program reports the same hash, unless it was built from other headers."""


class Request(IntEnum):
    """The numbers of `enum request`."""

    START = 1
    NODE = 2
    ENTER = 3
    NETLINK = 4
    SETTING = 5
    WAIT = 6
    QUEUE = 7
    FLOW = 8
    GO = 9
    TAP = 10
    SEED = 11
    AT = 12
    BEGIN = 13
    ADVANCE = 14
    STOP = 15
    UNTAP = 16
    TABLES = 17
    FINISH = 18
    FORMAT = 19
    UNTIL = 20
    REPLY = 21


class FlowKind(IntEnum):
    """The numbers of `enum flow_kind`."""

    TCP = 1
    UDP = 2
    PING = 3
    PROGRAM = 4
    REQUESTS = 5


class Answer(IntEnum):
    """The numbers of `enum answer`."""

    FAILED = 1
    PROGRESS = 2
    STREAMS = 3
    QUEUES = 4
    TCP = 5
    UDP = 6
    ECHOES = 7
    ERROR = 8
    DONE = 9
    PACKETS = 10
    NOW = 11
    FORMAT = 12
    CONTROL = 13
    PROGRAM = 14
    RESPONSES = 15


class ProgramEvent(IntEnum):
    """The numbers of `enum program_event`."""

    START = 0
    DATAGRAM = 1
    TIMER = 2


FRAME = Layout(
    "frame",
    "II",
    (
        "kind",
        "length",
    ),
)
START = Layout(
    "start",
    "QQQ",
    (
        "memory_bytes",
        "seed",
        "start_s",
    ),
)
SAMPLED = Layout(
    "sampled",
    "II",
    (
        "interface",
        "marks_word",
    ),
)
TAP = Layout(
    "tap",
    "II16s",
    (
        "outgoing",
        "snap_bytes",
        "device",
    ),
)
AT = Layout(
    "at",
    "QI4x",
    (
        "at_ns",
        "node",
    ),
)
ADVANCE = Layout(
    "advance",
    "QQ",
    (
        "until_ns",
        "progress_ns",
    ),
)
GO = Layout(
    "go",
    "QQQQ",
    (
        "duration_ns",
        "interval_ns",
        "drain_ns",
        "steps",
    ),
)
FLOW = Layout(
    "flow",
    "IIIIIIIIQQQII16sQIIIIIIQQQQQQ",
    (
        "kind",
        "item",
        "stream",
        "src",
        "dst",
        "address",
        "port",
        "payload_bytes",
        "start_ns",
        "end_ns",
        "num_bytes",
        "window_bytes",
        "mss_bytes",
        "congestion",
        "rate_bps",
        "spread",
        "key_words",
        "key_0",
        "key_1",
        "key_2",
        "key_3",
        "interval_ns",
        "count",
        "request_bytes",
        "response_bytes",
        "think_ns",
        "connections",
    ),
)
PROGRAM_QUESTION = Layout(
    "program_question",
    "QIII4x",
    (
        "now_ns",
        "port",
        "event",
        "receives",
    ),
)
PROGRAM_REPLY = Layout(
    "program_reply",
    "Q",
    ("timer_ns",),
)
READING = Layout(
    "reading",
    "QQQIIIIIIIIII",
    (
        "received_bytes",
        "sent_bytes",
        "delivery_rate",
        "cwnd",
        "ssthresh",
        "rtt_us",
        "rtt_min_us",
        "retransmits",
        "segments_out",
        "segments_in",
        "marks",
        "timeouts",
        "ca_state",
    ),
)
STREAM_SAMPLE = Layout(
    "stream_sample",
    "III4xQQQIIIIIIIIII",
    (
        "item",
        "stream",
        "step",
        "received_bytes",
        "sent_bytes",
        "delivery_rate",
        "cwnd",
        "ssthresh",
        "rtt_us",
        "rtt_min_us",
        "retransmits",
        "segments_out",
        "segments_in",
        "marks",
        "timeouts",
        "ca_state",
    ),
)
QUEUE_SAMPLE = Layout(
    "queue_sample",
    "IIIIIII4xQ",
    (
        "queue",
        "step",
        "backlog_bytes",
        "backlog_packets",
        "drops",
        "marks",
        "sent_packets",
        "sent_bytes",
    ),
)
TCP_TOTAL = Layout(
    "tcp_total",
    "III4xQQQQQQIIIIIIIIII",
    (
        "item",
        "stream",
        "has_reading",
        "connect_ns",
        "first_ns",
        "last_ns",
        "received_bytes",
        "sent_bytes",
        "delivery_rate",
        "cwnd",
        "ssthresh",
        "rtt_us",
        "rtt_min_us",
        "retransmits",
        "segments_out",
        "segments_in",
        "marks",
        "timeouts",
        "ca_state",
    ),
)
UDP_TOTAL = Layout(
    "udp_total",
    "IIQQQQQQdqqqQQQQQQ",
    (
        "item",
        "drops",
        "sent_bytes",
        "sent_datagrams",
        "received_bytes",
        "received_datagrams",
        "duplicates",
        "reordered",
        "jitter_ns",
        "delay_min_ns",
        "delay_max_ns",
        "delay_sum_ns",
        "first_ns",
        "last_ns",
        "timely_bytes",
        "timely_datagrams",
        "timely_duplicates",
        "timely_last_ns",
    ),
)
UDP_INTERVAL = Layout(
    "udp_interval",
    "QQQ",
    (
        "number",
        "bytes",
        "datagrams",
    ),
)
ECHO = Layout(
    "echo",
    "QQQ",
    (
        "number",
        "sent_ns",
        "rtt_ns",
    ),
)
RESPONSE = Layout(
    "response",
    "QQQII",
    (
        "number",
        "start_ns",
        "end_ns",
        "retransmits",
        "timeouts",
    ),
)
PACKET = Layout(
    "packet",
    "IIIIIIHH6xBBHHHH",
    (
        "size",
        "s",
        "ns",
        "kept",
        "length",
        "status",
        "frame_at",
        "network_at",
        "flags",
        "offload",
        "head_bytes",
        "part_bytes",
        "checksum_from",
        "checksum_at",
    ),
)
DONE = Layout(
    "done",
    "QQQQ",
    (
        "now_ns",
        "jumps",
        "confined",
        "origin_ns",
    ),
)
LIBRARY_STATE = Layout(
    "library_state",
    "QIIIIQIIIIIIiI",
    (
        "now_ns",
        "port",
        "event",
        "flags",
        "mss_bytes",
        "delivery_rate",
        "window",
        "threshold",
        "in_flight",
        "delivered",
        "marked",
        "lost",
        "rtt_us",
        "rtt_min_us",
    ),
)
LIBRARY_CONTROL = Layout(
    "library_control",
    "IIQQ",
    (
        "window",
        "threshold",
        "pacing_rate",
        "ect",
    ),
)
