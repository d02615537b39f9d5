"""Chapters on a machine that lacks some features: a cell that needs one ends with a message, and the chapter continues.

A notebook that runs all of its cells stops at the first error. Cells that need an unavailable feature are therefore
skipped with a message, and so are later cells that use names which the skipped cells would have defined.
"""

import sys
from types import TracebackType
from typing import Any

from netlab import engines
from netlab.base.errors import NetlabError, NotHereError
from netlab_course import page_style
from netlab_course.cell_history import defined_names

SAID = "Not on this machine."


def go_on() -> None:
    """Add the pages' style sheet; if the engine on this machine differs from the pocket kernel in virtual time, install
    the handler that skips cells. Nothing else happens outside IPython.
    """
    page_style.show()
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or getattr(shell, "netlab_skips", None) is not None:
        return
    try:
        other = engines.choose().differences()
    except NetlabError:
        # The next cell, preflight, reports the problem.
        return
    if other:
        shell.netlab_skips = SkippedCells()
        shell.set_custom_exc((NotHereError, NameError), shell.netlab_skips.show)
        shell.events.register("post_run_cell", shell.netlab_skips.end)


class SkippedCells:
    """The skipped cells of a notebook, and the handler that skips them.

    Attributes
    ----------
    lost : set of str
        Names that skipped cells would have defined.
    """

    def __init__(self) -> None:
        self.lost: set[str] = set()

    def show(
        self,
        shell: Any,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType,
        tb_offset: int | None = None,
    ) -> None:
        """Show the message about a skipped cell, or the usual traceback of any other error; IPython calls this instead
        of printing a traceback.
        """
        if not self.is_ours(error):
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        elif isinstance(error, NameError):
            print(f"{SAID} {error.name} is what an earlier cell would have measured.")
        else:
            print(f"{SAID} {error}")

    def is_ours(self, error: BaseException | None) -> bool:
        """Return whether an error means that the machine lacks a feature, or that a skipped cell would have defined a
        name, and not that the student's code is wrong.
        """
        return isinstance(error, NotHereError) or (isinstance(error, NameError) and error.name in self.lost)

    def end(self, result: Any) -> None:
        """Mark a skipped cell as successful, and remember the names that it would have defined; IPython calls this
        after each cell.
        """
        if result is not None and self.is_ours(result.error_in_exec):
            self.lost |= defined_names(result.info.raw_cell)
            result.error_in_exec = None
