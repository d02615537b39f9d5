"""Advice on Python's and pandas' own errors that a wrong name in a table or a wrong call of a formula raises.

Formulas are plain functions without a wrapper that checks arguments, because a wrapper would hide them from pickle and doctest.
The advice is therefore made from the error and the frames of its traceback.
"""

import inspect
import linecache
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

from netlab import theory
from netlab.base.arguments import quote_number
from netlab.base.errors import closest_word
from netlab.base.location import is_own_file
from netlab.base.values import short_repr
from netlab.measure.tables import suggested_column

ADVISED = (AttributeError, KeyError, TypeError, ValueError)
"""The kinds of errors of which some get advice."""
_WRONG_CALL = re.compile(r"(\w+)\(\) (?:missing|takes|got) ")
_UNKNOWN_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'")
_NAMES_IN_A_MESSAGE = re.compile(r"'(\w+)'|: (\w+)$")
_ENTRY = re.compile(r"^(\w+(?:, \w+)*)(?: : .*)?\n((?:[ ]{4}.*(?:\n|$))+)", re.MULTILINE)
_INDEXERS: tuple[type, ...] = (type(pd.DataFrame().loc), type(pd.DataFrame().at))
_NUMERIC = re.compile(r"\b(?:float|int|Value|_array_like)\b")
"""A part of the annotation of each parameter that takes numbers."""


def advice_on(error: BaseException) -> str:
    """Return the advice on an error that a cell raised: the column that was probably meant, the way to call a formula, or
    the way to write a number; "" for any other error.
    """
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, AttributeError):
        return _advice_on_attribute(error)
    if isinstance(error, KeyError):
        return _advice_on_key(error, [frame for frame, _ in frames])
    if isinstance(error, TypeError) and frames and (formula := _wrongly_called(str(error), *frames[-1])):
        return _correct_call(formula, str(error))
    return _advice_on_value([frame for frame, _ in frames])


def _advice_on_attribute(error: AttributeError) -> str:
    """Return the advice on `row.name`, where `row` is a pandas series or a row of `itertuples`; "" for others."""
    labels = error.obj.index if isinstance(error.obj, pd.Series) else getattr(error.obj, "_fields", None)
    if labels is None or not isinstance(error.name, str):
        return ""
    return _missing_label_advice(error.name, labels)


def _advice_on_key(error: KeyError, frames: Iterable[FrameType]) -> str:
    """Return the advice on a key that a series or a table of pandas in one of the frames lacks; "" if none does."""
    key = error.args[0] if error.args else None
    for frame in frames:
        holder = frame.f_locals.get("self")
        table = holder if isinstance(holder, (pd.Series, pd.DataFrame)) else getattr(holder, "obj", None)
        looks_for_row = isinstance(holder, _INDEXERS) or frame.f_code.co_name == "xs"
        if not isinstance(table, pd.Series) and (not isinstance(table, pd.DataFrame) or looks_for_row):
            continue
        labels = table.index if isinstance(table, pd.Series) else table.columns
        if isinstance(key, int) and isinstance(table, pd.Series) and not pd.api.types.is_integer_dtype(labels):
            return f"[{key}] asks for the label {key}, which does not exist. .iloc[{key}] is the value number {key}, counted from 0."
        found = _NAMES_IN_A_MESSAGE.findall(key) if isinstance(key, str) and not key.isidentifier() else [(key, "")]
        for name in (one or other for one, other in found):
            if isinstance(name, str) and (advice := _missing_label_advice(name, labels)):
                return advice
    return ""


def _missing_label_advice(name: str, labels: Iterable[Any]) -> str:
    """Return the advice on a name that is not among the labels of a row or the columns of a table; "" if it is there, or
    if the labels are no names.
    """
    names = [label for label in labels if isinstance(label, str) and label != "Index"]
    if name in names or not names:
        return ""
    advice = f"There is no {name!r}{suggested_column(name, names)}"
    return advice if advice.endswith("?") else f"{advice}."


def _wrongly_called(message: str, frame: FrameType, line: int) -> Callable[..., Any] | None:
    """Return the formula of `netlab.theory` that was called with arguments that it does not take, from the error's message
    and the frame of the call with its line number; None if the student's own function was called, or netlab's.
    """
    named = _WRONG_CALL.match(message)
    if named is None or is_own_file(frame.f_code.co_filename):
        return None
    formula: Callable[..., Any] | None = _formulas().get(named[1])
    text = linecache.getline(frame.f_code.co_filename, line)
    visible = frame.f_locals.get(named[1], frame.f_globals.get(named[1], formula))
    return formula if visible is formula or f"theory.{named[1]}" in text else None


def _correct_call(formula: Callable[..., Any], message: str) -> str:
    """Return the advice on a wrong call of a formula: its signature, and the meaning of each parameter that must be given,
    with its unit. `message` is the error's, which may name an unknown keyword.
    """
    signature = inspect.signature(formula)
    parameters = signature.parameters.values()
    plain = signature.replace(
        parameters=[each.replace(annotation=inspect.Parameter.empty) for each in parameters],
        return_annotation=inspect.Signature.empty,
    )
    keyword = _UNKNOWN_KEYWORD.search(message)
    meant = closest_word(keyword[1], list(signature.parameters)) if keyword else ""
    meanings = _meanings(formula)
    needed = [each.name for each in parameters if each.default is each.empty]
    return "\n".join(
        [
            *([f"There is no {keyword[1]}; did you mean {meant}?"] if keyword and meant else []),
            f"Call it so: nl.theory.{formula.__name__}{plain}",
            *(["Arguments behind the * need their names."] if "*" in str(plain) else []),
            *(f"{name}: {meanings[name]}" for name in needed if name in meanings),
        ]
    )


def _advice_on_value(frames: Iterable[FrameType]) -> str:
    """Return the advice on a text, a "..." or None that a formula of `netlab.theory` in one of the frames got for a
    number; "" if none did.
    """
    formulas = {inspect.unwrap(formula).__code__: formula for formula in _formulas().values()}
    for frame in frames:
        if (formula := formulas.get(frame.f_code)) is None:
            continue
        for name, parameter in inspect.signature(formula).parameters.items():
            value = frame.f_locals.get(name)
            if not _NUMERIC.search(str(parameter.annotation)):
                continue
            if value is ...:
                return f"{name} got ...: write a number in its place."
            if value is None and parameter.default is not None:
                return f"{name} got None: does the function that computes it end with `return`?"
            if (text := _first_text(value)) is None:
                continue
            if value is text:
                return f"{name} must be a number: {quote_number(name, text)}."
            return f"{name} must have numbers only, got the text {short_repr(text)}; write numbers without quotes."
    return ""


def _first_text(value: object) -> str | None:
    """Return the first text in a value: itself, an element of a list or an array, or a value of a mapping; else None."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        value = value.tolist()
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return next((found for part in parts if (found := _first_text(part)) is not None), None)


def _meanings(formula: Callable[..., Any]) -> dict[str, str]:
    """Return the meaning of each parameter in a formula's docstring, by name; empty without docstrings."""
    section = (inspect.getdoc(formula) or "").partition("\nParameters\n")[2].partition("\nReturns\n")[0]
    return {name: " ".join(meaning.split()) for names, meaning in _ENTRY.findall(section) for name in names.split(", ")}


def _formulas() -> dict[str, Callable[..., Any]]:
    """Return the functions of `netlab.theory` by name."""
    return {
        name: found for name in theory.__all__ if inspect.isfunction(inspect.unwrap(found := getattr(theory, name)))
    }
