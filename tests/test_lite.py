"""The course as a page in a browser: what it is made of, and a run in it."""

import gzip
import importlib
import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import zstandard

import netlab
from netlab_course.lab_command import DEFAULTS
from tests.built_page import require_page

ROOT = Path(netlab.__file__).parents[1]
PROGRAM = """
import json
import sys
import pandas as pd
import netlab as nl
import plotly.graph_objects as go
from netlab.base.errors import RunError
from netlab_user_code import method_calls
assert go.Sankey(node={"label": ["a"]}).node.label == ("a",)  # which no chapter imports
assert "delay_ms" in nl.Link.__doc__ and "by" in pd.DataFrame.groupby.__doc__  # help() has its text
topology = nl.topologies.dumbbell(2, rate_mbps=5, delay_ms=10, queue_packets=50)
assert "https://cdn.plot.ly/plotly-" in nl.plots.page_html(nl.plots.topology(topology))
traffic = [nl.Tcp("h1", "h3"), nl.Udp("h2", "h4", rate_mbps=1, spacing="random")]
runs = nl.sweep([nl.Scenario(topology, traffic, duration_s=3, seed=seed) for seed in (1, 2)], engine="library")

class Own:
    def on_start(self, flow):
        self.flow = flow

    def on_ack(self, ack):
        assert sys.gettrace() is None  # which would make a call take five times as long
        self.flow.cwnd_segments += 1 / self.flow.cwnd_segments

class Endless(Own):
    def on_ack(self, ack):
        while True:
            pass

runs.append(nl.run(topology, [nl.Tcp("h1", "h3", congestion=Own)], duration_s=1, engine="library", progress=False))
method_calls.MAX_CALL_S = 0.1
shown = []
sys.excepthook = lambda *seen: shown.append(seen)  # IPython makes the cell fail with it
try:
    nl.run(topology, [nl.Tcp("h1", "h3", congestion=Endless)], duration_s=1, engine="library", progress=False)
except RunError as error:
    assert "Endless.on_ack ended the run" in str(error), error
else:
    raise AssertionError("nothing stopped a call that never ends")
assert not shown, "an error that was caught was shown as well"
captures = [nl.Capture("h1", "r1"), nl.Capture("r1", "r2")]  # on the first, segments that are cut into frames
runs.append(nl.run(topology, traffic, duration_s=1, captures=captures, engine="library", progress=False))
print(json.dumps([[json.loads(table.to_json()) for table in (run.flows, run.queues, run.packets)] for run in runs]))
"""


def tool(name: str) -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def lite() -> ModuleType:
    return tool("lite")


@pytest.fixture(scope="module")
def bytecode() -> ModuleType:
    return tool("bytecode")


@pytest.fixture(scope="module")
def packs() -> ModuleType:
    return tool("packs")


def test_a_wheel_is_entered_by_the_names_that_cells_import(lite: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "some_thing-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("some/__init__.py", "some/part.py", "other.py", "some_thing-1.2.dist-info/METADATA"):
            archive.writestr(name, "")
    entry = lite.lock_entry(path, ["numpy"])
    assert (entry["name"], entry["version"], entry["imports"]) == ("some-thing", "1.2", ["other", "some"])


def test_only_needed_parts_are_taken(lite: ModuleType) -> None:
    packages = {"a": {"depends": ["b_c"]}, "b-c": {"depends": []}, "d": {"depends": ["a"]}}
    assert lite.with_needs(("a",), packages) == {"a", "b-c"}


def test_file_that_differs_from_the_lock_file_is_refused(
    lite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lite, "CORE", ())
    monkeypatch.setattr(lite, "NEEDED_PACKAGES", ("numpy",))
    (tmp_path / "numpy.whl").write_bytes(b"other")
    lock = {"packages": {"numpy": {"depends": [], "file_name": "numpy.whl", "sha256": "0" * 64}}}
    (tmp_path / "pyodide-lock.json").write_text(json.dumps(lock))
    with pytest.raises(ValueError, match=r"numpy\.whl is another file"):
        lite.put_pyodide(tmp_path, tmp_path / "target", [])


def test_notebook_server_modules_are_left_out_of_a_wheel(lite: ModuleType, tmp_path: Path) -> None:
    wheel = tmp_path / "plotly-1-py3-none-any.whl"
    kept = ["plotly/__init__.py", "plotly/package_data/templates/plotly.json", "plotly-1.dist-info/METADATA"]
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in (
            *kept,
            "plotly/package_data/plotly.min.js",
            "plotly-1.data/data/share/x.js",
            "plotly/labextension/x.js",
        ):
            archive.writestr(name, name)
    (tmp_path / "lean").mkdir()
    with zipfile.ZipFile(lite.strip_wheel(wheel, tmp_path / "lean")) as archive:
        assert archive.namelist() == kept


@pytest.mark.parametrize(
    ("name", "kept"),
    [("other", set()), ("netlab", {"a/one.py"})],
)
def test_bytecode_replaces_source_and_is_next_to_netlabs(
    bytecode: ModuleType, tmp_path: Path, name: str, kept: set[str]
) -> None:
    wheel = tmp_path / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for inside in ("a/one.py", "a/two.py", "a/data.txt"):
            archive.writestr(inside, inside)
    bytecode.replace(wheel, {"a/one.py": ("a/__pycache__/one.cpython-312.pyc", b"code"), "b.py": ("", b"other")})
    with zipfile.ZipFile(wheel) as archive:
        code = "a/__pycache__/one.cpython-312.pyc" if kept else "a/one.pyc"
        assert set(archive.namelist()) == {"a/two.py", "a/data.txt", code} | kept
        assert archive.read(code) == b"code"
        assert archive.read("a/data.txt") == b"a/data.txt"


def unpack(pack: Path) -> dict[str, bytes]:
    opened = io.BytesIO(zstandard.decompress(pack.read_bytes()))
    files = {name: opened.read(size) for name, size in json.loads(opened.readline())}
    assert not opened.read()
    return files


def test_a_distribution_becomes_packs_and_an_archive_of_uncompiled_files(packs: ModuleType, tmp_path: Path) -> None:
    for archive, names in {
        "python_stdlib.zip": ["json/__init__.pyc", "json/tool.py"],
        "some-1-py3-none-any.whl": ["some/__init__.pyc", "some/data.json", "some-1.dist-info/LICENSE"],
        "netlab-1-py3-none-any.whl": ["netlab/rarely.py"],
    }.items():
        with zipfile.ZipFile(tmp_path / archive, "w") as opened:
            for name in names:
                opened.writestr(name, name)
    for name in packs.ENGINE:
        (tmp_path / name).write_bytes(name.encode())
    written = packs.put(tmp_path, "finder")
    assert set(unpack(tmp_path / written["netlab"])) == {f"{packs.SITE}/netlab/rarely.py"}
    python = unpack(tmp_path / written["python"])
    assert python[f"{packs.LIB}/json/__init__.pyc"] == b"json/__init__.pyc"
    assert python[f"{packs.SITE}/some/data.json"] == b"some/data.json"
    assert python[f"{packs.SITE}/_others.txt"] == b"json.tool"
    with zipfile.ZipFile(io.BytesIO(zstandard.decompress((tmp_path / written["others"]).read_bytes()))) as others:
        assert set(others.namelist()) == {"json/tool.py", "some-1.dist-info/LICENSE"}
    assert {path.name for path in tmp_path.iterdir()} == {*written.values(), "python_stdlib.zip"}
    assert zstandard.decompress((tmp_path / written["pyodide.asm.wasm"]).read_bytes()) == b"pyodide.asm.wasm"


@pytest.mark.parametrize("program", ["node", "npm"])
def test_a_page_without_node_js_or_npm_is_refused_before_anything_is_made(
    lite: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], program: str
) -> None:
    monkeypatch.setattr(lite.shutil, "which", lambda name: None if name == program else f"/usr/bin/{name}")
    monkeypatch.setattr(lite.wheel, "make_portable", lambda: pytest.fail("something was made"))
    monkeypatch.setattr(sys, "argv", ["lite.py"])
    assert lite.main() == 1
    output = capsys.readouterr().err
    assert f" {program} missing" in output and "sudo apt-get install nodejs npm" in output and output.count("\n") == 1


def test_a_page_whose_decoder_npm_cannot_fetch_is_refused_before_anything_is_made(
    lite: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for program in ("node", "npm"):
        (tmp_path / program).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(lite, "WORK", tmp_path / "work")
    monkeypatch.setattr(lite.wheel, "make_portable", lambda: pytest.fail("something was made"))
    monkeypatch.setattr(sys, "argv", ["lite.py"])
    assert lite.main() == 1
    assert "npm could not fetch the package zstddec" in capsys.readouterr().err


def test_a_decoder_of_another_form_is_refused(
    lite: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = tmp_path / "npm" / "node_modules" / "zstddec"
    (module / "dist").mkdir(parents=True)
    (module / "LICENSE").write_text("MIT\n")
    shutil.copy(ROOT / "tools" / "page" / "npm" / "package-lock.json", tmp_path / "npm")
    monkeypatch.setattr(lite, "WORK", tmp_path)
    (module / "dist" / "zstddec.mjs").write_text("class ZSTDDecoder {}\nexport { ZSTDDecoder };\n")
    code = "function zstandard() {\nclass ZSTDDecoder {}\nreturn new ZSTDDecoder();\n}\n"
    assert lite.decoder() == f"/*\nMIT\n*/\n{code}"
    (module / "dist" / "zstddec.mjs").write_text("export default 1;\n")
    with pytest.raises(ValueError, match="does not export ZSTDDecoder"):
        lite.decoder()


def test_an_empty_wheel_is_entered_and_offers_nothing_to_import(lite: ModuleType, tmp_path: Path) -> None:
    assert lite.lock_entry(lite.empty_wheel("jedi", tmp_path), [])["imports"] == []


def test_large_script_is_packed_unless_it_needs_its_own_address(lite: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "extensions" / "@a" / "b" / "static").mkdir(parents=True)
    text = "x" * 2 * lite.SMALL_BYTES
    for name in ("build/12.0abcdef.js", "build/bundle.js", "extensions/@a/b/static/remoteEntry.0abcdef0.js"):
        (tmp_path / name).write_text(text)
    (tmp_path / "build" / "13.0abcdef.js").write_text("small")
    assert lite.pack_scripts(tmp_path) == ["build/12.0abcdef.js"]
    assert gzip.decompress((tmp_path / "build" / "12.0abcdef.js.bin").read_bytes()).decode() == text


@pytest.fixture(scope="module")
def in_a_page() -> dict[str, Any]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    command = [node, "tests/in_a_page.mjs", "tools/page/stored_files.js", "tools/page/loading.js"]
    text: dict[str, Any] = json.loads(subprocess.check_output(command, text=True, timeout=60, cwd=ROOT))
    return text


@pytest.mark.slow
def test_text_typed_during_a_save_is_saved_after_it(in_a_page: dict[str, Any]) -> None:
    assert in_a_page["saved"] == ["an answer", "another answer"]
    assert in_a_page["together"] == 1


def test_text_typed_while_a_tab_closes_is_restored_at_the_next_visit(in_a_page: dict[str, Any]) -> None:
    opened, left, kept = in_a_page["drafts"]
    assert (opened, left) == (["typed as the tab was closed", "the same"], 0)
    assert kept == [["a", "typed as the tab was closed"], ["b", "the same"]]


def test_the_file_menu_offers_once_to_download(in_a_page: dict[str, Any]) -> None:
    assert in_a_page["file"] == ["docmanager:save", "docmanager:download"]


def test_the_first_chapter_opens_in_place_of_a_deleted_one_without_an_error_or_a_reload(
    in_a_page: dict[str, Any],
) -> None:
    assert in_a_page["gone"] == {
        "address": "?path=gone.ipynb",
        "opened": ["docmanager:open first.ipynb"],
        "widgets": [],
        "kept": [],
        "again": "no answer",
        "other": "no other.ipynb",
    }


@pytest.mark.parametrize(("store", "fetched"), [("roomy", 1), ("full", 3), ("none", 3)])
def test_file_is_fetched_with_and_without_a_browser_cache(in_a_page: dict[str, Any], store: str, fetched: int) -> None:
    assert in_a_page[store] == {"fetched": fetched, "texts": ["content"] * 3}


def test_texts_that_are_lists_of_lines_are_joined_when_a_notebook_is_opened(in_a_page: dict[str, Any]) -> None:
    text, page = in_a_page["opened"]
    assert text == {"text": "one\ntwo\n"}
    assert page == {"data": {"text/html": "<p>\n</p>", "application/json": [1, 2]}}


@pytest.fixture
def page() -> Path:
    return require_page()


def test_the_page_has_its_own_python_and_contacts_no_other_site(page: Path, lite: ModuleType) -> None:
    settings = json.loads((page / "jupyter-lite.json").read_text())["jupyter-config-data"]
    kernel = settings["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    assert kernel["pyodideUrl"] == "./static/pyodide/pyodide.js"
    assert kernel["disablePyPIFallback"] is True
    assert kernel["loadPyodideOptions"] == lite.AT_START


def test_the_page_has_the_settings_of_netlab_lab(page: Path) -> None:
    overrides = json.loads((page / "jupyter-lite.json").read_text())["jupyter-config-data"]["settingsOverrides"]
    assert overrides.items() >= DEFAULTS.items()


def test_the_first_visit_fetches_less_than_17_mb_and_later_ones_less_than_4(page: Path) -> None:
    script = (page / "static" / "netlab" / "loading.js").read_text()
    files = json.loads(script.partition("FILES = ")[2].partition(";")[0])
    assert all((page / "static" / "pyodide" / name).stat().st_size == size for name, size in files)
    assert 12e6 < sum(size for _, size in files) < 17e6
    assert next((page / "static" / "pyodide").glob("others.*.bin")).stat().st_size < 4e6
    assert '<script src="../static/netlab/loading.js" defer>' in (page / "lab" / "index.html").read_text()


def test_imports_of_a_chapter_are_compiled_and_loaded_ahead(page: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("Node.js compiles it")
    names = {
        name.removeprefix("/lib/python3.12/").removeprefix("site-packages/")
        for use in ("python", "netlab")
        for name in unpack(next((page / "static" / "pyodide").glob(f"{use}.*.bin")))
    }
    modules = {"json/__init__", "pandas/__init__", "plotly/graph_objs/_scatter", "pyodide_kernel/__init__"}
    assert {f"{module}.pyc" for module in modules} <= names
    assert not {f"{module}.py" for module in modules} & names
    assert not [name for name in names if "scipy" in name or "openblas" in name]
    assert {"netlab/__init__.py", "netlab/__pycache__/__init__.cpython-312.pyc"} <= names
    script = (page / "static" / "netlab" / "loading.js").read_text()
    program = json.loads(script.partition("PRELOAD = ")[2].partition("; //")[0])
    assert "import netlab as nl" in compile(program, "ahead", "exec").co_consts[0]


@pytest.mark.library
def test_runs_in_pyodide_give_the_numbers_that_they_give_here(page: Path, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js runs it")
    (tmp_path / "program.py").write_text(PROGRAM)
    pyodide = [str(place / "static" / "pyodide") for place in (ROOT / "build" / "parts" / "page", page)]
    inside = [node, str(ROOT / "tests" / "in_pyodide.mjs"), *pyodide, str(tmp_path / "program.py")]
    output = [
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=600, cwd=ROOT).stdout
        for command in (inside, [sys.executable, str(tmp_path / "program.py")])
    ]
    assert json.loads(output[0]) == json.loads(output[1])
