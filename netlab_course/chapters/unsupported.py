"""Cells that end with a message in place of a traceback: those that need a feature which the machine lacks, after which the
chapter continues, and checks of an answer whose cell has not run. Below the traceback of some other errors stands advice.

A notebook that runs all of its cells stops at the first error. Cells that need an unavailable feature are therefore
skipped with a message, and so are later cells that use names which the skipped cells would have defined. In a new kernel
whose first cell has not run, a name that it defines leads to advice, too.
"""

import re
import sys
from types import TracebackType
from typing import Any, TypeGuard

from netlab import engines
from netlab.base.errors import NetlabError, NotHereError
from netlab_course import page_style
from netlab_course.cell_history import defined_names, running_source
from netlab_course.error_advice import ADVISED, advice_on
from netlab_course.messages import AMBER, show_text

UNSUPPORTED_NOTICE = "Not on this machine."
RUN_FIRST = (
    "The first cells of this notebook have not run since Python was started. Run the cells from the beginning: Run > Run All "
    "Above Selected Cell."
)
FIRST_NAMES = frozenset({"chapter", "experiments", "math", "nl", "np", "own", "pd", "plots", "settings", "unsupported"})
"""Names that the first cell of more than one notebook defines."""
_CHECK = re.compile(r"\s*chapter\.check\.\w+\(\s*(\w+)\s*\)\s*")


def install_handler() -> None:
    """Prepare a notebook: add the style sheet of chapters, and install a handler that shows a message in place of the
    traceback of a check whose answer has no value, and of a cell that this machine cannot run, and advice below that
    of some other errors. With another engine than the pocket kernel in virtual time, later cells run all the same.
    Nothing happens outside IPython.
    """
    page_style.show()
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or getattr(shell, "netlab_cell_errors", None) is not None:
        return
    shell.netlab_cell_errors = CellErrors()
    shell.set_custom_exc((NotHereError, NameError, *ADVISED), shell.netlab_cell_errors.show)
    try:
        other = engines.choose().differences()
    except NetlabError:
        # The next cell, preflight, reports the problem. When it is corrected and the cell is run again, this must be, too.
        del shell.netlab_cell_errors
        return
    if other:
        shell.events.register("post_run_cell", shell.netlab_cell_errors.end)


def await_first_cell() -> None:
    """Show advice below the traceback of a cell that needs a name of the notebook's first cell, until this cell has run
    and `install_handler` installs its own handler. JupyterLab's extension and the page call this in each new kernel.
    Nothing happens outside IPython.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and getattr(shell, "netlab_cell_errors", None) is None:
        shell.set_custom_exc((NameError,), _show_with_first_cells)


def _show_with_first_cells(
    shell: Any, kind: type[BaseException], error: NameError, trace: TracebackType, tb_offset: int | None = None
) -> None:
    """Show the usual traceback of a NameError, and advice below it if the first cell would have defined the name; IPython
    calls this with its shell and the error.
    """
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    if error.name in FIRST_NAMES:
        show_text(RUN_FIRST, AMBER)


class CellErrors:
    """The handler of errors that get a message in place of a traceback, and the cells of a notebook that it skips.

    Attributes
    ----------
    lost : set of str
        Names that skipped cells would have defined.
    """

    def __init__(self) -> None:
        """Begin with no skipped cell."""
        self.lost: set[str] = set()

    def show(
        self,
        shell: Any,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType,
        tb_offset: int | None = None,
    ) -> None:
        """Show the message about a cell that this machine cannot run, or about a check whose answer has no value, or
        the usual traceback of any other error, and below it the advice of `netlab_course.error_advice`, if any; IPython
        calls this with its shell and the error instead of printing a traceback.
        """
        if self._is_early_check(error):
            text = f"! Not checked: {error.name} has no value yet. Run its cell above, then this check."
            show_text(text, AMBER, "netlab-verdict netlab-unjudged")
        elif not self.is_ours(error):
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
            if not isinstance(error, NetlabError) and (advice := advice_on(error)):
                show_text(advice, AMBER)
        elif isinstance(error, NameError):
            print(f"{UNSUPPORTED_NOTICE} {error.name} has no value, because its cell needs what this machine lacks.")
        else:
            print(f"{UNSUPPORTED_NOTICE} {error}")

    def _is_early_check(self, error: BaseException) -> TypeGuard[NameError]:
        """Return whether an error is a NameError of the running cell, whose only code is a check of the answer with
        that name, so that the cell above was not run; False if a skipped cell would have defined the name.
        """
        check = _CHECK.fullmatch(running_source())
        return isinstance(error, NameError) and check is not None and check[1] == error.name not in self.lost

    def is_ours(self, error: BaseException | None) -> bool:
        """Return whether an error (None: none) means that the machine lacks a feature, or that a skipped cell would
        have defined the name that is missing, and not that the student's code is wrong.
        """
        return isinstance(error, NotHereError) or (isinstance(error, NameError) and error.name in self.lost)

    def end(self, result: Any) -> None:
        """Mark a skipped cell as successful, so that later cells run, and remember the names that it would have
        defined; IPython calls this after each cell with its `result`, or None.
        """
        if result is not None and self.is_ours(result.error_in_exec):
            self.lost |= defined_names(result.info.raw_cell)
            result.error_in_exec = None
