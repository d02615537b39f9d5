"""Sanitizing of untrusted text for files, spreadsheets and the instructor's terminal."""

import hashlib
import re
import unicodedata
from typing import Any

FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NOT_TEXT = (
    *range(0x20),
    *range(0x7F, 0xA0),
    *range(0xD800, 0xE000),  # lone surrogates, which JSON can represent and UTF-8 files cannot
    *range(0x200E, 0x2010),  # marks and overrides of direction make a program look different
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    0xFFFE,
    0xFFFF,
)
_REPLACEMENTS = {**dict.fromkeys(_NOT_TEXT, "\ufffd"), 0x09: "\t", 0x0A: "\n", 0x0B: " ", 0x0C: " "}


def clean(text: str) -> str:
    r"""Return text that is safe for files and terminals: control characters except tabs and line ends, lone surrogates
    and marks of direction are replaced by U+FFFD, and all line ends are "\n".

    >>> clean("a\r\nb\x1b[2J\ud800")
    'a\nb�[2J�'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_REPLACEMENTS)


def clean_values(value: Any) -> Any:
    """Return a copy of plain data (lists, dictionaries and values, nested) in which every text, also a dictionary's
    key, is clean as by `clean`; other values are unchanged.
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_values(item) for item in value]
    if isinstance(value, dict):
        return {clean(name): clean_values(item) for name, item in value.items()}
    return value


def one_line(text: str, max_characters: int = 200) -> str:
    """Return clean text in one line, with single spaces, for names and the terminal; of a longer text, its
    first `max_characters` characters and " …".
    """
    line = " ".join(clean(text).split())
    return line if len(line) <= max_characters else f"{line[:max_characters]} …"


def escape_formula(text: str) -> str:
    """Return the text of a CSV cell such that no spreadsheet takes it for a formula: with an apostrophe in front if it
    begins like one, else unchanged. `unescape_formula` reverts that.
    """
    return f"'{text}" if text.startswith((*FORMULA, "\t", "\n")) else text


def unescape_formula(text: str) -> str:
    """Return the text of a CSV cell without the apostrophe that `escape_formula` put in front of it; other texts are
    unchanged.
    """
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text


def fold_name(name: str) -> str:
    """Return a name in a normalized form that is equal for all its spellings: composed accents, lowercase, single
    spaces.
    """
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def file_name(student: str) -> str:
    """Return a file name for a student's identifier, without suffix: the identifier itself if all its characters are
    allowed, else with "_" in place of the others and a checksum; different students have different names.

    >>> file_name("anna"), file_name("a/b") == file_name("a_b")
    ('anna', False)
    """
    plain = re.sub(r"[^\w.@+-]", "_", student)[:80].lstrip(".")
    return plain if plain == student else f"{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"
