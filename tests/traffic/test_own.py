"""Classes and objects of the user's in a flow: what is taken, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab.traffic.own import is_own, new_object

METHODS = "on_start, on_ack, on_loss, on_timeout"


class Own:
    def on_ack(self, ack: Any) -> None: ...


class Misspelt(Own):
    def on_acks(self, ack: Any) -> None: ...


class Field(Own):
    on_loss = 5


class Camel(Own):
    onAck = Own.on_ack  # noqa: N815 (the slip)


class Empty: ...


@pytest.mark.parametrize("given", ["reno", None, 5, 2.5, ["reno"], len, lambda flow: None, int])
def test_text_numbers_and_functions_are_no_ones_class(given: Any) -> None:
    assert not is_own(given)
    assert nl.Tcp("h1", "h2", congestion=given).problems("x") or given == "reno"


@pytest.mark.parametrize("given", [Own, Own()])
def test_a_class_and_an_object_are_taken(given: Any) -> None:
    assert nl.Tcp("h1", "h2", congestion=given).problems("x") == []
    assert new_object(given) is not given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            Misspelt,
            f"congestion: Misspelt has a method that nothing calls: got 'on_acks'; allowed: {METHODS}; did you mean on_ack?",
        ),
        (
            Camel(),
            f"congestion: Camel has a method that nothing calls: got 'onAck'; allowed: {METHODS}; did you mean on_ack?",
        ),
        (Field, "congestion: Field.on_loss must be a method, got 5"),
        (Empty(), f"congestion: Empty has none of the methods {METHODS}"),
    ],
)
def test_class_without_the_methods_is_reported_with_their_names(given: Any, message: str) -> None:
    assert nl.Tcp("h1", "h2", congestion=given).problems("traffic 1") == [f"traffic 1: {message}"]


def test_a_program_needs_both_ends() -> None:
    class Sender:
        def on_start(self, program: Any) -> None: ...

    assert nl.Program("h1", "h2", Sender, Sender).problems("x") == []
    (message,) = nl.Program("h1", "h2", sender=Sender, num_bytes=5).problems("x")
    assert message.startswith(
        "x: receiver must be your own class, or an object, with some of on_start, on_datagram, on_timer"
    )
    assert len(nl.Program("h1", "h2", "a", 5, num_bytes=0, duration_s=-1).problems("x")) == 4
