"""Assignment of files to students, with class lists and folders as learning platforms make them."""

from __future__ import annotations

import os
import unicodedata
import zipfile
from pathlib import Path

import pytest

from netlab.base.errors import NetlabError
from netlab_classroom.grading import assign, roster
from netlab_classroom.grading.roster import RosterEntry


def named_entry(student: str, name: str) -> RosterEntry:
    first, _, last = name.partition(" ")
    return RosterEntry(student, {"first_name": first, "last_name": last})


def owners(place: Path, entries: list[RosterEntry], chapter: str = "") -> roster.FileAssignment:
    target = place.parent / "unpacked"
    target.mkdir()
    return roster.match(roster.collect([place], target), entries, chapter)


def hand_in(place: Path, *names: str | bytes) -> Path:
    for name in names:
        path = Path(os.fsdecode(os.fsencode(place) + b"/" + (name if isinstance(name, bytes) else name.encode())))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}")
    return place


def test_moodles_names_in_two_columns_survive_the_list_of_tokens(tmp_path: Path) -> None:
    """The class list of `assign` must find the same folders as Moodle's."""
    given = tmp_path / "participants.csv"
    given.write_text("Username;First name;Last name;Email address\ns1;Eva;Eng;eva@example.org\n", encoding="utf-8-sig")
    written = tmp_path / "class.csv"
    written.write_text(assign.class_list(roster.read_roster(given)))
    (entry,) = roster.read_roster(written)
    assert entry.name == "Eva Eng"
    found = owners(hand_in(tmp_path / "in", "Eva Eng_12_assignsubmission_file_/05_bdp.ipynb"), [entry])
    assert found.files["s1"] is not None and not found.notes


def test_a_student_without_an_id_number_goes_by_user_name_then_by_address(tmp_path: Path) -> None:
    given = tmp_path / "participants.csv"
    given.write_text(
        "ID number,Username,First name,Email address\n7,eva,Eva,eva@x.org\n,jan,Jan,jan@x.org\n,,Ada,ada@x.org\n,,,\n"
    )
    notes: list[str] = []
    entries = roster.read_roster(given, notes.append)
    assert [entry.student for entry in entries] == ["7", "jan", "ada@x.org"]
    (note,) = notes
    assert "without ID number and Username, so named by address: ada@x.org" in note


def test_class_list_in_a_code_page_is_reported(tmp_path: Path) -> None:
    given = tmp_path / "participants.csv"
    given.write_text("student,name\nzoé,Zoé\n", encoding="cp1252")
    notes: list[str] = []
    (entry,) = roster.read_roster(given, notes.append)
    (note,) = notes
    assert entry.student == "zoé" and "is not in UTF-8; read as cp1252" in note


def test_all_lines_with_missing_or_repeated_names_are_reported_at_once(tmp_path: Path) -> None:
    """A line that is left out would be somebody without a notebook."""
    given = tmp_path / "participants.csv"
    given.write_text("ID number,Username,First name,Email address\n7,eva,Eva,\n,,Jan,\n7,,Eve,\na/b,,Ann,\n,,Kim,\n")
    with pytest.raises(roster.RosterError) as error:
        roster.read_roster(given)
    message = str(error.value)
    assert (
        "nothing names the student in line 3 (Jan), line 6 (Kim); fill in one of ID number, Username, Email address, or "
        "delete a line that is no student's." in message
    )
    assert "line 4: 7 appears twice, first in line 2." in message and "line 5: 'a/b' cannot be a student" in message


def test_moodles_list_of_participants_with_addresses_only_is_a_class_list(tmp_path: Path) -> None:
    """The default export of Moodle."""
    given = tmp_path / "participants.csv"
    given.write_text(
        '"First name","Last name","Email address",Groups\nJane,Doe,jane.doe@example.org,A\nAda,Ng,ada@x.org,B\n'
    )
    entries = roster.read_roster(given)
    assert [(entry.student, entry.name) for entry in entries] == [
        ("jane.doe@example.org", "Jane Doe"),
        ("ada@x.org", "Ada Ng"),
    ]
    written = tmp_path / "class.csv"
    written.write_text(assign.class_list(entries))
    notes: list[str] = []
    assert [entry.student for entry in roster.read_roster(written, notes.append)] == [
        "jane.doe@example.org",
        "ada@x.org",
    ]
    assert not notes, "its column of students has the addresses"
    found = owners(hand_in(tmp_path / "in", "Ada Ng_12_assignsubmission_file_/05_bdp.ipynb"), entries)
    assert found.files["ada@x.org"] is not None and not found.notes


HEADINGS = {
    # First name, last name, ID number, address: from `moodle.php` of each language pack.
    "ar": ("الاسم الأول", "الاسم الأخير", "رقم المُعرَّف", "عنوان البريد الإلكتروني"),
    "ca": ("Nom", "Cognoms", "Número ID", "Adreça electrònica"),
    "cs": ("Křestní jméno", "Příjmení", "ID", "E-mailová adresa"),
    "da": ("Fornavn", "Efternavn", "Id-nummer", "E-mail-adresse"),
    "de": ("Vorname", "Nachname", "ID-Nummer", "E-Mail-Adresse"),
    "el": ("Μικρό/Βαπτιστικό όνομα", "Επώνυμο", "Αριθμός ταυτότητας", "Διεύθυνση ηλεκτρονικού ταχυδρομείου"),
    "es": ("Nombre", "Apellido(s)", "Número de ID", "Dirección de correo"),
    "eu": ("Izena", "Abizena", "ID zenbakia", "E-posta helbidea"),
    "fa": ("نام", "نام خانوادگی", "کد شناسائی", "آدرس پست الکترونیک"),
    "fi": ("Etunimi", "Sukunimi", "Tunnistenumero", "Sähköpostiosoite"),
    "fr": ("Prénom", "Nom", "Numéro d’identification", "Adresse de courriel"),
    "he": ("שם פרטי", "שם משפחה", "מספר זיהוי", "כתובת דואר אלקטרוני"),
    "hu": ("Keresztnév", "Vezetéknév", "Azonosítószám", "E-mail cím"),
    "id": ("Nama Depan", "Nama akhir", "Nomor KTP", "Alamat Email"),
    "it": ("Nome", "Cognome", "Codice identificativo", "Indirizzo email"),
    "ja": ("名", "姓", "IDナンバー", "メールアドレス"),
    "ko": ("이름", "성", "id 번호", "이메일 주소"),
    "nl": ("Voornaam", "Achternaam", "Nummer (ID)", "E-mailadres"),
    "no": ("Fornavn", "Etternavn", "ID-nummer", "E-postadresse"),
    "pl": ("Imię", "Nazwisko", "Numer ID", "E-mail"),
    "pt": ("Nome", "Apelido", "Número de identificação", "Endereço de e-mail"),
    "pt_br": ("Nome", "Sobrenome", "Número de identificação", "Endereço de email"),
    "ro": ("Prenume", "Nume", "Număr ID", "Adresă email"),
    "ru": ("Имя", "Фамилия", "Индивидуальный номер", "Адрес электронной почты"),
    "sv": ("Förnamn", "Efternamn", "ID nummer", "E-postadress"),
    "tr": ("Adı", "Soyadı", "ID numarası", "E-posta adresi"),
    "uk": ("Ім'я", "Прізвище", "Індивідуальний номер", "Електронна пошта"),
    "vi": ("Tên đệm và tên", "Họ", "Mã số ID", "Thư điện tử"),
    "zh_cn": ("名", "姓氏", "学号", "Email地址"),
    "zh_tw": ("名字", "姓氏", "識別號碼", "電子郵件信箱"),
}


@pytest.mark.parametrize("language", HEADINGS)
def test_moodles_headings_are_known_in_its_languages(language: str, tmp_path: Path) -> None:
    given = tmp_path / "participants.csv"
    titles = HEADINGS[language]
    given.write_text(
        ";".join([*titles, "?"]) + "\nAda;Ng;7;ada@x.org;A\nJane;Doe;;jane@x.org;B\n", encoding="utf-8-sig"
    )
    ada, jane = roster.read_roster(given)
    assert (ada.student, jane.student) == ("7", "jane@x.org")
    assert {name: ada.columns[name] for name in ("first_name", "last_name", "id_number", "email")} == {
        "first_name": "Ada",
        "last_name": "Ng",
        "id_number": "7",
        "email": "ada@x.org",
    }


def test_a_list_of_google_classroom_in_portuguese_has_both_names(tmp_path: Path) -> None:
    """Google writes `e-mail` where Moodle's pack for Brazil has `email`."""
    given = tmp_path / "notas.csv"
    given.write_text("Sobrenome,Nome,Endereço de e-mail\nSouza,Ana,ana@x.org\n")
    (entry,) = roster.read_roster(given)
    assert (entry.student, entry.name) == ("ana@x.org", "Ana Souza")


def test_in_a_language_that_is_not_known_the_column_of_addresses_is_found(tmp_path: Path) -> None:
    given = tmp_path / "participants.csv"
    given.write_text("Izina\tImeyili\nAda\tada@x.org\nJan\tjan@x.org\n")
    assert [entry.student for entry in roster.read_roster(given)] == ["ada@x.org", "jan@x.org"]
    given.write_text("Izina\tImeyili\nAda\tada@x.org\nJan\t-\n")
    with pytest.raises(roster.RosterError, match="e-mail addresses .*it has: Izina, Imeyili"):
        roster.read_roster(given)


@pytest.mark.parametrize("folder", ["山田 太郎_7_x_", "太郎 山田_7_x_", "山田太郎_7_x_"])
def test_a_last_name_may_be_first_in_a_folders_name(folder: str, tmp_path: Path) -> None:
    """The string `fullnamedisplay` of Moodle's packs for Japanese and Chinese."""
    entry = RosterEntry("s1", {"first_name": "太郎", "last_name": "山田"})
    found = owners(hand_in(tmp_path / "in", f"{folder}/a.ipynb"), [entry])
    assert found.files["s1"] is not None and not found.notes


def test_canvas_names_in_two_columns_and_its_rows_without_students_are_read(tmp_path: Path) -> None:
    """The headings and rows that lib/gradebook_exporter.rb of Canvas writes, in every language."""
    given = tmp_path / "grades.csv"
    lines = (
        "LastName,FirstName,ID,SIS User ID,SIS Login ID,Integration ID,Root Account,Section,Essay (12)",
        ",,,,,,,,Manual Posting",
        "    Points Possible,,,,,,,,10",
        "Doe,Jane,501,u1,jane,i1,uni.edu,A,7",
    )
    given.write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    (entry,) = roster.read_roster(given)
    assert entry.student == "jane" and entry.name == "Jane Doe"
    assert {"canvas_id": "501", "integration_id": "i1", "root_account": "uni.edu"}.items() <= entry.columns.items()


def test_a_gradebook_that_canvas_exports_is_a_class_list(tmp_path: Path) -> None:
    given = tmp_path / "grades.csv"
    lines = ("Student,ID,SIS User ID,SIS Login ID,Section", "    Points Possible,,,,", '"Müller, Jürgen",502,u2,jm,A')
    given.write_text("\n".join(lines) + "\n")
    (entry,) = roster.read_roster(given)
    found = owners(hand_in(tmp_path / "in", "muellerjuergen_LATE_502_9002_07_short_flows-1.ipynb"), [entry])
    assert found.files["Müller, Jürgen"] is not None and not found.notes


def test_students_of_the_same_name_in_a_gradebook_of_canvas_go_by_their_logins(tmp_path: Path) -> None:
    """Canvas's column Student has names (lib/gradebook_exporter.rb), and two persons may have the same."""
    given = tmp_path / "grades.csv"
    lines = (
        "Student,ID,SIS User ID,SIS Login ID,Section",
        "    Points Possible,,,,",
        '"Lee, Kim",1,u1,kim1,A',
        '"Lee, Kim",2,,kim2,A',
        '"Roe, Ann",3,u3,ann,A',
    )
    given.write_text("\n".join(lines) + "\n")
    entries = roster.read_roster(given)
    assert [(entry.student, entry.name) for entry in entries] == [
        ("kim1", "Lee, Kim"),
        ("kim2", "Lee, Kim"),
        ("Roe, Ann", "Roe, Ann"),
    ]
    written = tmp_path / "class.csv"
    written.write_text(assign.class_list(entries))
    assert [entry.student for entry in roster.read_roster(written)] == ["kim1", "kim2", "Roe, Ann"]


def test_brightspaces_marks_in_front_of_identifiers_are_no_part_of_them(tmp_path: Path) -> None:
    """Brightspace exports `#123456,#name,75.00,#` (its help, Importing and exporting grades)."""
    given = tmp_path / "grades.csv"
    given.write_text(
        "OrgDefinedId,Username,Last Name,First Name,Email,Quiz Points Grade,End-of-Line Indicator\n"
        "#123456,#eva,Eng,Eva,eva@example.org,75.00,#\n"
    )
    (entry,) = roster.read_roster(given)
    assert (entry.student, entry.name) == ("eva", "Eva Eng")


@pytest.mark.parametrize("text", ["ada@x.org\njan@x.org\n", "Ada;Ng;ada@x.org\nJan;Roe;jan@x.org\n"])
def test_a_list_without_headings_is_refused_so_that_its_first_student_is_not_lost(text: str, tmp_path: Path) -> None:
    given = tmp_path / "class.csv"
    given.write_text(text)
    with pytest.raises(roster.RosterError, match=r"no headings: its first line has the address ada@x\.org.*Put a line"):
        roster.read_roster(given)


def test_an_address_in_other_capitals_is_the_same_student(tmp_path: Path) -> None:
    given = tmp_path / "class.csv"
    given.write_text("First name,Email address\nAda,ada@x.org\nAda,Ada@X.org\n")
    with pytest.raises(roster.RosterError, match=r"line 3: Ada@X\.org appears twice, first in line 2"):
        roster.read_roster(given)


def test_each_column_that_the_page_names_is_read_by_each_of_its_names(tmp_path: Path) -> None:
    """These are the columns in docs/how-to/grade.md, Hand out; Canvas's own columns appear in its table again."""
    given = tmp_path / "class.csv"
    columns = [
        "name",
        "email",
        "file",
        "token",
        "canvas_id",
        "sis_user_id",
        "sis_login_id",
        "integration_id",
        "root_account",
        "section",
        "first_name",
        "last_name",
        "id_number",
        "username",
    ]
    given.write_text(",".join(["student", *columns]) + "\n" + ",".join(["s1", *columns]) + "\n")
    (entry,) = roster.read_roster(given)
    assert entry.columns == {name: name for name in columns} and entry.token == columns[3] and entry.name == "name"
    assert list(roster.NAMES) == ["student", *columns]
    for name, others in roster.NAMES.items():
        for other in others:
            given.write_text(
                f"{other.replace('_', ' ').title()};name\nx;y\n" if name == "student" else f"student;{other}\nx;y\n"
            )
            (entry,) = roster.read_roster(given)
            assert entry.student == "x" and (name == "student" or entry.columns[name] == "y")


def test_students_of_the_same_name_are_not_guessed_and_their_folders_named(tmp_path: Path) -> None:
    entries = [named_entry("s04", "Kim Lee"), named_entry("s05", "Kim Lee"), named_entry("s06", "Ann Roe")]
    place = hand_in(tmp_path / "in", "Kim Lee_113_x_/a.ipynb", "Kim Lee_114_x_/a.ipynb", "Ann Roe_115_x_/a.ipynb")
    found = owners(place, entries)
    assert found.files["s04"] is found.files["s05"] is None and found.files["s06"] is not None
    assert set(found.doubtful) == {"s04", "s05"}
    assert "Kim Lee_113_x_" in found.notes[0] and "Kim Lee_114_x_" in found.notes[0]


@pytest.mark.parametrize(
    "folder", ["Jürgen Müller_7_x_", "Müller, Jürgen_7_x_", unicodedata.normalize("NFD", "Jürgen Müller_7_x_")]
)
def test_a_name_is_known_however_it_is_spelled(folder: str, tmp_path: Path) -> None:
    for number, entry in enumerate((named_entry("s1", "Jürgen Müller"), RosterEntry("s1", {"name": "Müller, Jürgen"}))):
        found = owners(hand_in(tmp_path / str(number) / "in", f"{folder}/a.ipynb"), [entry])
        assert found.files["s1"] is not None


def test_a_file_name_that_is_no_utf_8_is_read_and_named(tmp_path: Path) -> None:
    found = owners(hand_in(tmp_path / "in", b"J\xfcrgen.ipynb"), [])
    ((name, file),) = found.files.items()
    assert name == "J\ufffdrgen" and file is not None and file.path.read_bytes() == b"{}"


@pytest.mark.parametrize("name", ["../evil", "a/b", "a\\b", ".hidden", "x" * 101])
def test_a_students_name_is_no_path(name: str, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(f"student\n{name}\n")
    with pytest.raises(roster.RosterError, match="cannot be a student"):
        roster.read_roster(tmp_path / "class.csv")


def test_names_have_no_escapes_and_no_second_line(tmp_path: Path) -> None:
    found = owners(hand_in(tmp_path / "in", "\x1b[2Jx\x1b]0;owned\x07.ipynb", "a\nb.ipynb"), [])
    assert set(found.files) == {"\ufffd[2Jx\ufffd]0;owned\ufffd", "a b"}


def test_a_folder_in_a_students_folder_is_looked_into(tmp_path: Path) -> None:
    found = owners(hand_in(tmp_path / "in", "s09/work/.hidden/x.ipynb", "s09/work/05_bdp.ipynb"), [RosterEntry("s09")])
    assert found.files["s09"] is not None and found.files["s09"].label == "s09/work/05_bdp.ipynb"


def test_a_file_name_may_contain_an_old_chapter_number(tmp_path: Path) -> None:
    place = hand_in(tmp_path / "in", "ann_05_bdp.ipynb", "03_bdp_bob.ipynb")
    assert {
        name for name, file in owners(place, [RosterEntry("ann"), RosterEntry("bob")], "05_bdp").files.items() if file
    } == {
        "ann",
        "bob",
    }


def test_a_student_name_that_ends_like_the_chapter_is_kept(tmp_path: Path) -> None:
    found = owners(hand_in(tmp_path / "in", "ann_bdp.ipynb"), [RosterEntry("ann"), RosterEntry("ann_bdp")], "05_bdp")
    assert [name for name, file in found.files.items() if file] == ["ann_bdp"]


def test_a_platforms_archive_is_taken_as_it_is(tmp_path: Path) -> None:
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("Eva Eng_12_assignsubmission_file_/05_bdp.ipynb", "{}")
        packed.writestr("../../evil.ipynb", "[]")
        packed.writestr("__MACOSX/x", "")
        link = zipfile.ZipInfo("link.ipynb")
        link.external_attr = 0o120777 << 16
        packed.writestr(link, "/etc/passwd")
    found = owners(archive, [named_entry("s1", "Eva Eng")])
    assert found.files["s1"] is not None and found.files["s1"].path.read_text() == "{}"
    assert set(found.files) == {"s1", "evil", "link"}
    assert found.files["link"] is not None and found.files["link"].path.is_symlink()
    assert not (tmp_path.parent / "evil.ipynb").exists() and len(list((tmp_path / "unpacked" / "0").iterdir())) == 3


def test_an_archive_that_grows_too_large_or_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(3):
            packed.writestr(f"s{number}.ipynb", bytes(3 << 20))
    monkeypatch.setattr(roster, "MAX_UNPACKED_BYTES", 4 << 20)
    with pytest.raises(NetlabError, match="unpack it"):
        roster.collect([archive], tmp_path / "unpacked")
    assert sum(path.stat().st_size for path in (tmp_path / "unpacked").rglob("*")) < 8 << 20
    archive.write_bytes(b"PK no archive")
    with pytest.raises(NetlabError, match="cannot be unpacked"):
        roster.collect([archive], tmp_path / "another")


def test_a_name_that_is_a_formula_comes_through_the_list_unchanged(tmp_path: Path) -> None:
    place = tmp_path / "class.csv"
    text = assign.class_list([RosterEntry("s1", {"name": "=HYPERLINK(1)"}), RosterEntry("-s2")])
    assert "'=HYPERLINK" in text and "'-s2" in text
    place.write_text(text)
    assert [(entry.student, entry.name) for entry in roster.read_roster(place)] == [
        ("s1", "=HYPERLINK(1)"),
        ("-s2", "-s2"),
    ]
