"""Confidence intervals of the mean of several runs, and the number of runs for a given width."""

import functools
import math

import numpy as np
import numpy.typing as npt

from netlab.base import bisection
from netlab.theory.ranges import TheoryError, check_positive

__all__ = ["runs_needed", "student_t"]

USUAL_PROBABILITY = 0.95
MAX_RUNS = 100_000
_QUADRATURE_NODES = 64


@functools.cache
def student_t(values: int, probability: float = USUAL_PROBABILITY) -> float:
    """Return Student's factor for a mean of `values` values: the interval around it that holds the true mean with this
    probability is so many standard errors wide to each side. Raises TheoryError for a parameter out of range.

    Holds for independent values that are not far from normally distributed. Misleads where they depend on each other, such as
    pieces of one run: then they are worth fewer values than they are.

    Returns: The factor; it falls towards 1.96 (for 95 %) as values become many.
    Source: Student, "The Probable Error of a Mean", Biometrika 6, 1908. M. Abramowitz, I. Stegun, Handbook of Mathematical
    Functions, 1964, 26.7.3 and 26.7.4.

    Parameters
    ----------
    values : int
        Number of values, 2 or more.
    probability : float
        Probability that the interval contains the true mean, above 0 and below 1.

    Examples
    --------
    >>> round(student_t(5), 3), round(student_t(20), 3), round(student_t(10_000), 2)
    (2.776, 2.093, 1.96)
    """
    if not 2 <= values < np.inf or values != int(values):
        raise TheoryError(f"values must be a whole number of at least 2, got {values!r}: one value has no scatter.")
    if not 0 < probability < 1:
        raise TheoryError(f"probability must be above 0 and below 1, got {probability!r}; for 95 % write 0.95.")
    freedom = int(values) - 1
    powers = np.arange(freedom % 2, freedom - 1, 2)
    factors = np.cumprod([1.0, *((powers[1:] - 1) / powers[1:])])[: len(powers)]

    # For whole degrees of freedom the probability is a sum over powers of cos(angle), where tan(angle) = t / sqrt(freedom). It
    # grows with the angle.
    def is_less_likely(angle: float) -> bool:
        """Return whether the probability at this angle in rad is below `probability`."""
        terms = np.sin(angle) * np.sum(factors * np.cos(angle) ** powers)
        return bool(((angle + terms) * 2 / np.pi if freedom % 2 else terms) < probability)

    angle = bisection.bisect_largest(is_less_likely, 0.0, np.pi / 2)
    return float(np.sqrt(freedom) * np.tan(angle))


def student_t_of_freedom(freedom: float, probability: float = USUAL_PROBABILITY) -> float:
    """Return Student's factor (see `student_t`) of any degrees of freedom, as Welch's; TheoryError if out of range.

    Holds and misleads like `student_t`, which is this factor for one degree of freedom less than there are values.

    Returns: The factor; it falls as the degrees of freedom grow.
    Source: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 1964, 26.7.1.

    Parameters
    ----------
    freedom : float
        Degrees of freedom, 1 or more.
    probability : float
        Probability that the interval contains the true mean, above 0 and below 1.

    Examples
    --------
    >>> round(student_t_of_freedom(4), 3), round(student_t_of_freedom(4.5), 3), round(student_t_of_freedom(5), 3)
    (2.776, 2.659, 2.571)
    """
    if not 1 <= freedom < np.inf:
        raise TheoryError(f"freedom must be 1 or more, got {freedom!r}.")
    floor = int(freedom)
    largest = student_t(floor + 1, probability)
    if freedom == floor:
        return largest
    nodes, weights = _quadrature()
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)

    # With t = sqrt(freedom) * tan(angle) the density becomes a power of cos(angle), which is smooth between the factors of
    # the two nearest whole numbers of degrees of freedom and 0.
    def is_less_likely(factor: float) -> bool:
        """Return whether an interval of so many standard errors to each side is less likely than `probability`."""
        angle = math.atan(factor / math.sqrt(freedom))
        density = np.cos(angle * (nodes + 1) / 2) ** (freedom - 1)
        return bool(scale * angle * np.sum(weights * density) < probability)

    return bisection.bisect_largest(is_less_likely, student_t(floor + 2, probability), largest)


@functools.cache
def _quadrature() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return nodes and weights of a Gauss-Legendre quadrature on [-1, 1], kept because they take long to compute."""
    nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
    return nodes, weights


def runs_needed(scatter: float, half_width: float) -> int:
    """Return the smallest number of runs with this standard deviation (`scatter`) whose mean's 95 % interval is
    expected to have at most this half width, in the same unit. TheoryError above 100 000 or if out of range.

    Holds for independent runs whose scatter is known, such as from a pilot. Misleads after a pilot of very few runs.

    Returns: Two runs or more.
    Source: As `student_t`; R. Jain, The Art of Computer Systems Performance Analysis, 1991, chapter 13 (with 1.96 for t).
    Raises: If a parameter is out of range, or more than 100 000 runs are needed.

    Parameters
    ----------
    scatter : float
        Standard deviation of single runs, 0 or more.
    half_width : float
        Half of the interval's width that is wanted, above 0, in the same unit.

    Examples
    --------
    A scatter of 3 and a half width of 1: more than (1.96 * 3)**2 = 34.6.

    >>> runs_needed(3, 1)
    38
    """
    check_positive("half_width", half_width)
    if not scatter >= 0:
        raise TheoryError(f"scatter must be 0 or more, got {scatter!r}.")
    runs = max(2, int((1.9599 * scatter / half_width) ** 2))
    while runs <= MAX_RUNS:
        if student_t(runs) * scatter <= half_width * runs**0.5:
            return runs
        runs += 1
    raise TheoryError(f"More than {MAX_RUNS} runs are needed for a half width of {half_width!r}.")
