"""Titles of axes: their unit, and the quantity that they name."""

import html
import re

MAX_TITLE_CHARACTERS = 200
"""Longer titles are cut: a grader reads those of any notebook, and the time that a pattern takes grows with the title's length."""
_UNITS = {
    "Mbit/s": r"mbits?\s*(?:/|per)\s*s(?:ec(?:onds?)?)?|mbits?\s*(?:\*|·)?\s*s\s*(?:\^?\s*[-−]1|⁻¹)|(?-i:[Mm]b(?:it)?ps)|"
    r"megabits?\s*(?:/|per)\s*s(?:ec(?:onds?)?)?|(?-i:[Mm]b)\s*/\s*s",
    "kbit/s": r"kbits?\s*/\s*s|kb(?:it)?ps",
    "ms": r"ms|msecs?|millisec(?:ond)?s?",
    "s": r"s|secs?|seconds?",
    "%": r"%|per\s?cent(?:age)?|percents?",
    "packets": r"packets?|pkts?",
    "segments": r"segments?",
    "bytes": r"bytes?",
}
"""The spellings of each unit in an axis title, as regular expressions."""
_NAMES_OF_QUANTITIES = {
    "Mbit/s": r"goodput|throughput|bandwidth|rate|speed|capacity",
    "ms": r"delay|latency|rtt|round[\s-]?trip|ping|jitter|wait|time|late",
    "%": r"loss|lost|share|part|fraction|late|percent",
}
"""Words that name a quantity with this unit. A title needs none, but words of other units only are wrong."""
_KNOWN_QUANTITIES = r"goodput|throughput|bandwidth|delay|latency|rtt|round[\s-]?trip|jitter"
"""Words that belong to one unit only."""


def axis_title_problem(title: str, unit: str) -> str:
    """Return what is wrong with the title of an axis whose values are in `unit` ("" for a ratio), such as "its unit is
    missing"; "" if nothing is. Only the first 200 characters of the title count.

    >>> [axis_title_problem(title, "Mbit/s") for title in ("Goodput (Mbit/s)", "TCP in Mbit/s", "Goodput / Mbit/s")]
    ['', '', '']
    >>> axis_title_problem("Goodput (Mbit/s)", "ms"), axis_title_problem("Goodput", "Mbit/s")
    ('its unit is Mbit/s, and the values are in ms', 'its unit is missing')
    >>> axis_title_problem("Goodput (ms)", "ms"), axis_title_problem("(ms)", "ms")
    ('the values are not a goodput', 'it gives a unit only')
    """
    plain = html.unescape(re.sub(r"<[^>]*>|[$\\{}]|mathrm|text\b", " ", title[:MAX_TITLE_CHARACTERS]))
    text = " ".join(plain.split())
    found = [name for name in _UNITS if _has_unit(text, name)]
    if unit and not _has_unit(text, unit):
        others = [name for name in found if name != unit]
        return f"its unit is {others[0]}, and the values are in {unit}" if others else "its unit is missing"
    if not unit and (bracketed := [name for name in found if _is_bracketed(text, name)]):
        return f"its unit is {bracketed[0]}, and the values have none"
    rest = re.sub(_pattern(unit), " ", text) if unit else text
    # The plotting library makes a title from the name of an index; it does not count.
    if not re.search(r"[^\W_]", re.sub(r"(?i)\b(?:in|per)\b", " ", rest)) or rest in (
        "seed",
        "index",
        "value",
        "variable",
    ):
        return "it gives a unit only" if unit else "it is empty"
    own = _NAMES_OF_QUANTITIES.get(unit)
    foreign = re.findall(_KNOWN_QUANTITIES, rest, re.IGNORECASE)
    if own and foreign and not re.search(own, rest, re.IGNORECASE):
        return f"the values are not a {foreign[0].lower()}"
    return ""


def _pattern(unit: str) -> str:
    """Return the regular expression that finds a unit, such as "ms", in any of its spellings in a title; a unit without
    known spellings stands for itself.
    """
    return rf"(?i)(?<![\w/])(?:{_UNITS.get(unit, re.escape(unit))})(?![\w/])"


def _has_unit(text: str, unit: str) -> bool:
    """Return whether a title (`text`) has a unit, such as "ms", in one of its spellings."""
    return re.search(_pattern(unit), text) is not None


def _is_bracketed(text: str, unit: str) -> bool:
    """Return whether a title (`text`) has a unit in round or square brackets, in one of its spellings. Raises KeyError
    for a unit without known spellings.
    """
    return re.search(rf"(?i)[(\[]\s*(?:{_UNITS[unit]})\s*[)\]]", text) is not None
