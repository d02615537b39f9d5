"""Statements on the mean of a repeated measurement, each with a number that only one student's copy has.

Theory alone gives the same verdict in every copy, so a verdict could be copied. The number of a statement lies on either
side of the mean, or so near it that the interval holds it, and a student's own numbers decide where.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from netlab.base.errors import NetlabError
from netlab_course.answers import with_unit
from netlab_course.own_numbers import StudentValues

SUPPORTED, UNDECIDED, REFUTED = "supported", "undecided", "refuted"
STATEMENT_VERDICTS = (SUPPORTED, UNDECIDED, REFUTED)
_ROUNDED = 0.05
"""The relative error of a number that a sentence may round."""
_NUMBER = r"(?<![\w.])\d+(?:[.,]\d+)?"
_ABOVE_WORDS = (
    r"above|over|beyond|exceed\w*|(?:more|higher|greater|larger|longer|bigger) than|at least|>=?|≥|"
    r"über|oberhalb von|(?:mehr|größer|höher|länger) als|mindestens"
)
_BELOW_WORDS = (
    r"below|under|beneath|(?:less|lower|smaller|shorter|fewer) than|at most|<=?|≤|"
    r"unter|unterhalb von|(?:weniger|kleiner|niedriger|kürzer) als|höchstens"
)
_OTHER_SIDE_WORDS = {
    True: r"below|under|beneath|less|low|lower|left|small|smaller|short|shorter|few|fewer|down|<|≤|"
    r"unter|unterhalb|weniger|niedriger|kleiner|kürzer|links",
    False: r"above|over|beyond|more|high|higher|right|great|greater|large|larger|long|longer|up|>|≥|"
    r"über|oberhalb|mehr|höher|größer|länger|rechts",
}
"""Words for the other side of a number, by whether a sentence names the side above it."""
_DOUBT_WORDS = (
    r"\w*n['’]t|not|no|none|never|neither|nor|nothing|without|cannot|fail\w*|miss\w*|lack\w*|exclud\w*|outside|opposite|"
    r"contra\w*|against|conflict\w*|\w*compatible|disagree\w*|unless|except|but|else|otherwise|other|instead|rather|before|"
    r"support\w*|agree\w*|confirm\w*|right|correct|true|false|only|too|hardly|rarely|seldom|zero|far|"
    r"nicht|kein\w*|nie|niemals|ohne|außer\w*|sonst|stützt|bestätig\w*|recht|richtig|falsch|nur|statt|zu"
)
_HOLDS = r"holds?|holding|contains?|containing|includes?|including|covers?|covering|enthält|umfasst|beinhaltet"
_UNITS = r"[kmg]?bit/s|ms|us|s|seconds?|milliseconds?|[kmg]?bytes?|packets?|segments?"
_OTHER_NUMBER_WORDS = r"95 ?%|after|within|of"
"""Words with which a number may be a time or a count other than the stated one."""
_END = r"(?:end|edge|limit|bound|boundary|border|side|part|rand|grenze|ende)"
_UPPER_END_ABOVE = (
    rf"(?<!\w)(?:upper|top|higher|obere\w*) {_END}\b.*?(?<!\w)(?:{_ABOVE_WORDS}|higher|greater|larger|exceeds?)(?!\w)"
)
_LOWER_END_BELOW = rf"(?<!\w)(?:lower|bottom|untere\w*) {_END}\b.*?(?<!\w)(?:{_BELOW_WORDS}|lower|less|smaller)(?!\w)"
_SINGLE_RUN = (
    r"(?<!\w)(?:one|a|any|some|single|first|last|best|worst|slowest|fastest|ein|einem|einer) (?:of (?:my|the|its) )?(?:single )?"
    r"(?:runs?|seeds?|lauf)(?!\w)"
)
_PART = (
    r"(?<!\w)(?<!no )(?:one end|an end|(?:a )?part|most|some|half) of (?:the|my|its) interval|(?<!\w)(?:one|an) end of"
)
_SCATTER = r"standard deviation|standardabweichung|half width|halbe breite|median"
_WHOLE = r"both|whole|entire\w*|complete\w*|all|every|each|ganz\w*|beide|alle|jede\w*"
"""Words for all of an interval or all runs, with which an end, a run or the scatter may be right."""
_QUOTED = r"claim\w*|stat\w+|says?|said|refut\w*|wrong|behaupt\w*|aussage|sagt|widerleg\w*|unrecht"


def stated_number(own: StudentValues, mean: float, factors: Sequence[float], undecided: Sequence[float] = ()) -> float:
    """Return the number of a student's statement: the expected `mean` times one of `factors` or `undecided`, which the
    copy's `own` numbers choose, rounded to three significant digits. Raises NetlabError unless as many factors are
    below 1 as above it.

    The drawn numbers of the copy choose the factor, so the number is the same whenever the copy is opened. Raises
    NetlabError unless as many factors lie below 1 as above it: else one verdict would be more frequent.

    Parameters
    ----------
    own : StudentValues
        The drawn numbers of the copy.
    mean : float
        The mean that is expected, in the unit of the measured values.
    factors : sequence of float
        Factors whose distance from 1 is at least two half widths of the interval of eight seeds, relative to the mean.
    undecided : sequence of float
        Factors so near the measured mean that an interval of as many seeds as allowed holds the number.

    Examples
    --------
    >>> stated_number(StudentValues({"rate_mbps": 5}), 20.0, (0.8, 1.25))
    25
    """
    below = sum(factor < 1 for factor in factors)
    if 1 in factors or not 0 < 2 * below == len(factors):
        raise NetlabError(f"A statement needs as many factors below 1 as above it, got {tuple(factors)}.")
    digest = hashlib.sha256(f"statement\n{own!r}".encode()).digest()
    all_factors = (*factors, *undecided)
    number = float(f"{mean * all_factors[int.from_bytes(digest[:8], 'big') % len(all_factors)]:.3g}")
    return int(number) if number.is_integer() else number


@dataclass(frozen=True)
class Statement:
    """A statement that the mean of the measured values is above a number, or below it."""

    number: float
    """The number, in the unit of the values."""
    above: bool = True
    """True: the mean is said to be above the number. False: below it."""
    is_close: bool = False
    """True if the number is so near the mean that most intervals hold it."""

    def in_words(self, unit: str) -> str:
        """Return the statement as text, such as "more than 25 ms"; `unit` is the unit of the values."""
        return f"{'more' if self.above else 'less'} than {with_unit(self.number, unit)}"

    def agrees_with(self, sentence: str) -> bool | None:
        """Return whether a result in a sentence, such as "an interval above 25 ms", agrees with the statement; None if
        only a person can tell. The sentence must name the statement's number, after a word for its side.
        """
        words = sentence.lower()
        if _found(_DOUBT_WORDS, words):
            return None
        numbers = [float(text.replace(",", ".")) for text in re.findall(_NUMBER, words)]
        sides = {
            is_above: [
                match
                for match in re.finditer(rf"(?<!\w)(?:{side})\s*(?:[^\W\d][\w'’]*\s+){{0,3}}({_NUMBER})", words)
                if float(match[1].replace(",", ".")) == self.number
            ]
            for is_above, side in ((True, _ABOVE_WORDS), (False, _BELOW_WORDS))
        }
        if not sides[self.above]:
            return False if sides[not self.above] else None
        # A sentence that quotes the statement may go on with a result that it does not name by its number.
        before = words[: sides[self.above][0].start()]
        if _found(_QUOTED, before) and _found(r"interval\w*|intervall\w*|edges?|mean|half", words):
            return None
        alone = set(numbers) <= {self.number, 95} and not _found(_OTHER_SIDE_WORDS[self.above], words)
        return True if alone else None

    def problem(self, sentence: str, unit: str) -> str:
        """Return what is wrong with a sentence on the result that would refute the statement, as a part of a sentence,
        such as "another number than 25 ms"; "" if nothing is, or if only a person can tell. `unit` is that of the
        values.
        """
        if self.agrees_with(sentence):
            return f'a result that agrees with the statement "{self.in_words(unit)}"'
        words = sentence.lower()
        numbers = [
            (float(match[1].replace(",", ".")), bool(match[2]) or not match[1].isdigit())
            for match in re.finditer(rf"({_NUMBER})(?:\s*({re.escape(unit.lower())}))?(?!\w)", words)
        ]
        foreign = (
            re.search(rf"{_NUMBER}\s*(?!{re.escape(unit.lower())}(?!\w))({_UNITS})(?!\w)", words) if unit else None
        )
        if foreign and not _found(_OTHER_NUMBER_WORDS, words):
            return f"the unit {foreign[1]}, where the statement has {unit}"
        # Whole numbers without a unit may count seeds or runs.
        if any(compared for _, compared in numbers) and all(map(self._is_too_weak, (number for number, _ in numbers))):
            return f"another number than {with_unit(self.number, unit)}"
        for pattern, problem in (
            (
                _UPPER_END_ABOVE if not self.above else _LOWER_END_BELOW,
                "an end that may be there while the interval holds the number",
            ),
            (_PART, "a part of the interval, while the rest may hold the number"),
            (_SINGLE_RUN, "a single run, and single runs scatter; the statement is on the mean"),
            (_SCATTER, "neither the mean nor its interval; the statement is on the mean"),
        ):
            if re.search(pattern, words) and not _found(_WHOLE, words):
                return problem
        side = r"|".join((_ABOVE_WORDS, _BELOW_WORDS, *_OTHER_SIDE_WORDS.values(), _DOUBT_WORDS))
        number_in_interval = re.search(rf"(?<!\w)(?:{_HOLDS})\s+(?:the (?:number|value)?\s*|{_NUMBER})", words)
        if number_in_interval and not _found(side, words):
            return "an interval that holds the number; it leaves the statement undecided"
        return ""

    def _is_too_weak(self, number: float) -> bool:
        """Return whether a mean on the other side of `number` need not be on the other side of the statement's number."""
        return number > (1 + _ROUNDED) * self.number if self.above else number < (1 - _ROUNDED) * self.number

    def allows_doubt(self, verdict: str, mean: float, half: float) -> bool:
        """Return whether a verdict is "undecided", and right for most seeds: the number is close to the mean, and at most
        two half widths from that of these seeds. A grader's seeds are others than the student's, and one interval in
        twenty does not hold a number that is the true mean.
        """
        return self.is_close and verdict == UNDECIDED and abs(self.number - mean) <= 2 * half

    def verdicts(self, places: Collection[str]) -> set[str]:
        """Return the correct words of `STATEMENT_VERDICTS` (supported, undecided, refuted), one for each word in
        `places`, which tells where the statement's number lies, seen from the measured interval: "above", "inside" or
        "below".
        """
        lower, higher = (SUPPORTED, REFUTED) if self.above else (REFUTED, SUPPORTED)
        words = {"below": lower, "inside": UNDECIDED, "above": higher}
        return {words[place] for place in places}


def _found(pattern: str, text: str) -> bool:
    """Return whether a text has one of the words or signs of a pattern."""
    return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text) is not None
