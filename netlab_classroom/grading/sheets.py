"""Reading of tables from spreadsheets and learning platforms: commas, semicolons or tabs, UTF-8, UTF-16 or a code page."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from netlab.base.errors import NetlabError
from netlab_classroom.grading import headings

DELIMITERS = (",", ";", "\t")
CODE_PAGES = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp932", "gb18030", "cp949", "big5",
)  # fmt: skip
"""Code pages in which Windows writes text that is not Unicode, Western Europe's first."""
WORKBOOK = b"PK\x03\x04"
MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
)  # fmt: skip
LAST_LINE = "\x1a"
"""A line behind a table that is in a cell if a quotation mark is not closed."""
SAMPLE_BYTES = 1000
MIN_ZERO_SHARE = 0.2
"""Share of zero bytes above which text without a mark is UTF-16."""


class SheetError(NetlabError):
    """A table cannot be read; the text says why, and what to do."""


@dataclass(frozen=True)
class Sheet:
    """A table with headings: its rows by heading, and the encoding in which the file was read."""

    path: Path
    """The file."""
    headings: list[str]
    """The headings as they are in the file."""
    rows: list[tuple[int, dict[str, str]]]
    """The number of each row's last line, and its cells by heading, without spaces at their ends."""
    encoding: str
    """The encoding in which the file was read."""

    def __iter__(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Return an iterator over the rows: the number of the row's last line in the file (from 1), and its cells by
        heading.
        """
        return iter(self.rows)

    @property
    def by_plain(self) -> Mapping[str, str]:
        """The headings as they are in the file, by their normalized spelling (lowercase, with "_" for spaces); empty
        ones are left out.
        """
        return {headings.normalize(heading): heading for heading in self.headings if heading}


def read_sheet(path: Path, what: str) -> Sheet:
    """Read a table from the CSV file at `path`, whose first row has the headings; encoding and delimiter (which a first
    line "sep=;" may name) are found out, empty rows are left out, and missing cells are "". Raises SheetError, whose
    message names the table by `what`, such as "class list", when it cannot be read or is a workbook.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SheetError(f"The {what} {path} cannot be read: {error.strerror}.") from None
    if data.startswith(WORKBOOK):
        raise SheetError(
            f"The {what} {path} is a workbook (.xlsx or .ods), not text: open it in a spreadsheet and save it as CSV."
        )
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding, "replace" if encoding in CODE_PAGES else "strict")
    except UnicodeDecodeError as error:
        raise SheetError(
            f"The {what} {path} cannot be read as {encoding}: {error.reason}. Save it as CSV in UTF-8."
        ) from None
    table = text.lstrip("\ufeff\r\n")
    delimiter = ""
    if named := re.match(r"sep=([^\r\n\"])\r?\n", table, re.IGNORECASE):
        # Excel's own first line, which names the delimiter.
        delimiter, table = named[1], table[named.end() :]
    lines_before = text.removesuffix(table).count("\n")
    lines = io.StringIO(f"{table}\n{LAST_LINE}", newline="")
    rows = csv.reader(lines, delimiter=delimiter or delimiter_of(table))
    try:
        read = [(rows.line_num + lines_before, [cell.strip() for cell in row]) for row in rows]
    except csv.Error as error:
        raise SheetError(f"The {what} {path}:{rows.line_num + lines_before} cannot be read: {error}.") from None
    if read.pop()[1] != [LAST_LINE]:
        begins = (read[-1][0] if read else lines_before) + 1
        raise SheetError(f"The {what} {path} has a quotation mark in line {begins} that is not closed.")
    (_, titles), *others = read
    found = [(line, dict(zip(titles, row, strict=False))) for line, row in others if any(row)]
    return Sheet(path, titles, [(line, dict.fromkeys(titles, "") | cells) for line, cells in found], encoding)


def delimiter_of(text: str) -> str:
    """Return the delimiter of the columns in the text of a table: the most frequent of comma, semicolon and tab in the
    first line, outside quotes; a comma if there is none.

    >>> delimiter_of('"a;b",c'), delimiter_of("a;b;c,d"), delimiter_of("a")
    (',', ';', ',')
    """
    line = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
    return max(DELIMITERS, key=line.count)


def encoding_of(data: bytes) -> str:
    """Return the name of the encoding (for `bytes.decode`) of a table's bytes: by its byte order mark, UTF-16 by its
    zero bytes, UTF-8 if it is valid, else the code page in which most headings are known, Western Europe's if several
    are.
    """
    for mark, name in MARKS:
        if data.startswith(mark):
            return name
    sample = data[:SAMPLE_BYTES]
    if sample.count(0) > MIN_ZERO_SHARE * len(sample):
        return "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return max(CODE_PAGES, key=lambda page: _known_headings(data, page))
    return "utf-8"


def _known_headings(data: bytes, code_page: str) -> int:
    """Return the number of known headings in the first line of a table's bytes, decoded with this code page; -1 if that
    is impossible.
    """
    try:
        line = data.lstrip(b"\r\n").split(b"\n", 1)[0].decode(code_page)
    except UnicodeDecodeError:
        return -1
    titles = next(csv.reader([line.strip("\r\n")], delimiter=delimiter_of(line)), [])
    return sum(map(len, headings.fields_of(titles).values()))
