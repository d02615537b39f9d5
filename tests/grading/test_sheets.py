"""Tables as spreadsheets and learning platforms write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab_classroom.grading import headings, sheets

ROWS = [["Vorname", "Nachname", "E-Mail-Adresse"], ["Jürgen", "Müller", "jm@x.org"], ["Žofie", "Łuk", "zl@x.org"]]


def write_sheet(path: Path, encoding: str, delimiter: str = ",", rows: list[list[str]] = ROWS) -> Path:
    path.write_bytes("\r\n".join(delimiter.join(row) for row in rows).encode(encoding, "replace"))
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_every_form_of_unicode_and_every_delimiter_is_read(encoding: str, delimiter: str, tmp_path: Path) -> None:
    """Excel's "Unicode text" is UTF-16 with tabs."""
    sheet = sheets.read_sheet(write_sheet(tmp_path / "a.csv", encoding, delimiter), "list")
    assert sheet.headings == ROWS[0] and [list(cells.values()) for _, cells in sheet] == ROWS[1:]


@pytest.mark.parametrize(
    ("encoding", "titles", "name"),
    [
        ("cp1252", ("Prénom", "Nom", "Adresse de courriel"), "Zoé"),
        ("cp1250", ("Křestní jméno", "Příjmení", "E-mailová adresa"), "Žofie"),
        ("cp1251", ("Имя", "Фамилия", "Адрес электронной почты"), "Юля"),
        ("cp1253", ("Όνομα", "Επώνυμο", "Διεύθυνση ηλεκτρονικού ταχυδρομείου"), "Ζωή"),
        ("cp1254", ("Adı", "Soyadı", "E-posta adresi"), "Işıl"),
        ("cp1255", ("שם פרטי", "שם משפחה", "כתובת דואר אלקטרוני"), "נועה"),
        ("cp1256", ("الاسم الأول", "الاسم الأخير", "عنوان البريد الإلكتروني"), "ليلى"),
        ("cp932", ("名", "姓", "メールアドレス"), "太郎"),
        ("cp949", ("이름", "성", "이메일 주소"), "민수"),
        ("gb18030", ("名", "姓氏", "电子邮件地址"), "小明"),
    ],
)
def test_code_page_of_a_windows_file_is_detected_from_its_headings(
    encoding: str, titles: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    rows = [list(titles), [name, "X", "x@x.org"]]
    sheet = sheets.read_sheet(write_sheet(tmp_path / "a.csv", encoding, ";", rows), "list")
    assert (sheet.headings, sheet.rows[0][1][titles[0]]) == (list(titles), name)


def test_delimiter_line_multiline_cells_and_short_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'sep=;\r\nstudent;words;points\r\nanna;"one\r\ntwo; three";2\r\n\r\nben\r\n')
    sheet = sheets.read_sheet(path, "list")
    assert sheet.rows == [
        (4, {"student": "anna", "words": "one\r\ntwo; three", "points": "2"}),
        (6, {"student": "ben", "words": "", "points": ""}),
    ]
    path.write_bytes(b"\r\n\r\nstudent\r\nanna\r\n")
    assert sheets.read_sheet(path, "list").rows == [(4, {"student": "anna"})]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04rest", "workbook .*save it as CSV"),
        (b"\xff\xfea", "cannot be read as utf-16"),
        (b'a,b\n"' + b"x" * 200_000, "cannot be read: field larger"),
        (b'a,b\n1,2\n3,"4\n5,6\n', "a quotation mark in line 3 that is not closed"),
        (b'"a,b\n1,2\n', "a quotation mark in line 1 that is not closed"),
    ],
)
def test_file_that_is_no_table_is_reported_with_the_remedy(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(sheets.SheetError, match=message):
        sheets.read_sheet(tmp_path / "a.csv", "class list")


def test_no_heading_of_a_language_names_two_fields() -> None:
    for line in headings.SOURCE.read_text().splitlines():
        if line.startswith("#"):
            continue
        language, *cells = line.split("|")
        spelled = [headings.normalize(each) for cell in cells for each in cell.split(";") if each.strip()]
        assert len(spelled) == len(set(spelled)), language
