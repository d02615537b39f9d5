"""Predictions: numbers that a student writes down before the measurement, one of them with the reason for it.

The numbers are never graded. An explanation of the difference is graded once in a chapter, by rubric: the cell
`prediction-words` below the comparison.
"""

import math
from dataclasses import dataclass

from netlab_course.answers import answer_in_words, as_number, is_stub, with_unit, wrap
from netlab_course.messages import show_text

MANIFOLD = 10.0


@dataclass(frozen=True)
class Prediction:
    """A student's expectation before a measurement; the number is never graded."""

    what: str
    """The name of the quantity."""
    value: float | None
    """The expected number; None if nothing was written down."""
    unit: str
    """The unit of the number."""
    reason: str = ""
    """The student's reason for the number; "" if none was written down."""

    def compare(self, measured: float, theory: float | None = None) -> None:
        """Print the prediction with the measured number, its error relative to that, the number by theory (None: not
        shown), and the student's reason if there is one; all numbers are in the prediction's unit.
        """
        comparison = self._comparison(measured, theory)
        show_text(wrap(f"{comparison}\nYour reason: {self.reason}") if self.reason else comparison)

    def _comparison(self, measured: float, theory: float | None) -> str:
        """Return a sentence with the prediction, the theory (None: not shown) and the measured number, all in the
        prediction's unit, and the prediction's error relative to the measurement.
        """
        seen = f"measured {with_unit(measured, self.unit)}"
        if theory is not None:
            seen = f"theory {with_unit(theory, self.unit)}, {seen}"
        if self.value is None:
            return f"{self.what}: {seen}; no prediction was written down."
        numbers = f"predicted {with_unit(self.value, self.unit)}, {seen}"
        if measured == 0 or not math.isfinite(measured):
            return f"{self.what}: {numbers}."
        error = (self.value - measured) / abs(measured)
        side = "above" if error > 0 else "below"
        if abs(error) < 0.001:
            verdict = "they agree to a part in a thousand"
        elif error >= MANIFOLD - 1 and measured > 0:
            verdict = f"the prediction is {self.value / measured:,.0f} times what was measured"
        else:
            verdict = f"the prediction is {100 * abs(error):.1f} % {side}"
        return f"{self.what}: {numbers}; {verdict}."


def predict(
    what: str,
    value: object,
    *more: object,
    unit: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    reason: object = "",
) -> Prediction:
    """Return a prediction of the quantity `what` to compare with the measurement later; print it, or a message if it is
    missing or no number (then its `value` is None), outside `low` to `high`, or without a text as `reason`. `more` is
    the part of a number after a comma, or the unit.

    Parameters
    ----------
    what : str
        The name of the quantity, as printed.
    value : float or Ellipsis
        The expected number; `...` if nothing was written down.
    *more : float or str
        The second part of a number that was written with a comma; or the unit.
    unit : str
        The number's unit.
    low, high : float
        The possible range; a number outside it is kept, with a warning.
    reason : str or Ellipsis
        The student's reason in words, printed again with the measurement; `...` if it is still to be written, "" if
        none is asked for.

    Returns
    -------
    Prediction
        Its `compare(measured)` prints both.

    Examples
    --------
    >>> limit = predict("goodput", 5, unit="Mbit/s")
    goodput: 5 Mbit/s, kept until the measurement is there.
    >>> limit.compare(4.0)
    goodput: predicted 5 Mbit/s, measured 4 Mbit/s; the prediction is 25.0 % above.
    """
    if more and isinstance(more[-1], str) and not unit:
        *more, unit = more  # type: ignore[assignment]
    if more:
        value = (value, *more)
    if is_stub(value):
        and_reason = " and your reason" if is_stub(reason) else ""
        show_text(f"{what}: no prediction yet. Put a number{and_reason} in place of `...` before you read on.")
        return Prediction(what, None, unit)
    number, complaint = as_number(value)
    if number is None:
        show_text(f"{what}: {complaint}")
    elif not low <= number <= high:
        bounds = f"below {with_unit(low, unit)}" if number < low else f"above {with_unit(high, unit)}"
        percent = " For a fraction write 0.5, not 50." if unit == "" and high == 1 and number > 1 else ""
        show_text(f"{what}: {with_unit(number, unit)} is {bounds}, and that cannot be.{percent} Kept all the same.")
    else:
        show_text(f"{what}: {with_unit(number, unit)}, kept until the measurement is there.")
    return Prediction(what, number, unit, _reason_in_words(what, reason))


def _reason_in_words(what: str, reason: object) -> str:
    """Return a student's reason for a prediction of the quantity `what` as one line; "", after showing a message, if it
    is still `...` or no text.
    """
    if isinstance(reason, str):
        return " ".join(reason.split())
    if is_stub(reason):
        show_text(f'{what}: why? Write your reason in quotes in place of `...`, such as "because ...".')
    else:
        show_text(f"{what}: the reason must be a text in quotes, got {answer_in_words(reason)}.")
    return ""
