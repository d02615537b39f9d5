"""Classification and description of a student's answer: a stub, a number, a function, or another object."""

import contextlib
import dis
import inspect
import math
import re
import sysconfig
import textwrap
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import EllipsisType, FunctionType
from typing import Any

import numpy as np

from netlab.base.location import is_own_file

_STUB_OPCODES = {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP", "POP_TOP"}
WIDTH = 88
"""Characters of a printed line: a notebook's page of 900 pixels shows this many."""
_ALL_DIGITS = 17
"""Significant digits that tell any two floats apart."""


def wrap(text: str) -> str:
    """Return a text whose lines are wrapped to at most 88 characters, with the continuation of a line indented by two
    spaces.

    >>> wrap("one line")
    'one line'
    """
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in text.split("\n"))


def with_unit(number: float, unit: str, *others: float) -> str:
    """Return a number and its unit ("" for none) as text; four significant digits, but at least all digits before the
    point, and no trailing zeros. It writes "1 byte", not "1 bytes". It has more digits if the text would be that of one
    of `others`, from which the number differs, such as a limit that it misses.

    >>> with_unit(4.79846, "Mbit/s"), with_unit(0.0403, ""), with_unit(1066, "bytes"), with_unit(1, "bytes")
    ('4.798 Mbit/s', '0.0403', '1066 bytes', '1 byte')
    >>> with_unit(1.69996, "Mbit/s", 1.7)
    '1.69996 Mbit/s'
    """
    different = [other for other in others if other != number]
    text = next(
        text
        for digits in range(4, _ALL_DIGITS + 1)
        if (text := _with_digits(number, digits)) not in {_with_digits(other, digits) for other in different}
        or digits == _ALL_DIGITS
    )
    words = len(unit) > 2 and unit.isalpha() and unit.endswith("s")
    return f"{text} {unit[:-1] if words and text == '1' else unit}".rstrip()


def _with_digits(number: float, digits: int) -> str:
    """Return a number as text, with so many significant digits, but at least all digits before the point, and no trailing
    zeros.
    """
    magnitude = abs(number)
    if number != 0 and not 1e-4 <= magnitude < 1e7:
        return f"{number:.{digits}g}"
    decimals = 0 if number == 0 else max(0, digits - 1 - math.floor(math.log10(magnitude)))
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def is_stub(answer: object) -> bool:
    """Return whether an answer is still the one in the original notebook: `...`, None, a list or tuple with an item
    `...`, or a function whose body does nothing.
    """
    # A stub function returns None, so its result in a later cell is also a stub.
    if answer is None or isinstance(answer, EllipsisType):
        return True
    if isinstance(answer, (list, tuple)):
        return any(isinstance(item, EllipsisType) for item in answer)
    if not isinstance(answer, FunctionType):
        return False
    # A body of `...` (with or without a docstring) compiles to nothing but "return None".
    code = answer.__code__
    constants = {type(constant) for constant in code.co_consts if constant != answer.__doc__}
    return (
        constants <= {type(None), EllipsisType}
        and {instruction.opname for instruction in dis.get_instructions(code)} <= _STUB_OPCODES
    )


def as_number(answer: object) -> tuple[float | None, str]:
    """Return a student's answer as a finite float and "", or None and a message with the reason why it is not a number: a
    text, a truth value, a function, several numbers, or not finite.
    """
    if isinstance(answer, str):
        point = " Python takes a point, no comma." if re.search(r"\d,\d", answer) else ""
        return None, f"got the text {answer!r}; write the number without quotes and without its unit.{point}"
    if isinstance(answer, (bool, np.bool_)):
        return None, f"got {answer}; a number is asked for, not a truth value."
    if callable(answer):
        return None, f"got {answer_in_words(answer)}; call it, so that its result is passed on."
    if comma := _comma_problem(answer):
        return None, comma
    try:
        array = np.asarray(answer, dtype=float)
    except OverflowError:
        return None, "got a whole number above 1e308; check the formula and its units."
    except (TypeError, ValueError):
        return None, f"expected a number, got {answer_in_words(answer)}."
    if array.size != 1:
        return None, f"expected one number, got {array.size} of them ({answer_in_words(answer)})."
    number = float(array.reshape(()))
    if not math.isfinite(number):
        return None, f"got {number}; was something divided by zero, or a number missing (NaN)?"
    return number, ""


def _comma_problem(answer: object) -> str:
    """Return a message if an answer is a tuple of integers that a comma in a number makes, such as (4, 8) for 4.8 or
    (1, 500) for 1500; "" for any other answer.
    """
    if not (isinstance(answer, tuple) and len(answer) > 1 and all(type(part) is int for part in answer)):
        return ""
    first, *others = answer
    thousands = all(part == 0 or 100 <= part <= 999 for part in others)
    whole = "".join([str(first), *(f"{part:03d}" for part in others)])
    if len(answer) == 2 and others[0] >= 0:
        more = f" Thousands are written without a comma: {whole}." if thousands else ""
        return f"Python takes a point: {first}.{others[0]}. A comma makes two numbers.{more}"
    if thousands:
        return f"A comma makes {len(answer)} numbers. Thousands are written without commas: {whole}."
    return ""


def wrong_parameters(function: Callable[..., object], names: list[str]) -> str:
    """Return a message if a student's function cannot be called with exactly these names of keyword arguments; "" if it
    can, or if Python does not know its parameters.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError:
        return (
            f"the function takes ({', '.join(signature.parameters)}), "
            f"but it is called with ({', '.join(names)}): keep the names that the cell came with."
        )
    return ""


def error_in_words(error: Exception) -> str:
    """Return the end of a sentence about an error that a student's code raised: its type and text, and the source text
    of the student's line that raised it. An error raised by netlab's own code is shown without its type.
    """
    frames = traceback.extract_tb(error.__traceback__)
    student_frames = [frame for frame in frames if frame.line and not _is_installed(frame.filename)]
    line = f" (in the line `{student_frames[-1].line}`)" if student_frames else ""
    if _is_ours(frames[-1].filename):
        # An exercise itself raises errors for rule violations, such as one probe too many; their text is a message already.
        return f": {error.args[0] if error.args else error}{line}."
    return f" the function raised {type(error).__name__}: {error}{line}."


def _is_ours(filename: str) -> bool:
    """Return whether a file, given by its path, belongs to netlab."""
    return is_own_file(filename)


def _is_installed(filename: str) -> bool:
    """Return whether a file, given by its path, belongs to netlab, Python or a package, so that its lines are not the
    student's.
    """
    return _is_ours(filename) or any(
        Path(filename).is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")
    )


def arguments_in_words(case: Mapping[str, Any]) -> str:
    """Return the arguments of a trial, values by name, as text, such as "rate_mbps=5, payload_bytes=1000"."""
    return ", ".join(f"{name}={value!r}" for name, value in case.items())


def bare_word(answer: object) -> str:
    """Return a word of an answer in small letters and without quotes, spaces and full stops around it; "" if the answer
    is not text.
    """
    return answer.strip(" .!\n\t\"'").lower() if isinstance(answer, str) else ""


def answer_in_words(answer: object) -> str:
    """Return a description of an answer of any type: the repr of a text, number, list, tuple or dict if it has at most
    60 characters, else "the function 'f'" or "an object of type Run".
    """
    # Python refuses to print an integer of more than 4300 digits.
    with contextlib.suppress(ValueError):
        if isinstance(answer, (str, int, float, list, tuple, dict)) and len(repr(answer)) <= 60:
            return repr(answer)
    if callable(answer) and hasattr(answer, "__name__"):
        return f"the function {answer.__name__!r}"
    return f"an object of type {type(answer).__name__}"
