"""Schedules of losses, each of which reveals a common fault, and the messages about a faulty transfer.

"data 3" is the third datagram that the sender sends, "ack 2" the second that the receiver sends. Here, pieces are numbered from 1.
"""

from collections.abc import Mapping
from typing import Any

from netlab_course.chapters.reliable_transfer.channel import ONE_WAY_S
from netlab_course.chapters.reliable_transfer.programs import NUMBERS, TIMEOUT_S

GIVEN = ("pieces", "window", "lost", "twice", "late_s", "until_s")
"""The parts of a schedule that a trial gets; the others are for the check."""
SHOWN = 6
SLOW = 10
"""A piece that takes this many times longer than allowed has probably waited for a timer in wrong units."""
WRAPS = 600
"""Pieces of a long transfer, in which the numbers wrap twice."""


def schedule(says: str, pieces: int, window: int | None = None, **more: Any) -> dict[str, Any]:
    """Return a schedule for this number of pieces, with a window in pieces (None: none is passed on) and the advice
    `says` for a program that does not survive it; `more` has its other entries, which by default lose, duplicate, delay
    and limit nothing.

    `more` may have `lost` and `twice`: names of datagrams; `late_s`: delays in s by name; `until_s`: the moment at
    which the transfer is interrupted; `most_sent`, `latest_s`: the limits of effort and time.
    """
    made = {"says": says, "pieces": pieces, "window": window, "lost": [], "twice": [], "late_s": {}, "until_s": None}
    return {**made, "most_sent": None, "latest_s": None, **more}


def in_words(case: Mapping[str, Any]) -> str:
    """Return the schedule `case` as the beginning of a sentence: pieces, window, and what is lost, duplicated, late or
    interrupted.
    """
    parts = []
    for key, what in (("lost", "lost"), ("twice", "arriving twice"), ("late_s", "late")):
        names = list(case[key])
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            parts.append(f"{', '.join(names[:SHOWN])}{more} {what}")
    if case["until_s"] is not None:
        parts.append(f"broken off after {case['until_s']:g} s")
    window = "" if case["window"] is None else f", window {case['window']}"
    return f"{case['pieces']} pieces{window}, {'; '.join(parts) or 'nothing lost'}"


def fault(case: Mapping[str, Any], found: Mapping[str, Any], modulus: int = NUMBERS) -> str:
    """Return the fault in a trial as a sentence, from its schedule `case` and the result `found` of `channel.transfer`;
    "" if there is none. The numbers of the pieces count modulo `modulus`.
    """
    delivered, pieces = found["delivered"], case["pieces"]
    wrong = next((place for place, number in enumerate(delivered) if number != place), None)
    if wrong is not None:
        return _wrong_piece(wrong, int(delivered[wrong]), modulus)
    if case["until_s"] is not None:
        return ""
    if len(delivered) < pieces:
        rest = "the sender sent on without end" if found["sends_on"] else "nothing was sent any more"
        return f"only {len(delivered)} of {pieces} pieces {'was' if len(delivered) == 1 else 'were'} delivered, then {rest}."
    if not found["ends"]:
        what = "one end sends" if found["sends_on"] else "a timer runs"
        return f"all pieces were delivered, but {what} on for ever: when is it done?"
    if case["window"] is not None and found["first_flight"] != min(pieces, case["window"]):
        return f"datagrams sent before any ACK could come: {found['first_flight']}, with a window of {case['window']}."
    if case["most_sent"] is not None and found["sent"] > case["most_sent"]:
        return f"the sender sent {found['sent']} datagrams for {pieces} pieces, more than it should."
    if case["latest_s"] is not None and found["last_s"] > case["latest_s"]:
        return f"the last piece came after {found['last_s']:.2f} s, which is too late."
    return ""


def advice(case: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Return advice on a fault of a trial, from its schedule `case` and the result `found` of `channel.transfer`: from
    its datagrams if they show the reason, else the schedule's own.
    """
    if case["says"] == _STATE_ADVICE:
        return _STATE_ADVICE
    if found["shapeless"] and not _sent_too_often_before(case, found["shapeless"]):
        return (
            f'Look at "data {found["shapeless"]}": it is not one byte with the number and then a piece. bytes([7]) is one byte of '
            'value 7, bytes(7) is seven zeros; and at the end, when read(1000) gives b"", nothing is to be sent.'
        )
    if found["sent"] and not found["answered"]:
        return "The receiver answers nothing. Does it call program.send(...)? What a method returns goes nowhere."
    if not found["sent"]:
        return "The sender sends nothing. Does on_start send the first piece?"
    if not found["delivered"]:
        return (
            "Nothing was delivered. Does the receiver call program.deliver(piece), and has the first piece the number 0? Its datagram "
            f"begins with the byte {found['numbers'][0][0]}."
        )
    if case["window"] is not None and found["first_flight"] != min(case["pieces"], case["window"]):
        return "As many pieces as the window has may be in flight without an ACK: no more, and no fewer while there are some to send."
    if seen := _advice_on_a_window(case, found):
        return seen
    if len(found["delivered"]) == case["pieces"] and not found["ends"]:
        return "When all is acknowledged and read(1000) gives no more, no timer may be left: set_timer(None)."
    sent_too_often = case["most_sent"] is not None and found["sent"] > case["most_sent"]
    late = case["latest_s"] is not None and found["last_s"] > case["latest_s"] and not sent_too_often
    if late and found["last_s"] > SLOW * case["latest_s"]:
        return "set_timer() takes a moment in seconds, such as now_s + programs.TIMEOUT_S."
    if late:
        return f"{case['says']} And is it set to programs.TIMEOUT_S?"
    is_short = len(found["delivered"]) < case["pieces"] and -1 not in found["delivered"]
    if is_short and not (case["lost"] or case["twice"] or case["late_s"]):
        data, acks = (", ".join(map(str, numbers)) for numbers in found["numbers"])
        return (
            f"{case['says']} The sender's datagrams begin with the bytes {data} ..., the receiver's with {acks} ...: is each new "
            "piece's number the one that the receiver waits for, and each ACK the one that the sender waits for?"
        )
    return str(case["says"])


def _sent_too_often_before(case: Mapping[str, Any], datagram: int) -> bool:
    """Return whether a sender had sent more than the schedule `case` allows before its datagram with this number, which
    is then a consequence of that.
    """
    return case["most_sent"] is not None and datagram > case["most_sent"] + 1


def _advice_on_a_window(case: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Return advice on a fault of a sender with a window from what it did in a trial with the schedule `case` and the
    result `found` of `channel.transfer`; "" if that does not tell the reason, and without a window.
    """
    window = case["window"]
    if window is None:
        return ""
    is_whole = len(found["delivered"]) == case["pieces"]
    if found["again_at_acks"] >= window:
        return (
            f"{found['again_at_acks']} times a piece was sent again when an ACK came. Equal ACKs need not mean a loss: a sender that "
            "takes them for one may send one piece again, but only the timer sends all that is in flight again."
        )
    if is_whole and not found["ends"] and found["sends_on"] and found["last_ack"] == case["pieces"] % NUMBERS:
        return (
            "The last ACK says that all pieces are there, and the sender still sends: does an ACK for all that is in flight count as "
            "well? Nothing is in flight then, and no timer may be left."
        )
    if found["most_ahead"] > window and not is_whole:
        return (
            f"Up to {found['most_ahead']} pieces were in flight without an ACK, with a window of {window}: an ACK took off more than it "
            "says. The number in it is that of the piece that the receiver waits for."
        )
    if found["silent_timers"] and not is_whole and not found["sends_on"]:
        return "The sender's timer ended with pieces in flight, and it sent nothing: what must go again?"
    return ""


def _wrong_piece(place: int, number: int, modulus: int) -> str:
    """Return a sentence on the piece `number` (from 0; -1 for unknown data) that was delivered where the piece `place`
    (from 0) was due; the sentence counts pieces from 1. Their numbers count modulo `modulus`.
    """
    if number < 0:
        return (
            f"after {place} pieces something was delivered that is not a piece: are the number and the data kept apart, and read(1000) "
            "used for each piece?"
        )
    if number < place and (place - number) % modulus == 0:
        return f"piece {number + 1} was delivered in the place of piece {place + 1}: both have the same number modulo {modulus}."
    if number < place:
        return f"piece {number + 1} was delivered twice."
    return f"piece {number + 1} was delivered where piece {place + 1} was due."


_STATE_ADVICE = (
    "Before this one a transfer was broken off. What did your class keep of it? Set what changes in on_start (self.number = 0), "
    "not in the class' body: there all transfers share it."
)


def _interrupted_transfer(pieces: int, window: int | None = None) -> list[dict[str, Any]]:
    """Return two schedules with this window: an interrupted transfer of `pieces` + 1 pieces, followed by one of
    `pieces` without losses, which fails if a program keeps state in its class.
    """
    # Another number of pieces gives pieces of different contents.
    return [
        schedule(
            "A piece may be delivered only after all that come before it.",
            pieces + 1,
            window,
            lost=["data 2"],
            until_s=0.2,
        ),
        schedule(_STATE_ADVICE, pieces, window),
    ]


def every(first: int, step: int, last: int, name: str) -> list[str]:
    """Return names of datagrams at a fixed distance, up to `last` at most: `every(5, 10, 30, "ack")` is ["ack 5", "ack
    15", "ack 25"].
    """
    return [f"{name} {number}" for number in range(first, last + 1, step)]


def _late_acks() -> dict[str, Any]:
    """Return the schedule of a long transfer in which the first ACK of each piece comes while the sender waits for piece
    256, whose datagram is lost; numbers modulo 2 to 255 give one of these ACKs the number that the sender waits for.
    """
    waits_for = NUMBERS - 1
    rtt_s = 2 * ONE_WAY_S
    with_timeout_s = TIMEOUT_S + rtt_s
    # The ACK of the piece just before it is in time: this piece takes one round trip, and the late ACKs one more.
    all_come_s = (waits_for - 1) * with_timeout_s + 2 * rtt_s
    late_s = {
        f"ack {2 * number + 1}": round(all_come_s - rtt_s - number * with_timeout_s, 3)
        for number in range(waits_for - 1)
    }
    return schedule(
        f"The first ACKs of many pieces come late, all of them while the sender waits for piece {NUMBERS}. One of them is for a "
        f"piece with the same number as this one, unless numbers are used again only after {NUMBERS} pieces.",
        NUMBERS + 2,
        late_s=late_s,
        lost=[f"data {2 * waits_for}"],
    )


def _window_of_four(says: str, latest_s: float | None = 1.5, **more: Any) -> dict[str, Any]:
    """Return a schedule of twelve pieces and a window of four with the advice `says`, whose last piece must arrive by
    `latest_s` in s (None: at any time); `more` has other entries as for `schedule`.
    """
    return schedule(says, 12, 4, latest_s=latest_s, **more)


_BEFORE_TIMEOUT_S = 0.13
_EARLY_TIMER = (
    "An ACK comes 0.23 s after its piece was sent. The timer takes programs.TIMEOUT_S, 0.25 s: nothing may be sent again before "
    "it ends."
)

STOP_AND_WAIT = [
    schedule("Nothing is lost here, so the simplest program must do.", 5, most_sent=5, latest_s=0.5),
    *_interrupted_transfer(5),
    schedule("Who notices that a piece is lost? Only a timer can.", 5, lost=["data 2"], most_sent=6, latest_s=2.0),
    schedule(
        "The piece is lost twice. Is the timer set again when the piece is sent again?",
        5,
        lost=["data 2", "data 3"],
        most_sent=7,
        latest_s=2.0,
    ),
    schedule(
        "The ACK is lost, so the sender sends a piece that the receiver has. It must know it by its number, and answer it again.",
        5,
        lost=["ack 2"],
        most_sent=6,
        latest_s=2.0,
    ),
    schedule(
        "The second copy of an ACK comes while the sender waits for the next one. Does it look at the ACK's number?",
        6,
        twice=["data 3", "ack 1"],
        lost=["data 4"],
        latest_s=2.0,
    ),
    schedule(
        "An ACK comes so late that the piece has been sent again. When it comes, it is not the ACK that the sender waits for.",
        6,
        late_s={"ack 2": 0.28},
        lost=["data 4", "data 5"],
        latest_s=3.0,
    ),
    schedule(
        "An ACK comes after a timeout and four round trips, when the sender waits for a later ACK. Do both pieces have the same number?"
        " With one bit, 0 and 1, every second piece has. Use all values of the byte.",
        6,
        late_s={"ack 1": 0.37},
        lost=["data 4"],
        latest_s=2.0,
    ),
    schedule(
        "An ACK comes six round trips late, when the sender waits for a later ACK. Do both pieces have the same number? With two bits "
        "every fourth piece has. Use all values of the byte.",
        8,
        late_s={"ack 1": 0.57},
        lost=["data 6"],
        latest_s=2.5,
    ),
    schedule(
        "One ACK is duplicated. Its second copy is not for the piece in flight, and a sender that answers such an ACK with the piece "
        "again makes a second copy of that piece's ACK, and so on: everything goes twice. Only the timer may send a piece again.",
        20,
        twice=["ack 2"],
        most_sent=20,
        latest_s=2.1,
    ),
    schedule(
        _EARLY_TIMER,
        5,
        late_s={"ack 2": _BEFORE_TIMEOUT_S},
        most_sent=5,
    ),
    schedule(
        "Sequence numbers wrap: one byte has 256 of them, and the transfer has more pieces. After 255 comes 0.",
        WRAPS,
        lost=[*every(20, 97, WRAPS, "data"), *every(55, 101, WRAPS, "ack")],
    ),
    schedule(
        "A piece is so late that it has been sent again, and comes once more after the next piece. The receiver has it already, though it "
        "differs from the last datagram: it must know this by the number.",
        5,
        late_s={"data 1": 0.38},
        latest_s=2.0,
    ),
    schedule(
        "A late ACK has the number 255, or 0 if it says what comes next, and the sender is one piece further. After the wrap a number "
        "that is larger is not newer: only the number of the piece in flight will do.",
        NUMBERS + 4,
        late_s={f"ack {NUMBERS}": 0.3},
        lost=[f"data {NUMBERS + 2}"],
    ),
    _late_acks(),
]

GO_BACK_N = [
    _window_of_four(
        "Nothing is lost, and no datagram is late. When the window moves, the oldest piece in flight is another one, and the timer must "
        "be for that one.",
        most_sent=12,
        latest_s=0.3,
    ),
    *_interrupted_transfer(12, 4),
    _window_of_four(
        "After a loss all pieces in flight go again, and the window moves on.", lost=["data 2"], most_sent=17
    ),
    _window_of_four(
        "The piece is lost twice. Is the timer set again when all goes again?", lost=["data 2", "data 6"], most_sent=21
    ),
    _window_of_four(
        "An ACK says which piece the receiver waits for, so a later one makes up for one that is lost.",
        lost=["ack 2", "ack 5", "ack 6"],
        most_sent=12,
        latest_s=0.4,
    ),
    _window_of_four(
        "The last piece is lost. An ACK for an earlier one must not switch the timer off: it is for the oldest piece in flight.",
        lost=["data 12"],
        most_sent=13,
    ),
    _window_of_four(
        "An old ACK comes after newer ones. It must not move the window back, or the sender forgets what is in flight.",
        late_s={"ack 1": 0.11},
        lost=["data 11"],
        most_sent=14,
    ),
    _window_of_four(
        "An ACK that says the same as the one before it does not move the window. It must leave the timer alone.",
        lost=["data 2"],
        late_s={"data 4": 0.2},
        latest_s=0.65,
    ),
    _window_of_four(
        "All ACKs of a window are lost, so all of it is sent twice. The receiver answers each copy with the same ACK. Equal ACKs need "
        "not mean a loss: a sender that takes them for one may send one piece again, but not all.",
        lost=every(1, 1, 4, "ack"),
        most_sent=17,
    ),
    _window_of_four(_EARLY_TIMER, late_s=dict.fromkeys(every(1, 1, 4, "ack"), _BEFORE_TIMEOUT_S), most_sent=12),
    schedule(
        "Sequence numbers wrap. How far an ACK moves the window is a difference modulo 256.",
        WRAPS,
        100,
        lost=[*every(130, 177, WRAPS, "data"), *every(40, 90, WRAPS, "ack")],
    ),
]

SELECTIVE_REPEAT = [
    _window_of_four("Nothing is lost: deliver each piece as it comes.", most_sent=12, latest_s=0.3),
    *_interrupted_transfer(12, 4),
    _window_of_four(
        "One piece is lost, and one must go again. Are the pieces that came early kept?", lost=["data 2"], most_sent=13
    ),
    _window_of_four(
        "The ACK is lost, so a piece comes again that was delivered long ago. It needs its ACK again, or the sender never moves on.",
        lost=["ack 2"],
        most_sent=13,
    ),
    _window_of_four(
        "The pieces arrive in another order.", late_s={"data 1": 0.03, "data 7": 0.02}, most_sent=12, latest_s=None
    ),
    _window_of_four("The path makes copies.", twice=["data 3", "data 4", "ack 6"], most_sent=12, latest_s=None),
    schedule(
        "Sequence numbers wrap. An old piece that comes again is behind the window, up to 128 numbers here. A receiver that keeps it "
        "delivers it one round of numbers later.",
        WRAPS,
        NUMBERS // 2,
        lost=["ack 1", *every(10, 83, WRAPS, "ack"), *every(461, 131, WRAPS, "data")],
    ),
]
