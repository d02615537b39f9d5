"""Column headings of class lists, in the languages of Moodle."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

FIELDS = ("first_name", "last_name", "email", "id_number", "username", "name")
"""The columns of `headings.txt`, after the language."""
SOURCE = Path(__file__).with_name("headings.txt")


def normalize(heading: str) -> str:
    """Return a heading of a column in a normalized form that is equal for all its spellings: lowercase, without
    invisible characters, with `_` for spaces and hyphens.

    >>> normalize(" E-Mail  Adresse"), normalize("Numéro d\u2019identification")
    ('e_mail_adresse', "numéro_d'identification")
    """
    visible = "".join(c for c in unicodedata.normalize("NFKC", heading) if unicodedata.category(c) != "Cf")
    return re.sub(r"[\s_-]+", "_", re.sub("[\u2019\u02bc`]", "'", visible).strip().casefold())


@functools.cache
def languages() -> Mapping[str, Mapping[str, str]]:
    """Return the headings of class lists in the file headings.txt: by language code, such as "de", and in it by
    normalized heading (see `normalize`), the column of FIELDS that the heading names.
    """
    found: dict[str, dict[str, str]] = {}
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        language, *cells = (cell.strip() for cell in line.split("|"))
        found[language] = {
            normalize(heading): field
            for field, cell in zip(FIELDS, cells, strict=True)
            for heading in cell.split(";")
            if heading.strip()
        }
    return found


def language_of(headings: Sequence[str]) -> str:
    """Return the code, such as "fr", of the language that knows most of these headings; if several do, English, else
    the first in headings.txt; "" if none knows any.

    >>> language_of(["Prénom", "Nom", "Adresse de courriel"]), language_of(["Nom", "Cognoms"]), language_of(["x"])
    ('fr', 'ca', '')
    """
    spelled = {normalize(heading) for heading in headings}
    counts = {language: len(spelled & words.keys()) for language, words in languages().items()}
    best = max(counts, key=lambda language: (counts[language], language == "en"))
    return best if counts[best] else ""


def fields_of(headings: Sequence[str]) -> dict[str, list[str]]:
    """Return those of these headings that name each column of FIELDS, by column, in the language that knows most of the
    headings; an empty list if there is none.
    """
    words = languages().get(language_of(headings), {})
    found: dict[str, list[str]] = {field: [] for field in FIELDS}
    for heading in headings:
        if field := words.get(normalize(heading)):
            found[field].append(heading)
    return found
