"""`netlab new-chapter NAME`: create the skeleton of a chapter in a clone of netlab, completely or not at all."""

import argparse
import importlib.resources
import keyword
import re
import shutil
import sys
import tempfile
from pathlib import Path

from netlab.base.errors import NetlabError

MAX_NAME_LENGTH = 30
MAX_TITLE_LENGTH = 40
MAX_CHAPTERS = 99

# The target of each template in skeleton/.
FILES = {
    "source.txt": "solutions/@NUMBER@_@NAME@.py",
    "examiner.txt": "solutions/examiners/@NAME@.py",
    "init.txt": "netlab_course/chapters/@NAME@/__init__.py",
    "settings.txt": "netlab_course/chapters/@NAME@/settings.py",
    "check.txt": "netlab_course/chapters/@NAME@/check.py",
    "panel.txt": "netlab_course/chapters/@NAME@/panel.py",
    "test_check.txt": "tests/chapters/@NAME@/test_check.py",
    "test_panel.txt": "tests/chapters/@NAME@/test_panel.py",
    "test_measured.txt": "tests/chapters/@NAME@/test_measured.py",
}
# Paths that must not exist yet: the chapter's files, or their folder if that belongs to the chapter alone.
PLACES = dict.fromkeys(path if path.startswith("solutions/") else path.rpartition("/")[0] for path in FILES.values())

NEXT_STEPS = """Next, in {root}:
  .venv/bin/python -m pytest tests/chapters -k {name}
  .venv/bin/python -m netlab_course.authoring {stem}
  .venv/bin/python -m pytest --nbval --nbval-current-env solutions/{stem}.ipynb
  .venv/bin/python -m pytest tests/grading/test_examiners.py -k {name}
All pass as it is. Then put your own in place of each part of {source}; docs/contributing/adding.md says how."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument `name` and the options --title and --root of `netlab new-chapter` to its parser."""
    parser.add_argument("name", help="lowercase letters, digits and _, such as tcp_fairness")
    parser.add_argument("--title", help="the chapter's title (default: the name, such as 'Tcp fairness')")
    parser.add_argument(
        "--root", type=Path, default=Path(), metavar="DIRECTORY", help="a clone of netlab (default: here)"
    )


def main(options: argparse.Namespace) -> int:
    """Create the chapter that the options `name`, `title` and `root` of `netlab new-chapter` describe, and print its
    files and the next steps; return the exit status 0. Raises NetlabError for an invalid or taken name, an invalid
    title, or a directory `root` that is not a clone or cannot be written.
    """
    root = options.root.resolve()
    written = create(options.name, root, options.title)
    sys.stdout.writelines(f"wrote {path.relative_to(root)}\n" for path in written)
    source = written[0].relative_to(root)
    sys.stdout.write("\n" + NEXT_STEPS.format(root=root, name=options.name, stem=source.stem, source=source) + "\n")
    return 0


def create(name: str, root: Path, title: str | None = None) -> list[Path]:
    """Create the files of a chapter with this name and title (None: made from the name) in the clone `root`, all or
    none; return their paths, the source first. Raises NetlabError when the name is invalid or taken, the title is
    invalid, or `root` is not a clone that can be written.

    A name has at most 30 lowercase letters, digits and _, and starts with a letter; a title has at most 40 characters
    and is derived from the name by default.
    """
    missing = [
        place
        for place in ("solutions/examiners", "netlab_course/chapters", "tests/chapters")
        if not (root / place).is_dir()
    ]
    if missing:
        raise NetlabError(f"{root} has no {' and no '.join(missing)}: not a netlab clone; cd into one or pass --root.")
    _require_good_name(name)
    title = _checked_title(name.replace("_", " ").capitalize() if title is None else title)
    numbers = [int(path.name[:2]) for path in (root / "solutions").glob("[0-9][0-9]_*.py")]
    number = max(numbers, default=0) + 1
    if number > MAX_CHAPTERS:
        raise NetlabError(f"The last chapter has the number {number - 1}, and a number has two digits.")

    def fill_in(text: str) -> str:
        """Return a template's text or path with the chapter's name, number (two digits) and title in place of @NAME@,
        @NUMBER@ and @TITLE@.
        """
        return text.replace("@NAME@", name).replace("@NUMBER@", f"{number:02}").replace("@TITLE@", title)

    places = [fill_in(place) for place in PLACES]
    existing = [place for place in [*places, f"tests/chapters/{name}.py"] if (root / place).exists()]
    existing += [str(path.relative_to(root)) for path in (root / "solutions").glob(f"[0-9][0-9]_{name}.*")]
    if existing:
        raise NetlabError(
            f"There is a chapter {name} already: {', '.join(sorted(set(existing)))}. Choose another name."
        )
    skeleton = importlib.resources.files("netlab_course.new_chapter") / "skeleton"
    texts = {fill_in(path): fill_in((skeleton / template).read_text("utf-8")) for template, path in FILES.items()}
    _write_files(texts, places, root)
    return [root / path for path in texts]


def _require_good_name(name: str) -> None:
    """Raise NetlabError unless a chapter's name has 1 to 30 lowercase letters, digits and _, begins with a letter, and
    is not a Python keyword.
    """
    if not re.fullmatch(rf"[a-z][a-z0-9_]{{0,{MAX_NAME_LENGTH - 1}}}", name) or keyword.iskeyword(name):
        raise NetlabError(
            f"name must be at most {MAX_NAME_LENGTH} lowercase letters, digits and _, a letter first, and not a Python keyword; "
            f"got {name!r}. An example: tcp_fairness."
        )


def _checked_title(title: str) -> str:
    """Return the title of a chapter unchanged; raise NetlabError unless it has 1 to 40 printable characters without ",
    @ and backslash, and no spaces around it.
    """
    if (
        not 1 <= len(title) <= MAX_TITLE_LENGTH
        or not title.isprintable()
        or set(title) & set('"\\@')
        or title != title.strip()
    ):
        raise NetlabError(
            f'title must have 1 to {MAX_TITLE_LENGTH} characters, none of them " \\ @, on one line; got {title!r}.'
        )
    return title


def _write_files(texts: dict[str, str], places: list[str], root: Path) -> None:
    """Write all files (texts by path below the clone `root`) to a temporary folder, then move `places`, the paths of
    the files or folders that they fill, to `root`. If that fails, remove what was moved and raise NetlabError.
    """
    moved: list[Path] = []
    try:
        with tempfile.TemporaryDirectory(prefix=".new-chapter-", dir=root) as directory:
            stage = Path(directory)
            for path, text in texts.items():
                (stage / path).parent.mkdir(parents=True, exist_ok=True)
                (stage / path).write_text(text, encoding="utf-8")
            for place in places:
                # A rename replaces no folder that contains files, and never moves half a folder.
                (stage / place).rename(root / place)
                moved.append(root / place)
    except OSError as error:
        for there in moved:
            if there.is_dir():
                shutil.rmtree(there)
            else:
                there.unlink()
        raise NetlabError(f"Nothing was written: {error.strerror} ({error.filename}).") from None
