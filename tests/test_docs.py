"""Links, named files and names of pages in the documentation."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab.base.location import PACKAGES
from netlab.commands import cli
from netlab.network.link import LinkShape
from tests.programs import load

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / f"{page}.md" for page in ("README", "DESIGN", "CONTRIBUTING")),
    *(ROOT / package / "README.md" for package in PACKAGES),
    *sorted(DOCS.rglob("*.md")),
]
EXAMPLE = re.compile(r"[A-Z]{3}|/[xy]\b")
"""A name in a path that stands for any name: netlab/traffic/KIND.py, tests/x/test_y.py."""
GENERATED = {"build", "dist", "netlab.egg-info"}
MAX_MODULE_LINES = 500
CODE = (".py", ".sh", ".toml", ".yml", ".yaml", ".j2", ".js", ".lock", "Makefile", "Dockerfile")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as repository hosts and MyST make them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_to_a_file_and_a_heading_that_exist(page: Path) -> None:
    # The site has its first page next to the folders of the documentation.
    folder = DOCS if page == DOCS / "site" / "index.md" else page.parent
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", page.read_text()):
        target = (folder / link).resolve() if link else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), (link, anchor)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_file_of_the_clone_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(
        r"(?<![\w/.-])((?:netlab\w*|tests|vm|tools|binder|benchmarks)/[\w/.-]*\w\.\w+|environment\.yml)",
        page.read_text(),
    )
    named = [file for file in named if not EXAMPLE.search(file)]
    assert not [file for file in named if not (ROOT / file).is_file()]


def test_every_page_that_code_or_a_chapter_names_exists() -> None:
    folders = [path for path in ROOT.iterdir() if path.name not in GENERATED and not path.name.startswith(".")]
    files = [file for path in folders for file in ([path] if path.is_file() else path.rglob("*"))]
    sources = [file for file in files if file.name.endswith(CODE) and file.is_file()]
    assert len(sources) > 500
    for file in sources:
        for page in re.findall(r"(?<![\w/])docs/[\w/-]+\.md", file.read_text(encoding="utf-8")):
            assert (ROOT / page).is_file(), (name(file), page)


@pytest.mark.parametrize(
    "topic",
    [
        pytest.param("first_run", marks=pytest.mark.library),
        pytest.param("first_topology", marks=pytest.mark.library),
        pytest.param("live", marks=pytest.mark.pocket),
    ],
)
def test_the_code_of_a_tutorial_prints_what_the_page_shows(topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_PROGRESS", "0")
    page = DOCS / "tutorial" / f"{topic}.md"
    found: dict[str, Any] = {}
    printed = io.StringIO()
    try:
        for language, block in re.findall(r"```(python|text)\n(.*?)```", page.read_text(), re.DOTALL):
            if language == "text":
                assert printed.getvalue().rstrip() == block.rstrip()
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block, str(page), "exec"), found)  # noqa: S102 (the page is ours)
    finally:
        if "panel" in found:
            found["panel"].close()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_installs_into_the_python_of_a_system_that_refuses(page: Path) -> None:
    blocks = re.findall(r"(?:^ {4,}.*\n)+", page.read_text(), re.MULTILINE)
    for block in (block for block in blocks if re.search(r"^ +pip install", block, re.MULTILINE)):
        assert re.search("-m venv|conda create", block.partition("pip install")[0]), block


def words(page: Path) -> int:
    return len(page.read_text().split())


def test_the_documentation_is_short() -> None:
    readme, design, contributing = PAGES[:3]
    assert words(readme) <= 900 and len(re.findall(r"!\[", readme.read_text())) == 1
    assert words(design) <= 900
    assert len(contributing.read_text().splitlines()) <= 60
    counted = [*PAGES[:3], *(page for page in DOCS.rglob("*.md") if page.parent != DOCS / "evidence")]
    assert sum(map(words, counted)) <= 22_000, "shorten the page that you changed, or another one"


def test_the_core_package_is_small() -> None:
    modules = (DOCS.parent / "netlab").rglob("*.py")
    assert sum(len(module.read_text().splitlines()) for module in modules) <= 14_500, "move code to another package"


def test_no_module_is_long() -> None:
    modules = [
        path for folder in (*PACKAGES, "tests", "benchmarks", "tools", "vm") for path in (ROOT / folder).rglob("*.py")
    ]
    lines = {name(module): len(module.read_text().splitlines()) for module in modules}
    too_long = {module: count for module, count in lines.items() if count > MAX_MODULE_LINES}
    assert not too_long, "split a module by what its parts do"


def test_the_architecture_names_every_package_and_the_page_of_a_package_all_its_parts() -> None:
    rows = re.findall(r"^\| \[`(\w+)`\]", (DOCS / "contributing" / "architecture.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(PACKAGES)
    for package in PACKAGES:
        parts = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
        assert parts <= set(re.findall(r"\w+", (ROOT / package / "README.md").read_text())), package


def test_the_reference_names_every_command_and_every_target_of_make() -> None:
    page = (DOCS / "reference" / "cli.md").read_text()
    missing = [command for command in cli.commands() if f"netlab {command}" not in page]
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert not missing + [target for target in targets if f"make {target}" not in page]


def test_the_reference_names_every_field_of_a_scenario_file() -> None:
    page = (DOCS / "reference" / "scenario_file.md").read_text()
    kinds = (nl.Scenario, LinkShape, nl.Tcp, nl.Udp, nl.Ping, nl.Command, nl.Capture)
    fields = {field.name for kind in kinds for field in dataclasses.fields(kind)}
    assert fields | {"at_s", "link", "number", "up", "reverse"} <= set(re.findall(r"\w+", page))


def test_the_table_of_traffic_has_the_fields_of_the_classes() -> None:
    page = (DOCS / "reference" / "scenario_file.md").read_text()
    program = load("tools/scenario_fields.py")
    assert program.rewrite_page(page) == page, "run `.venv/bin/python tools/scenario_fields.py`"
    assert program.rewrite_page(page.replace("`window_bytes`, ", "")) == page
