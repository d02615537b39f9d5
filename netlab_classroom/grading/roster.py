"""Class lists, and the assignment of submitted files to students."""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netlab.base.errors import NetlabError
from netlab_classroom.grading import headings, sheets
from netlab_classroom.grading.submission import MAX_BYTES
from netlab_classroom.grading.text import file_name, fold_name, one_line, unescape_formula

NAMES = {
    "student": ("student_id", "id_number", "username", "login", "id"),
    "name": ("full_name", "student_name"),
    "email": ("email_address", "mail", "e_mail", "e_mail_address"),
    "file": ("submission", "notebook"),
    "token": (),
    "canvas_id": ("canvas_user_id",),
    "sis_user_id": ("user_id",),
    "sis_login_id": ("login_id",),
    "integration_id": (),
    "root_account": (),
    "section": (),
    "first_name": ("given_name", "firstname"),
    "last_name": ("surname", "family_name", "lastname"),
    "id_number": (),
    "username": (),
}
"""The columns of a class list, each with its other names; capitals and spaces are ignored."""
IDENTIFIERS = ("student", "email", "sis_login_id", "sis_user_id", "canvas_id")
"""The columns that identify a student, in order of preference."""
END_OF_LINE = "end_of_line_indicator"
"""The last heading of grades exported from Brightspace, which writes a # in front of identifiers."""
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
POINTS_POSSIBLE = "Points Possible"
"""The text in place of a student in the second row of a gradebook exported from Canvas."""
MAX_FILES = 5_000
MAX_UNPACKED_BYTES = 4 << 30
MAX_DEPTH = 4


class RosterError(NetlabError):
    """A class list cannot be used; the text says which rows and why."""


@dataclass(frozen=True)
class RosterEntry:
    """A student of a class: the identifier `student`, and the other known columns of the student's row in the class
    list.
    """

    student: str
    """The identifier in all reports: the content of the column `student`."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The other known columns of the row."""

    @property
    def token(self) -> str | None:
        """The token (text) from which the student's own numbers are drawn; None if the class list has none for the
        student.
        """
        return self.columns.get("token") or None

    @property
    def name(self) -> str:
        """The person's full name, first name first or as in the class list's column of names; the identifier if the
        list has no name.
        """
        whole = " ".join(filter(None, (self.columns.get("first_name"), self.columns.get("last_name"))))
        return self.columns.get("name") or whole or self.student

    @property
    def spellings(self) -> list[str]:
        """The person's name in the forms in which platforms write it, without duplicates: first name first, and last
        name first with and without a space.
        """
        first, last = self.columns.get("first_name", ""), self.columns.get("last_name", "")
        other = [f"{last} {first}", f"{last}{first}", f"{first} {last}"] if first and last else []
        return list(dict.fromkeys([_person(self.name), *other]))


def read_roster(path: Path, report_remark: Callable[[str], None] = lambda _remark: None) -> list[RosterEntry]:
    """Read a class list, a CSV file with a row of headings, and return its students in the file's order; empty rows and
    Canvas's row of points are left out. A student is identified by the first of the columns IDENTIFIERS that the row
    has; in Canvas's gradebook, whose column of students has names, several of the same name by the next column. `report_remark`
    is called with each remark, a sentence. Raises RosterError when the file has no headings, no students or no
    identifying column, or rows without a student or with a repeated or unusable one.
    """
    sheet = sheets.read_sheet(path, "class list")
    columns = _columns(sheet)
    is_canvas, is_brightspace = "sis_login_id" in sheet.by_plain, END_OF_LINE in sheet.by_plain
    counts = Counter(one_line(unescape_formula(cells[each])) for _, cells in sheet for each in columns["student"][:1])
    found: dict[str, RosterEntry] = {}
    lines: dict[str, int] = {}
    unnamed: list[str] = []
    problems: list[str] = []
    by_address: list[str] = []
    for line, cells in sheet:
        values = {
            name: next((text for each in places if (text := one_line(unescape_formula(cells[each])))), "")
            for name, places in columns.items()
        }
        if POINTS_POSSIBLE in values.values() or not any(values.values()):
            continue
        if is_brightspace:
            values = {name: text.removeprefix("#") for name, text in values.items()}
        if is_canvas and counts[values["student"]] > 1:
            values["name"], values["student"] = values["name"] or values["student"], ""
        student = next((values[name] for name in IDENTIFIERS if values[name]), "")
        # The same mailbox may be written with other capitals.
        key = student.casefold() if "@" in student else student
        identifier = values.pop("student")
        if not student:
            person = " ".join(filter(None, (values["name"], values["first_name"], values["last_name"])))
            unnamed.append(f"line {line}" + (f" ({person})" if person else ""))
        elif not re.fullmatch(r"[^\x00-\x1f/\\\ufffd]{1,100}", student) or student.startswith("."):
            problems.append(f"line {line}: {student!r} cannot be a student: no /, no \\, no dot in front")
        elif key in found:
            problems.append(f"line {line}: {student} appears twice, first in line {lines[key]}")
        else:
            found[key], lines[key] = RosterEntry(student, values), line
            if not identifier and student == values["email"] and columns["student"]:
                by_address.append(student)
    if unnamed:
        fields = dict.fromkeys(heading for name in IDENTIFIERS for heading in columns[name])
        remedy = f"fill in one of {', '.join(fields)}, or delete a line that is no student's"
        problems.insert(0, f"nothing names the student in {', '.join(unnamed)}; {remedy}")
    if problems:
        raise RosterError(
            f"{path} has students that cannot be told apart:\n" + "\n".join(f"  {each}." for each in problems)
        )
    if not found:
        raise RosterError(f"{path} has no students.")
    if by_address:
        report_remark(
            f"{path}: without {' and '.join(columns['student'])}, so named by address: {', '.join(by_address)}."
        )
    if sheet.encoding in sheets.CODE_PAGES:
        report_remark(f"{path} is not in UTF-8; read as {sheet.encoding}. Save it as CSV in UTF-8 if names look wrong.")
    return list(found.values())


def _columns(sheet: sheets.Sheet) -> dict[str, list[str]]:
    """Return the headings of the sheet that stand for each column name of NAMES, lists by that name and in order of
    preference; [] for a column that the sheet lacks. Without an identifying column, one that has e-mail addresses only
    is taken. Raises RosterError when there is none either, or when the first line is a student's.
    """
    if address := next((heading for heading in sheet.headings if ADDRESS.fullmatch(heading)), ""):
        raise RosterError(
            f"{sheet.path} has no headings: its first line has the address {address}. Put a line in front of it that names "
            "the columns, such as `First name,Last name,Email address`."
        )
    plain = sheet.by_plain
    found = {
        name: [plain[spelling] for spelling in (name, *others) if spelling in plain] for name, others in NAMES.items()
    }
    if "sis_login_id" in plain:
        # In a gradebook exported from Canvas, headings are English in every language; "ID" is Canvas's own number.
        if "id" in plain:
            found["canvas_id"].append(plain["id"])
            found["student"].remove(plain["id"])
    else:
        for name, others in headings.fields_of(sheet.headings).items():
            found[name] += [heading for heading in others if heading not in found[name]]
    # Prefer the number: in Moodle, students without a number have a user name.
    named = {heading for places in found.values() for heading in places}
    found["student"] += [
        heading for name in ("id_number", "username") for heading in found[name] if heading not in found["student"]
    ]
    if not any(found[name] for name in IDENTIFIERS):
        found["email"] = [
            heading for heading in sheet.headings if heading not in named and _has_addresses(sheet, heading)
        ][:1]
    if not any(found[name] for name in IDENTIFIERS):
        known = (name for name in ("student", *NAMES["student"], "email"))
        raise RosterError(
            f"{sheet.path} needs a column `student` or one with e-mail addresses (known: {', '.join(known)}, and the headings of "
            f"Moodle and Canvas in many languages); it has: {', '.join(filter(None, sheet.headings)) or 'none'}."
        )
    return found


def _has_addresses(sheet: sheets.Sheet, heading: str) -> bool:
    """Return whether all cells of the sheet's column `heading` that are not empty are e-mail addresses; False if all
    are empty.
    """
    cells = [cells[heading] for _, cells in sheet if cells[heading]]
    return bool(cells) and all(ADDRESS.fullmatch(cell) for cell in cells)


@dataclass(frozen=True)
class SubmittedFile:
    """A submitted file: its path, and its names in cleaned text."""

    name: str
    """The name of the file, or of the student's folder that contains it; clean."""
    label: str
    """The name in reports: the file's, preceded by the folder's; clean."""
    path: Path
    """The path of the file."""


def collect(paths: Sequence[Path], folder: Path) -> list[SubmittedFile]:
    """Return the submitted files in the order of `paths`: a file itself, all files in a directory, and those in a ZIP
    archive, which is unpacked into the empty directory `folder`; hidden files in directories and archives, and
    directories deeper than MAX_DEPTH, are left out, and links are not followed. Raises NetlabError when a path does not
    exist, or an archive is damaged or too large.

    A directory stands for all files in it, a ZIP archive of a learning platform for its members; the name of a
    directory that contains a single student's files is the student's. Links are not followed.

    Parameters
    ----------
    folder : Path
        An empty directory for unpacked files.
    """
    found: list[SubmittedFile] = []
    for number, path in enumerate(paths):
        if not path.is_symlink() and not path.exists():
            raise NetlabError(f"SUBMISSIONS: {path} does not exist.")
        if path.is_symlink() or not path.is_dir():
            if path.suffix.lower() == ".zip" and not path.is_symlink():
                found += _unpack(path, folder / str(number))
            else:
                found.append(_submitted_file([path.name], path))
            continue
        found += [_submitted_file(list(file.relative_to(path).parts), file) for file in _files(path)]
    return found


def _submitted_file(parts: Sequence[str], path: Path) -> SubmittedFile:
    """Return the submitted file at `path` with its names in clean text; `parts` are the names of its folders, outermost
    first, and of the file itself.
    """
    names = [one_line(os.fsencode(part).decode("utf-8", "replace")) for part in parts]
    return SubmittedFile(names[0] if len(names) > 1 else Path(names[0]).stem, "/".join(names), path)


def _files(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Yield all files below a folder, sorted by name in each folder. Links are yielded, not followed; hidden files and
    folders, those named "__MACOSX…", and folders deeper than MAX_DEPTH are left out. `depth` is 0 for the first folder,
    1 for the folders in it, and so on.
    """
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "__MACOSX")):
            continue
        if entry.is_dir() and not entry.is_symlink():
            if depth < MAX_DEPTH:
                yield from _files(entry, depth + 1)
        else:
            yield entry


def _unpack(archive: Path, folder: Path) -> Iterator[SubmittedFile]:
    """Yield the files of a platform's ZIP archive in its order, each written below the new `folder` under a number,
    because names in an archive are untrusted; hidden ones are left out, a file is cut to one byte more than MAX_BYTES,
    and a link becomes one that leads nowhere. Raises NetlabError when the archive is damaged or too large.
    """
    folder.mkdir(parents=True)
    left_bytes = MAX_UNPACKED_BYTES
    try:
        with zipfile.ZipFile(archive) as packed:
            members = [member for member in packed.infolist() if not member.is_dir()]
            if len(members) > MAX_FILES:
                raise NetlabError(f"{archive} has {len(members)} files; {MAX_FILES} are unpacked at most.")
            for number, member in enumerate(members):
                parts = [part for part in _name_in(member).split("/") if part not in ("", ".", "..")]
                if not parts or any(part.startswith((".", "__MACOSX")) for part in parts):
                    continue
                path = folder / str(number)
                if stat.S_ISLNK(member.external_attr >> 16):
                    path.symlink_to("a link in the archive")
                else:
                    # Do not trust the size in the archive; reading one byte more than allowed shows that it is too large.
                    with packed.open(member) as source:
                        path.write_bytes(source.read(min(left_bytes, MAX_BYTES + 1)))
                    left_bytes -= path.stat().st_size
                yield _submitted_file(parts, path)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise NetlabError(
            f"{archive} cannot be unpacked ({one_line(str(error))}): unpack it, and name its directory."
        ) from None
    if left_bytes <= 0:
        raise NetlabError(
            f"{archive} holds more than {MAX_UNPACKED_BYTES >> 30} GB: unpack it, and name its directory."
        )


def _name_in(member: zipfile.ZipInfo) -> str:
    """Return the path of a file in its ZIP archive, such as "folder/file.ipynb"; it is decoded as UTF-8 if that is
    possible, also if an old packer did not mark it as such.
    """
    if member.flag_bits & 0x800:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return member.filename


@dataclass
class FileAssignment:
    """The assignment of submitted files to students: one file or None for each, doubtful owners, and remarks."""

    files: dict[str, SubmittedFile | None]
    """The file of each student; None for students of the class without a file."""
    doubtful: dict[str, str] = field(default_factory=dict)
    """Students who may own a file that could also be another's, with a message about it."""
    notes: list[str] = field(default_factory=list)
    """Remarks about the class."""


def match(files: Sequence[SubmittedFile], entries: Sequence[RosterEntry], chapter: str = "") -> FileAssignment:
    """Assign submitted files to the students of the class list `entries` (empty: one student for each file, named after
    it), at most one file each, a notebook before others; a file of nobody is assigned to its own name. The result has
    remarks about files without an owner, with several possible owners (then nobody gets them), and beyond a student's
    first. `chapter` is the notebook's name, such as "01_udp_loss", which may be a part of the files' names.
    """
    found = FileAssignment({entry.student: None for entry in entries})
    owners = _Owners(entries)
    doubtful: dict[tuple[str, ...], list[SubmittedFile]] = defaultdict(list)
    handed_out = re.sub(r"^\d\d", r"\\d\\d", chapter)
    for file in files:
        name = re.sub(rf"^{handed_out}_|_{handed_out}$", "", file.name) if chapter else file.name
        students = owners.candidates(file, name) if entries else (name,)
        if len(students) > 1:
            doubtful[students].append(file)
            continue
        if not students:
            found.notes.append(f"{file.label}: not on the class list; graded as {name}.")
        student = students[0] if students else name
        other = found.files.get(student)
        if other is not None:
            # Prefer a notebook; of two notebooks, the one whose name comes last.
            better = max(other, file, key=lambda each: (Path(each.label).suffix == ".ipynb", each.label))
            found.notes.append(f"{student}: handed in {other.label} and {file.label}; {better.label} was used.")
            found.files[student] = better
        else:
            found.files[student] = file
    for students, unclear in doubtful.items():
        without = [student for student in students if found.files[student] is None]
        labels = ", ".join(file.label for file in unclear)
        sentence = (
            f"{' and '.join(students)} have the same name, so the owner of {labels} is unknown. Rename each file to the "
            "student's name in the first column, or write its name into a column `file` of the class list."
        )
        found.notes.append(sentence)
        found.doubtful |= dict.fromkeys(without, sentence)
    return found


class _Owners:
    """An index of a class by the names that a submitted file may have: file name, identifier, e-mail address, full
    name, number in Canvas.
    """

    def __init__(self, entries: Sequence[RosterEntry]) -> None:
        """Index the students of a class by every name that a file of theirs may have: file name, identifier, e-mail
        address, spellings of the person's name, number in Canvas.
        """
        self._by_file = _index((entry.columns.get("file", ""), entry) for entry in entries)
        self._by_key = _index(
            (key, entry)
            for entry in entries
            for key in (entry.student, file_name(entry.student), entry.columns.get("email", ""))
        )
        self._by_name = _index((spelling, entry) for entry in entries for spelling in entry.spellings)
        self._by_canvas = _index((entry.columns.get("canvas_id", ""), entry) for entry in entries)

    def candidates(self, file: SubmittedFile, name: str) -> tuple[str, ...]:
        """Return the identifiers of the students who may own a submitted file: one if the owner is known, several for
        equal names, () if it is nobody of the class. `name` is the file's name without the one of the chapter's
        notebook.
        """
        for spelling in (file.label, Path(file.label).name, file.name):
            if fold_name(spelling) in self._by_file:
                return self._by_file[fold_name(spelling)]
        for spelling in (name, file.name):
            if fold_name(spelling) in self._by_key:
                return self._by_key[fold_name(spelling)]
        # Moodle names directories Full Name_12345_assignsubmission_file; Canvas names files name_12345_67890_title.
        parts = file.name.split("_")
        for part in parts[1:4]:
            if part in self._by_canvas:
                return self._by_canvas[part]
        return self._by_name.get(fold_name(_person(parts[0])), ()) if len(parts) > 1 else ()


def _index(pairs: Iterable[tuple[str, RosterEntry]]) -> dict[str, tuple[str, ...]]:
    """Return the identifiers of students by key, from pairs of a key and a student's entry; keys are normalized as by
    `fold_name`, and empty ones are left out.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for key, entry in pairs:
        if key and entry.student not in found[fold_name(key)]:
            found[fold_name(key)].append(entry.student)
    return {key: tuple(students) for key, students in found.items()}


def _person(name: str) -> str:
    """Return a person's name with the first name first: "Müller, Jürgen" becomes "Jürgen Müller"; a name without a
    comma is unchanged.
    """
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma else name
