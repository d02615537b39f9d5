"""Numbers of a student's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import NetlabError
from netlab_course.own_numbers import OwnNumbers

NUMBERS = OwnNumbers(
    {"rate_mbps": (5, 4, 8), "payload_bytes": (1000, 700)},
    holds=lambda own: own.rate_mbps * own.payload_bytes != 2800,
    derive=lambda own: {"bits": own.payload_bytes * 8},
)


def test_without_a_token_the_printed_figures_come() -> None:
    assert vars(NUMBERS.draw()) == {"rate_mbps": 5, "payload_bytes": 1000, "bits": 8000}


def test_consequences_of_the_figures_are_not_printed() -> None:
    own = NUMBERS.draw()
    assert repr(own) == "rate_mbps = 5\npayload_bytes = 1000"
    assert own.bits == 8000


@given(st.text(min_size=1))
def test_a_token_gives_figures_of_the_lists_and_always_the_same(token: str) -> None:
    own = NUMBERS.draw(token)
    assert own == NUMBERS.draw(token)
    assert own.rate_mbps in (5, 4, 8)
    assert own.payload_bytes in (1000, 700)
    assert own.rate_mbps * own.payload_bytes != 2800
    assert own.bits == 8 * own.payload_bytes


def test_all_combinations_in_which_the_lesson_holds_are_drawn() -> None:
    drawn = {(own.rate_mbps, own.payload_bytes) for own in (NUMBERS.draw(str(n)) for n in range(200))}
    assert len(drawn) == len(NUMBERS) - 1


def test_a_condition_that_no_combination_fulfils_is_an_error() -> None:
    with pytest.raises(NetlabError, match="No valid combination .* in 1000 tries; allow more values"):
        NUMBERS.draw("anna", accept=lambda own: own.rate_mbps > 100)


@pytest.mark.parametrize("values", [(), (5, 5)])
def test_a_figure_needs_values_that_differ(values: tuple[int, ...]) -> None:
    with pytest.raises(NetlabError, match="rate_mbps needs values"):
        OwnNumbers({"rate_mbps": values})


def test_the_printed_figures_must_serve_the_lesson() -> None:
    with pytest.raises(NetlabError, match="printed numbers"):
        OwnNumbers({"rate_mbps": (5, 4)}, holds=lambda own: own.rate_mbps < 5)


def test_unknown_figure_is_reported_with_the_known_figures() -> None:
    with pytest.raises(AttributeError, match="no own number 'rate'; there are: bits, payload_bytes, rate_mbps"):
        _ = NUMBERS.draw().rate
