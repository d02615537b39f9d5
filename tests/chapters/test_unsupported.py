"""On a machine that lacks something a chapter says what, and goes on."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import netlab as nl
from netlab import engines
from netlab.base.errors import EngineError, NotHereError
from netlab_course import page_style
from netlab_course.cell_history import defined_names
from netlab_course.chapters import unsupported
from netlab_course.chapters.unsupported import CellErrors
from netlab_engines import host_kernel, selection
from netlab_engines.library import LibraryEngine
from netlab_engines.native import NativeEngine

BEGIN = """
import netlab as nl
from netlab import engines
from netlab_course.chapters import start_here
from netlab_engines import host_kernel, native
host_kernel.missing_parts = lambda: ("tahoe",)
native.NativeEngine.requirements = lambda self: []
chapter = start_here.begin()
print(nl.preflight())
"""
WIFI = """
air = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", medium="802.11g")])
wireless = nl.run(air, [nl.Tcp("h1", "h2")])
"""
TAHOE = 'old = nl.sweep([nl.Scenario(nl.topologies.dumbbell(1), [nl.Tcp("h1", "h2", congestion="tahoe")])])'


def printed_by_cells(monkeypatch: pytest.MonkeyPatch, engine: str, *cells: str) -> list[str]:
    """Return the text that each cell prints; a cell that ends in an error raises."""
    monkeypatch.setenv("NETLAB_ENGINE", engine)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return ["".join(out.get("text", "") for out in cell.outputs) for cell in notebook.cells]


@pytest.mark.slow
def test_chapter_under_native_names_differences_and_skips_virtual_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cells = [BEGIN, WIFI, "wireless.flows", TAHOE, "print(2, nl.run_length_s(240, 60))"]
    first, air, later, tahoe, last = printed_by_cells(monkeypatch, "native", *cells)
    assert "native engine in real time" in first and "even with the same seed" in first
    assert "not available: Wi-Fi links, tahoe." in first and "'Not on this machine'" in first
    assert air.startswith("Not on this machine. The link h1-h2 has a medium")
    assert later == "Not on this machine. wireless has no value, because its cell needs what this machine lacks.\n"
    assert tahoe.startswith("Not on this machine. This experiment needs tahoe")
    assert last == "2 60\n"


@pytest.mark.library
def test_on_another_processor_commands_are_skipped_and_everything_else_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = "import platform; platform.machine = lambda: 'aarch64'; from netlab_engines import *\n"
    command = 'made = nl.run(nl.topologies.dumbbell(1), [nl.Command("h1", "true")], duration_s=1)'
    ping = (
        'print(nl.run(nl.topologies.dumbbell(1, delay_ms=10), [nl.Ping("h1", "h2")], duration_s=2).settings["engine"])'
    )
    monkeypatch.setenv("NETLAB_LIBRARY", str(LibraryEngine().kernel.path))
    first, left_out, ran = printed_by_cells(monkeypatch, "", arm + BEGIN, command, ping)
    assert "library engine in virtual time" in first and max(map(len, first.split("\n"))) <= selection.WIDTH
    assert "hosts can run only tc, ip and sysctl commands, and there are no Wi-Fi links." in " ".join(first.split())
    assert left_out.startswith("Not on this machine. The library engine has no programs") and "native" in left_out
    assert ran == "library\n"


@pytest.mark.library
def test_commands_and_wifi_alone_are_skipped_without_a_pocket_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command = 'made = nl.run(nl.topologies.dumbbell(1), [nl.Command("h1", "true")], duration_s=1)'
    ping = (
        'print(nl.run(nl.topologies.dumbbell(1, delay_ms=10), [nl.Ping("h1", "h2")], duration_s=2).settings["engine"])'
    )
    monkeypatch.setenv("NETLAB_LIBRARY", str(LibraryEngine().kernel.path))
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    first, left_out, air, later, ran = printed_by_cells(monkeypatch, "", BEGIN, command, WIFI, "wireless.flows", ping)
    assert "library engine in virtual time" in first and "'Not on this machine'" in first
    assert left_out.startswith("Not on this machine. The library engine has no programs")
    assert "There is no pocket kernel" in left_out and "netlab kernel build" in left_out
    assert air.startswith("Not on this machine. The link h1-h2 has a medium")
    assert later == "Not on this machine. wireless has no value, because its cell needs what this machine lacks.\n"
    assert ran == "library\n"


@pytest.mark.slow
def test_a_check_before_its_answer_asks_for_the_cell_and_shows_no_traceback() -> None:
    begin = "from netlab_course.chapters import start_here\nchapter = start_here.begin()"
    sources = [begin, "chapter.check.rtt(my_rtt_ms)", "my_rtt_ms = 1", "chapter.check.rtt(my_rtt_ms)", "print(my_rt)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    _, early, _, judged, slip = notebook.cells
    assert "Not checked: my_rtt_ms has no value yet. Run its cell above, then this check." in str(early.outputs)
    assert not [out for out in early.outputs if out.output_type == "error"]
    assert "my_rtt_ms has no value" not in str(judged.outputs) and judged.outputs
    assert [out.ename for out in slip.outputs] == ["NameError"]


@pytest.mark.slow
def test_advice_is_below_the_traceback_of_a_wrong_name_and_a_wrong_call() -> None:
    sources = [
        "import netlab as nl, pandas as pd\nfrom netlab_course.chapters import start_here\nchapter = start_here.begin()",
        'pd.Series({"goodput_mbps": 4.8, "kind": "tcp"})["goodput"]',
        "nl.theory.udp_loss_rate(10)",
        'nl.theory.udp_loss_rate("10", rate_mbps=5)',
        '{"a": 1}["b"]',
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    _, *text, plain = [cell.outputs for cell in notebook.cells]
    assert [error.ename for error, _ in text] == ["KeyError", "TypeError", "UFuncTypeError"]
    advice = [shown.data["text/plain"] for _, shown in text]
    assert advice[0] == "There is no 'goodput'; did you mean 'goodput_mbps'?"
    assert "nl.theory.udp_loss_rate(offered_mbps, rate_mbps," in " ".join(advice[1].split())
    assert advice[2].startswith("offered_mbps must be a number: got '10'")
    assert [out.output_type for out in plain] == ["error"]


class Shell:
    """IPython's shell with what the handlers use: `shown` has the errors whose traceback was shown."""

    def __init__(self) -> None:
        self.shown: list[BaseException] = []
        self.handler: Any = None

    def set_custom_exc(self, kinds: tuple[type, ...], handler: Any) -> None:
        assert kinds == (NameError,)
        self.handler = handler

    def showtraceback(self, raised: tuple[Any, BaseException, Any], tb_offset: int | None = None) -> None:
        self.shown.append(raised[1])


@pytest.mark.parametrize(("name", "advised"), [("chapter", True), ("nl", True), ("my_rtt_ms", False)])
def test_a_cell_before_the_first_one_is_told_to_run_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, advised: bool
) -> None:
    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    unsupported.await_first_cell()
    error = NameError(name=name)
    shell.handler(shell, NameError, error, None)
    assert shell.shown == [error]
    assert ("Run the cells from the beginning: Run > Run All" in " ".join(capsys.readouterr().out.split())) == advised


def test_a_page_that_is_loaded_again_leaves_the_handler_of_a_chapter(monkeypatch: pytest.MonkeyPatch) -> None:
    shell: Any = Shell()
    shell.netlab_cell_errors = CellErrors()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    unsupported.await_first_cell()
    assert shell.handler is None


def test_the_first_cell_can_be_run_again_after_a_mistake_in_the_engines_name(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[str] = []
    shell = SimpleNamespace(
        set_custom_exc=lambda *_: None,
        events=SimpleNamespace(register=lambda event, _handler: registered.append(event)),
    )
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(page_style, "show", lambda: None)
    monkeypatch.setenv("NETLAB_ENGINE", "libary")
    unsupported.install_handler()
    monkeypatch.setattr(engines, "choose", lambda: SimpleNamespace(differences=lambda: ["no programs"]))
    unsupported.install_handler()
    assert registered == ["post_run_cell"]


def test_the_first_cells_define_the_names_that_lead_to_advice() -> None:
    notebooks = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
    first = [next(cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code") for path in notebooks]
    defined = Counter(name for cell in first for name in defined_names(cell.source))
    assert {name for name, number in defined.items() if number > 1} == unsupported.FIRST_NAMES


def test_a_students_own_slip_stays_an_error() -> None:
    errors = CellErrors()
    errors.lost = {"wireless"}
    assert errors.is_ours(NotHereError("x")) and errors.is_ours(NameError(name="wireless"))
    assert not any(errors.is_ours(error) for error in (NameError(name="wirless"), EngineError("x"), None))


def test_a_run_is_refused_for_a_missing_feature_of_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_kernel, "missing_parts", lambda: ("tahoe", "cake"))
    plan = lambda **more: nl.Scenario(nl.topologies.dumbbell(1), [nl.Tcp("h1", "h2", **more)]).plan()  # noqa: E731
    NativeEngine().refuse(plan())
    with pytest.raises(NotHereError, match="needs tahoe, which this machine's own kernel.*Only netlab's own kernels"):
        NativeEngine().refuse(plan(congestion="tahoe"))


@pytest.mark.parametrize(
    ("engine", "kernel", "clock"),
    [
        ("native", "", "real"),
        ("pocket", "", "virtual"),
        ("library", "/x", "virtual"),
        ("", "", "virtual"),
    ],
)
def test_the_clock_is_known_without_a_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, engine: str, kernel: str, clock: str
) -> None:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    for name, value in (("NETLAB_ENGINE", engine), ("NETLAB_KERNEL", kernel)):
        monkeypatch.setenv(name, value)
    assert engines.clock() == clock
    assert engines.run_length_s(240, real_s=60) == (60 if clock == "real" else 240)


def test_a_page_without_a_chapter_has_the_style_sheet_too(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(page_style, "show", lambda: shown.append("sheet"))
    unsupported.install_handler()
    assert shown == ["sheet"]
