"""Make the site: the chapters as students see them, the documentation, replication report, API; for instructors the solved pages too.

`python tools/site.py` builds both sites into build/site; names of chapters as arguments build with those only.
"""

from __future__ import annotations

import argparse
import copy
import html
import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from plotly.offline import get_plotlyjs

import netlab
from netlab_course.authoring import Chapter, chapters, execute, student_notebook
from netlab_course.catalogue import Entry

ROOT = Path(__file__).resolve().parent.parent
LITE = ROOT / "build" / "lite"
LINK = '<a href="../lite/lab/index.html?path={name}.ipynb">Run this page in your browser</a>. Nothing is installed.'
# The theme loads a page's scripts at its end; a figure needs this one before.
OWN_SCRIPT = '<script src="../_static/plotly.min.js"></script>'
# Corrections of problems that axe-core finds in the theme's pages.
CORRECTIONS = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Contents">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ('<div class="highlight"><pre>', '<div class="highlight"><pre tabindex="0">'),
    ('<div id="search-results"></div>', '<h1>Search</h1><div id="search-results"></div>'),
    ('<div class="table-wrapper ', '<div tabindex="0" class="table-wrapper '),
    # The words of a folded cell are its name: "Show code cell source".
    ('<summary aria-label="Toggle hidden content">', "<summary>"),
)
CONTRIBUTING = "contributing"
MENU = ("tutorial", "how-to", "reference", "explanation", CONTRIBUTING)
EVIDENCE = "evidence"
GUIDES_FOR_INSTRUCTORS = ("how-to/grade", "how-to/contest", "how-to/hub")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ASK_AXE = """
window.addEventListener("load", () => axe.run().then(found => {
  const answer = document.createElement("pre");
  answer.id = "axe-answer";
  const short = found.violations.map(v => ({impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 4).map(n => n.html.slice(0, 80))}));
  answer.textContent = JSON.stringify(short);
  document.body.append(answer);
}));
"""
NO_REPORT = (
    "# Replication report\n\n`netlab replicate --output report` measures every published number again and writes it.\n"
)
CDN_SCRIPT = re.compile(r'<script[^>]*src="https://cdn\.plot\.ly/[^"]*"[^>]*></script>')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="chapter", help="such as 01_udp_loss (default: all)")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site", metavar="DIRECTORY")
    parser.add_argument("--report", type=Path, metavar="DIRECTORY", help="a report that `netlab replicate` has written")
    options = parser.parse_args()
    chosen = [chapter for chapter in chapters(ROOT) if not options.names or chapter.source.stem in options.names]
    unknown = set(options.names) - {chapter.source.stem for chapter in chosen}
    if unknown:
        print(
            f"No chapter {', '.join(sorted(unknown))}; there are: {', '.join(c.source.stem for c in chapters(ROOT))}."
        )
        return 2
    with_page = (LITE / "index.html").is_file()
    if not with_page:
        print('There is no build/lite (`make lite`): the chapters have no link "Run this page in your browser".')
    executed = {}
    for number, chapter in enumerate(chosen, start=1):
        print(f"chapter {number} of {len(chosen)}: {chapter.source.stem}", flush=True)
        executed[chapter] = execute(student_notebook(chapter.source), chapter.student.parent)
    for audience in ("students", "instructors"):
        problems = _build(options.output / audience, executed, options.report, audience, with_page=with_page)
        if problems:
            print(*problems, sep="\n  ")
            return 1
        print(f"{audience}: {options.output / audience / 'html' / 'index.html'}")
    return 0


def _build(
    folder: Path, executed: dict[Chapter, NotebookNode], report: Path | None, audience: str, *, with_page: bool
) -> list[str]:
    """Make one of the two sites; returns what is wrong with it."""
    shutil.rmtree(folder, ignore_errors=True)
    source, target = folder / "source", folder / "html"
    for_instructors = audience == "instructors"
    links = with_page and not for_instructors
    _put_together(source, executed, report, for_instructors=for_instructors, links=links)
    if _sphinx(source, target, audience):
        return ["Sphinx could not make the site."]
    for page in target.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for was, instead in CORRECTIONS:
            text = text.replace(was, instead)
        page.write_text(text, encoding="utf-8")
    if not for_instructors:
        solved = [str(page) for page in source.rglob("*.ipynb") if "SOLUTION" in page.read_text(encoding="utf-8")]
        if solved:
            return ["The students' site holds solutions:", *solved]
    barriers = _barriers(_to_ask_about(target, for_instructors=for_instructors)) if CHROMIUM else []
    if barriers:
        return ["These keep people out of the site (axe-core):", *barriers]
    if links:
        shutil.copytree(LITE, target / "lite")
    return []


def _put_together(
    source: Path, executed: dict[Chapter, NotebookNode], report: Path | None, *, for_instructors: bool, links: bool
) -> None:
    shutil.copytree(ROOT / "docs" / "site", source)
    (source / "_static" / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "pictures", source / "pictures")
    _copy_pages(source, [chapter.source.stem for chapter in executed], for_instructors=for_instructors)
    for folder, notebooks in (
        ("chapters", {chapter.source.stem: notebook for chapter, notebook in executed.items()}),
        ("solutions", {c.source.stem: nbformat.read(c.solution, 4) for c in executed} if for_instructors else {}),  # type: ignore[no-untyped-call]
    ):
        for name, notebook in notebooks.items():
            (source / folder).mkdir(exist_ok=True)
            if links:
                notebook = copy.deepcopy(notebook)  # noqa: PLW2901 - the instructors' page has no link
                notebook.cells.insert(1, nbformat.v4.new_markdown_cell(LINK.format(name=name)))  # type: ignore[no-untyped-call]
            nbformat.write(_for_a_page(notebook), source / folder / f"{name}.ipynb")  # type: ignore[no-untyped-call]
    words = {
        "CHAPTERS": _table_of_chapters(list(executed)),
        "SOLUTIONS": _tree("Solved chapters", "solutions/*") if for_instructors else "",
        "GUIDES": "\n".join(GUIDES_FOR_INSTRUCTORS) if for_instructors else "",
        "CONTRIBUTING": _tree("Contributing", "contributing/*") if for_instructors else "",
        "API": _api(),
    }
    for path in (source / "index.md", source / "reference" / "api.md"):
        text = path.read_text(encoding="utf-8")
        for word, instead in words.items():
            text = text.replace("{{" + word + "}}", instead)
        path.write_text(text, encoding="utf-8")
    found = sorted(report.glob("*.md")) if report else []
    text = _without_links(found[0].read_text(encoding="utf-8")) if found else NO_REPORT
    (source / "reference" / "report.md").write_text(text, encoding="utf-8")


def _copy_pages(source: Path, chapters_here: list[str], *, for_instructors: bool) -> None:
    """Copy the documentation. Evidence is linked from pages and is in no menu, as in the students' site the guides for
    instructors and for contributors.
    """
    for folder in (*MENU, EVIDENCE):
        for page in sorted((ROOT / "docs" / folder).glob("*.md")):
            text = _site_links(page, chapters_here)
            (source / folder).mkdir(exist_ok=True)
            others = f"{folder}/{page.stem}" in GUIDES_FOR_INSTRUCTORS or folder == CONTRIBUTING
            in_no_menu = folder == EVIDENCE or (others and not for_instructors)
            orphan = "---\norphan: true\n---\n\n" if in_no_menu else ""
            (source / folder / page.name).write_text(orphan + text, encoding="utf-8")


def _site_links(page: Path, chapters_here: list[str]) -> str:
    """Return a page's text. Links to notebooks lead to chapters of the site; of links to other files of the clone, the words stay."""

    def site_link(link: re.Match[str]) -> str:
        target = (page.parent / link[2]).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return link[0]
        if target.parent == ROOT / "notebooks" and target.stem in chapters_here:
            return f"[{link[1]}](../chapters/{target.name})"
        return link[1]

    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)#]*)(#[^)]*)?\)", site_link, page.read_text(encoding="utf-8"))


def _for_a_page(notebook: NotebookNode) -> NotebookNode:
    """Let figures take Plotly from the site itself, and fold what is folded in the notebook."""
    for cell in notebook.cells:
        tags = cell.metadata.setdefault("tags", [])
        if "folded" in tags and "hide-input" not in tags:
            tags.append("hide-input")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/html" in data:
                data["text/html"] = CDN_SCRIPT.sub(OWN_SCRIPT, data["text/html"])
                data.pop("application/vnd.plotly.v1+json", None)
    return notebook


def _table_of_chapters(chosen: list[Chapter]) -> str:
    rows = ["| chapter | the question | minutes |", "|---|---|---|"]
    for chapter in chosen:
        entry = Entry(chapter.student)
        rows.append(f"| [{entry.title}](chapters/{entry.stem}.ipynb) | {entry.question} | {entry.minutes} |")
    return "\n".join(rows)


def _tree(caption: str, glob: str) -> str:
    return f"```{{toctree}}\n:caption: {caption}\n:hidden:\n:glob:\n{glob}\n```"


def _api() -> str:
    parts = []
    for name in sorted(netlab.__all__):
        value = getattr(netlab, name)
        parts.append(f"## `nl.{name}`\n")
        if inspect.ismodule(value):
            parts += [str(inspect.getdoc(value)), ""]
            own = [word for word, it in vars(value).items() if getattr(it, "__module__", "") == value.__name__]
            public = getattr(value, "__all__", [word for word in own if not word.startswith("_")])
            parts += [_directive(getattr(value, word)) for word in sorted(public)]
        else:
            parts.append(_directive(value))
    return "\n".join(parts)


def _directive(value: object) -> str:
    """Return what makes Sphinx print a function's or a class's docstring; "" for anything else, or another package's."""
    if not getattr(value, "__module__", "").startswith("netlab") or not hasattr(value, "__qualname__"):
        return ""
    kind, options = ("autoclass", "\n   :members:") if isinstance(value, type) else ("autofunction", "")
    return f"```{{eval-rst}}\n.. {kind}:: {value.__module__}.{value.__qualname__}{options}\n```\n"


def _without_links(text: str) -> str:
    """Replace a link to a file of the clone by its text; pictures stay."""
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)[^)]*\)", r"\1", text)


def _sphinx(source: Path, target: Path, audience: str) -> int:
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html", str(source), str(target)]
    return subprocess.run(words, env={**os.environ, "NETLAB_SITE": audience}, check=False).returncode


def _to_ask_about(site: Path, *, for_instructors: bool) -> list[Path]:
    """Return the pages that this build has and the other has not; for students' all chapters, and the largest page of each folder."""
    if for_instructors:
        return sorted((site / "solutions").glob("*.html"))
    largest = [max((site / folder).glob("*.html"), key=lambda page: page.stat().st_size) for folder in MENU]
    return sorted([*site.glob("*.html"), *(site / "chapters").glob("*.html"), *largest])


def _barriers(pages: list[Path]) -> list[str]:
    """Say what axe-core finds on the pages, in Chromium."""
    script = Path(str(importlib.util.find_spec("axe_core_python").origin)).with_name("axe.min.js")  # type: ignore[union-attr]
    found = []
    for page in pages:
        copy = page.with_name(f"axe-{page.name}")
        text = page.read_text(encoding="utf-8")
        asked = f"<script>{script.read_text(encoding='utf-8')}</script><script>{ASK_AXE}</script></body>"
        copy.write_text(text.replace("</body>", asked), encoding="utf-8")
        words = [
            str(CHROMIUM),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=30000",
            "--dump-dom",
        ]
        done = subprocess.run([*words, copy.as_uri()], capture_output=True, text=True, check=True, timeout=300)
        copy.unlink()
        answer = re.search(r'<pre id="axe-answer">(.*?)</pre>', done.stdout, flags=re.DOTALL)
        if answer is None:
            found.append(f"{page.name}: axe-core gave no answer")
            continue
        found += [
            f"{page.name}: {violation['impact']}: {violation['help']}: {', '.join(violation['nodes'])}"
            for violation in json.loads(html.unescape(answer[1]))
        ]
    return found


if __name__ == "__main__":
    sys.exit(main())
