"""The user's programs over datagrams: what they deliver is measured, and faults in it are found."""

from __future__ import annotations

import math
import struct
import warnings
from typing import Any

import pytest

import netlab as nl
from netlab.base.errors import NetlabError, RunError, ScenarioError
from netlab_engines.library import program_pair
from netlab_user_code import delivery, method_calls

PIECE_BYTES = 1000
TIMEOUT_S = 0.1


class Sender:
    """Stop-and-wait: a piece with a number, sent until its number comes back."""

    numbers = 256

    def on_start(self, program: Any) -> None:
        self.program, self.number = program, 0
        self.send_next()

    def send_next(self) -> None:
        self.piece = self.program.read(PIECE_BYTES)
        if self.piece:
            self.send()
        else:
            self.program.set_timer(None)

    def send(self) -> None:
        self.program.send(bytes([self.number]) + self.piece)
        self.program.set_timer(self.program.now_s + TIMEOUT_S)

    def on_datagram(self, now_s: float, data: bytes) -> None:
        assert now_s == self.program.now_s
        if data[0] == self.number:
            self.number = (self.number + 1) % self.numbers
            self.send_next()

    def on_timer(self, now_s: float) -> None:
        self.send()


class Receiver:
    numbers = 256

    def on_start(self, program: Any) -> None:
        self.program, self.number = program, 0

    def on_datagram(self, now_s: float, data: bytes) -> None:
        if data[0] == self.number:
            self.program.deliver(data[1:])
            self.number = (self.number + 1) % self.numbers
        self.program.send(data[:1])


class Twice(Receiver):
    """Forgets that an acknowledgement may be lost."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        self.program.deliver(data[1:])
        self.program.send(data[:1])


class Hasty(Sender):
    """Never sends anything again."""

    def on_timer(self, now_s: float) -> None:
        self.number = (self.number + 1) % self.numbers
        self.send_next()


def path(**words: Any) -> nl.Topology:
    link = nl.Link("r1", "h2", **{"rate_mbps": 10, "delay_ms": 20, "queue_packets": 100, **words})
    return nl.Topology(["h1", "h2"], ["r1"], links=[nl.Link("h1", "r1"), link])


def run(sender: Any, receiver: Any, duration_s: float = 20.0, num_bytes: int | None = None, **words: Any) -> nl.Run:
    program = nl.Program("h1", "h2", sender=sender, receiver=receiver, num_bytes=num_bytes)
    return nl.run(path(**words), [program], duration_s, engine="library", progress=False)


def cycle_s(loss_rate: float) -> float:
    """Mean time of a piece: the RTT with both transmissions, and a timeout for each try of which a datagram was lost."""
    data_s, ack_s = (bytes_ * 8 / 10e6 for bytes_ in (PIECE_BYTES + 1 + 42, 1 + 42))
    tries = 1 / (1 - loss_rate) ** 2
    return 2 * 0.02 + data_s + ack_s + (tries - 1) * TIMEOUT_S


@pytest.mark.library
@pytest.mark.parametrize("loss_rate", [0.0, 0.05, 0.2])
def test_stop_and_wait_reaches_the_textbook_rate(loss_rate: float) -> None:
    found = run(Sender, Receiver, 200.0, loss_rate=loss_rate)
    row = found.flows.iloc[0]
    assert row.goodput_mbps == pytest.approx(
        PIECE_BYTES * 8 / cycle_s(loss_rate) / 1e6, rel=0.03 if loss_rate else 0.001
    )
    assert (row.duplicates, row.missing_bytes, row.wrong_bytes) == (0, 0, 0)
    assert row.delay_min_ms == pytest.approx(20 + 1043 * 8 / 10e3, abs=0.001)
    assert found.intervals.goodput_mbps.mean() == pytest.approx(row.goodput_mbps)
    if loss_rate:
        assert row.delay_max_ms >= row.delay_min_ms + 1000 * TIMEOUT_S - 0.001


@pytest.mark.library
def test_pair_survives_duplicates_and_reordering() -> None:
    row = run(Sender, Receiver, duplicate_rate=0.2, jitter_ms=15, reorder=True, loss_rate=0.05).flows.iloc[0]
    assert row.received_datagrams > row.received_bytes / PIECE_BYTES
    assert (row.duplicates, row.missing_bytes, row.wrong_bytes) == (0, 0, 0)


@pytest.mark.library
def test_a_number_of_one_bit_that_an_old_duplicate_wraps_is_found() -> None:
    class OneBitSender(Sender):
        numbers = 2

    class OneBitReceiver(Receiver):
        numbers = 2

    row = run(OneBitSender, OneBitReceiver, duplicate_rate=0.2, jitter_ms=20, reorder=True).flows.iloc[0]
    assert row.duplicates + row.missing_bytes > 0


@pytest.mark.library
def test_a_transfer_ends_with_its_last_byte() -> None:
    row = run(Sender, Receiver, num_bytes=49_500).flows.iloc[0]
    assert row.received_bytes == 49_500
    assert row.completion_s == pytest.approx(49 * cycle_s(0) + 0.02 + 543 * 8 / 10e6, abs=1e-3)
    assert row.goodput_mbps == pytest.approx(49_500 * 8 / row.completion_s / 1e6)
    assert math.isnan(run(Sender, Receiver, 1.0, num_bytes=49_500).flows.completion_s[0])


@pytest.mark.library
def test_a_receiver_that_delivers_twice_is_found() -> None:
    row = run(Sender, Twice, loss_rate=0.1).flows.iloc[0]
    assert row.duplicates == row.received_datagrams - row.received_bytes / PIECE_BYTES > 10
    assert run(Sender, Twice).flows.duplicates[0] == 0


@pytest.mark.library
def test_bytes_that_are_missing_or_wrong_are_found() -> None:
    class Flipping(Receiver):
        def on_datagram(self, now_s: float, data: bytes) -> None:
            super().on_datagram(now_s, data[:1] + bytes(each ^ 1 for each in data[1:]))

    lossy = run(Hasty, Twice, loss_rate=0.1).flows.iloc[0]
    assert lossy.missing_bytes > 10 * PIECE_BYTES
    assert (lossy.missing_bytes + lossy.received_bytes) % PIECE_BYTES == 0
    flipped = run(Sender, Flipping, 2.0).flows.iloc[0]
    assert flipped.received_bytes == 0
    assert flipped.wrong_bytes == PIECE_BYTES * 49


@pytest.mark.library
def test_programs_that_make_their_own_data_are_measured_by_what_they_sent() -> None:
    class Numbers(Sender):
        def send_next(self) -> None:
            self.count = getattr(self, "count", 0) + 1
            self.piece = b"%08d" % self.count
            self.send()

    good, twice = (run(Numbers, each, loss_rate=0.1).flows.iloc[0] for each in (Receiver, Twice))
    assert good.received_bytes == twice.received_bytes > 200 * 8
    assert (good.duplicates, good.wrong_bytes) == (0, 0)
    assert twice.duplicates > 10
    assert good.delay_min_ms == pytest.approx(20 + 51 * 8 / 10e3, abs=0.001)


@pytest.mark.library
def test_programs_share_a_network_with_tcp_and_with_each_other_and_live_ones_go_on() -> None:
    network = nl.topologies.dumbbell(pairs=2, rate_mbps=5, delay_ms=10, queue_packets=20)
    flows = [
        nl.Program("h1", "h3", Sender, Receiver, start_s=1, duration_s=2),
        nl.Program("h2", "h4", Sender, Receiver),
        nl.Tcp("h1", "h4"),
    ]
    found = nl.run(network, flows, 5, engine="library", progress=False)
    assert (found.flows.received_bytes > 10 * PIECE_BYTES).all()
    first = found.intervals[found.intervals.flow == "h1-h3 Sender"]
    assert (first.t_s.min(), first.t_s.max()) == (1.1, 3.0)
    with nl.live(network, engine="library") as lab:
        flow = lab.start(flows[1])
        lab.advance(2)
        assert lab.run.flows.received_bytes[0] > 10 * PIECE_BYTES
        flow.stop()


@pytest.mark.library
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda program: program.send("hello"),
            "send() takes bytes, such as b'hello', text.encode() or data[1:]; got 'hello'",
        ),
        (lambda program: program.send(str(bytes(1000))), "got str of length 4003"),
        (lambda program: program.send(b""), "send() takes 1 to 1472 bytes, the payload of an Ethernet frame; got 0"),
        (lambda program: program.send(bytes(1473)), "got 1473"),
        (lambda program: [program.send(bytes(1000)) for _ in range(2000)], "more than 1000000 bytes within one call"),
        (
            lambda program: program.set_timer(-1),
            "set_timer() takes a later network time, such as program.now_s + 0.2",
        ),
        (lambda program: program.set_timer(math.nan), "got nan at 0 s"),
        (lambda program: program.set_timer("1"), "got '1' at 0 s"),
        (lambda program: program.read(0), "read() takes a whole number of bytes of at least 1, got 0"),
        (lambda program: program.deliver(b"x"), "deliver() is for the receiver"),
        (lambda program: 1 / 0, "ZeroDivisionError: division by zero. In line "),
    ],
)
def test_mistakes_in_a_program_end_the_run_with_a_sentence(wrong: Any, message: str) -> None:
    class Wrong(Sender):
        def on_start(self, program: Any) -> None:
            wrong(program)

    with pytest.raises(RunError) as error:
        run(Wrong, Receiver)
    assert str(error.value).startswith("h1-h2 Wrong: Wrong.on_start ended the run at 0 s: ")
    assert message in str(error.value)


@pytest.mark.library
def test_a_program_that_computes_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_calls, "MAX_CALL_S", 0.3)

    class Endless(Receiver):
        def on_datagram(self, now_s: float, data: bytes) -> None:
            while True:
                pass

    with pytest.raises(
        RunError,
        match=r"h1-h2 Sender: Endless\.on_datagram ended the run at 0\.0\d+ s: it did not return within 0\.3 s",
    ):
        run(Sender, Endless)


START, DATAGRAM, TIMER = range(3)


def call_program(
    both: program_pair.ProgramPair, now_s: float, event: int, end: int, data: bytes = b""
) -> tuple[float | None, list[bytes]]:
    """Return a program's timer and datagrams after a call of the kernel (protocol.h: time, port, event, end)."""
    text = both.answer(struct.pack("<QIIII", round(now_s * 1e9), 5001, event, end, 0) + data)
    (timer,), at, sent = struct.unpack_from("<Q", text), 8, []
    while at < len(text):
        (length,) = struct.unpack_from("<I", text, at)
        sent.append(text[at + 4 : at + 4 + length])
        at += 4 + length
    return None if timer == 2**64 - 1 else timer / 1e9, sent


def test_actions_of_both_programs_are_counted_and_timed() -> None:
    """Three pieces by stop-and-wait; the second is lost once, and its acknowledgement once."""
    both = program_pair.ProgramPair("flow", (Sender, Receiver), 2500)
    timer_s, (first,) = call_program(both, 1.0, START, 0)
    assert timer_s == 1.1 and first[0] == 0 and len(first) == 1001
    assert call_program(both, 1.0, START, 1) == (None, [])
    assert call_program(both, 1.02, DATAGRAM, 1, first) == (None, [b"\0"])
    timer_s, (second,) = call_program(both, 1.04, DATAGRAM, 0, b"\0")
    assert timer_s == 1.14 and second[0] == 1
    assert call_program(both, 1.14, TIMER, 0) == (1.24, [second])
    assert call_program(both, 1.16, DATAGRAM, 1, second) == (None, [b"\1"])
    assert call_program(both, 1.24, TIMER, 0) == (1.34, [second])
    assert call_program(both, 1.26, DATAGRAM, 1, second) == (None, [b"\1"])
    # The receiver knows the piece: it is delivered once.
    timer_s, (third,) = call_program(both, 1.28, DATAGRAM, 0, b"\1")
    assert len(third) == 501
    assert call_program(both, 1.37, DATAGRAM, 1, third) == (None, [b"\2"])
    assert call_program(both, 1.4, DATAGRAM, 0, b"\2") == (None, [])
    totals = both.log.totals()
    assert totals == {
        "flow": "flow", "error": None, "sent_bytes": 3 * 1001 + 1001 + 501, "sent_datagrams": 5, "received_datagrams": 4,
        "delivered_bytes": 2500, "duplicates": 0, "missing_bytes": 0, "wrong_bytes": 0, "equal_datagrams": None,
        "delay_min_ms": pytest.approx(20), "delay_mean_ms": pytest.approx((20 + 120 + 90) / 3), "delay_max_ms": pytest.approx(120),
        "first_s": 1.02, "last_s": 1.37,
    }  # fmt: skip
    assert both.log.rows(0.1) == [
        {"flow": "flow", "interval": 10, "bytes": 1000, "datagrams": 1},
        {"flow": "flow", "interval": 11, "bytes": 1000, "datagrams": 1},
        {"flow": "flow", "interval": 13, "bytes": 500, "datagrams": 1},
    ]


@pytest.mark.parametrize("interval_s", [0.1, 0.05, 0.3, 0.007])
def test_a_delivery_on_the_border_of_two_intervals_counts_in_the_later_one(interval_s: float) -> None:
    log = delivery.DeliveryLog(None)
    for number in range(1, 1000):
        log.note_sent(0.0, b"%d" % number)
        log.deliver(round(number * interval_s * 1e9) / 1e9, b"%d" % number)
    assert [row["interval"] for row in log.rows(interval_s)] == list(range(1, 1000))


@pytest.mark.library
def test_a_receiver_that_delivers_at_each_interval_shows_a_constant_goodput() -> None:
    class Clocked(Receiver):
        def on_start(self, program: Any) -> None:
            super().on_start(program)
            self.count = 0
            program.set_timer(0.1)

        def on_datagram(self, now_s: float, data: bytes) -> None:
            self.program.send(data[:1])

        def on_timer(self, now_s: float) -> None:
            self.count += 1
            self.program.deliver(b"%099d" % self.count)
            self.program.set_timer((self.count + 1) / 10)

    class Numbers(Sender):
        def on_start(self, program: Any) -> None:
            for number in range(1, 30):
                program.send(b"%099d" % number)

        def on_datagram(self, now_s: float, data: bytes) -> None:
            pass

    goodput_mbps = run(Numbers, Clocked, 2.0).intervals.goodput_mbps
    assert goodput_mbps[1:].tolist() == pytest.approx([99 * 8 / 0.1 / 1e6] * 19)


def test_flow_without_delivery_has_no_completion_time() -> None:
    totals = program_pair.ProgramPair("flow", (Sender, Receiver), None).log.totals()
    assert totals["first_s"] is totals["last_s"] is None
    assert all(math.isnan(totals[name]) for name in ("delay_min_ms", "delay_mean_ms", "delay_max_ms"))  # type: ignore[literal-required]


def delivered(log: delivery.DeliveryLog, *pieces: bytes) -> tuple[int, int, int, int]:
    """Bytes that were new, pieces that were not, bytes that were left out, and bytes that nobody had sent."""
    for number, piece in enumerate(pieces):
        log.deliver(float(number), piece)
    totals = log.totals()
    return totals["delivered_bytes"], totals["duplicates"], totals["missing_bytes"], totals["wrong_bytes"]


def test_a_piece_is_found_among_what_was_read() -> None:
    for pieces, counted in (
        ([slice(0, 50), slice(50, 100)], (100, 0, 0, 0)),
        ([slice(0, 50), slice(0, 50)], (50, 1, 0, 0)),
        ([slice(0, 50), slice(25, 75)], (75, 1, 0, 0)),
        ([slice(30, 60)], (30, 0, 30, 0)),
        ([slice(30, 60), slice(0, 30)], (30, 1, 30, 0)),
        ([slice(0, 0)], (0, 0, 0, 0)),
    ):
        log = delivery.DeliveryLog(100)
        data = log.read(0.0, 60) + log.read(0.0, 60)
        assert len(data) == 100 and log.read(0.0, 1) == b""
        assert delivered(log, *(data[piece] for piece in pieces)) == counted
    log = delivery.DeliveryLog(None)
    log.read(0.0, 100)
    assert delivered(log, bytes(10)) == (0, 0, 0, 10)


def test_piece_of_a_sender_that_reads_nothing_is_found_in_its_output() -> None:
    log = delivery.DeliveryLog(None)
    for number in range(3):
        log.note_sent(float(number), b"head%d" % number)
    assert delivered(log, b"d0", b"d2", b"d2", b"d3") == (4, 1, 0, 2)
    assert log.totals()["delay_min_ms"] == -1000


def test_mistake_in_a_call_is_reported_with_the_parameters() -> None:
    log = delivery.DeliveryLog(None)
    sender, receiver = (delivery.ProgramInterface(log, receives) for receives in (False, True))
    for call, text in (
        (lambda: sender.send(b""), "takes 1 to 1472 bytes.*got 0"),
        (lambda: sender.send(bytes(1473)), "got 1473"),
        (lambda: sender.send("hello"), "takes bytes.*got 'hello'"),
        (lambda: sender.send("x" * 21), "got str of length 21"),
        (lambda: [sender.send(bytes(1472)) for _ in range(700)], "more than 1000000 bytes"),
        (lambda: sender.set_timer(0.0), "a later network time.*got 0.0 at 0 s"),
        (lambda: sender.set_timer(1e8), "a later network time"),
        (lambda: sender.read(0), "at least 1, got 0"),
        (lambda: receiver.read(1), "read\\(\\) is for the sender"),
        (lambda: sender.deliver(b"x"), "deliver\\(\\) is for the receiver"),
    ):
        with pytest.raises(NetlabError, match=text):
            call()
    for data in (b"x", bytearray(1472), memoryview(b"x")):
        receiver.send(data)
    # The log does not include what a receiver sends. Each datagram of the sender takes four more bytes for its length.
    assert log.sent_datagrams == 1_000_000 // 1476
    _timer_ns, outgoing = receiver.take()
    assert [len(data) for data in outgoing] == [1, 1472, 1]
    receiver.set_timer(2.5)
    assert receiver.take() == (2_500_000_000, [])
    receiver.wake(2_500_000_000, is_timer=True)
    assert receiver.take() == (delivery.NO_TIMER, []) and receiver.now_s == 2.5


def test_programs_need_a_link_with_a_rate() -> None:
    program = nl.Program("h1", "h2", Sender, Receiver)
    with pytest.raises(ScenarioError, match="programs could answer each other without end in no time"):
        nl.run(nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", delay_ms=5)]), [program])


def test_a_scenario_file_holds_no_program() -> None:
    document = nl.Scenario(path(), [nl.Program("h1", "h2", Sender, Receiver)], 1.0).to_dict()
    assert document["traffic"][0]["sender"] == "class Sender"
    with pytest.raises(ScenarioError, match="sender is a class, which a file cannot hold; run it from Python"):
        nl.Scenario.from_dict(document)


class Plain:
    """A sender that reads nothing: 50 datagrams, one each millisecond; each has a number at its end if `numbered`."""

    numbered = False

    def on_start(self, program: Any) -> None:
        self.program, self.sent = program, 0
        program.set_timer(0.001)

    def on_timer(self, now_s: float) -> None:
        self.program.send(bytes(96) + (self.sent if self.numbered else 0).to_bytes(4, "big"))
        self.sent += 1
        if self.sent < 50:
            self.program.set_timer(now_s + 0.001)


class Numbered(Plain):
    numbered = True


class Delivering:
    def on_start(self, program: Any) -> None:
        self.program = program

    def on_datagram(self, now_s: float, data: bytes) -> None:
        self.program.deliver(data)


@pytest.mark.library
def test_a_run_warns_once_of_deliveries_that_are_equal() -> None:
    with pytest.warns(UserWarning, match="49 of its 50 datagrams equal an earlier one") as warned:
        row = run(Plain, Delivering, 1.0).flows.iloc[0]
    assert len(warned) == 1 and "h1-h2 Plain: 49 deliveries count as duplicates" in str(warned[0].message)
    assert (row.received_bytes, row.duplicates) == (100, 49)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = run(Numbered, Delivering, 1.0).flows.iloc[0]
        run(Sender, Receiver, 1.0)
    assert (row.received_bytes, row.duplicates) == (5000, 0)
