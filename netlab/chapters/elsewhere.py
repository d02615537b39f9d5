"""A chapter on a machine that cannot do all of it: a cell that needs more says so, and the chapter goes on.

A notebook that runs all of its cells stops at the first error. Here a cell that asks for what the machine's engine has not
ends without one; so does a later cell that misses a name which that cell would have given.
"""

import ast
import sys
from types import TracebackType
from typing import Any

from netlab import engines
from netlab.base.errors import NetlabError, NotHereError
from netlab.course import page_style

SAID = "Not on this machine."


def go_on() -> None:
    """Bring the pages' style sheet; where a notebook's engine differs from the pocket kernel in virtual time, let cells end so."""
    page_style.show()
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or getattr(shell, "netlab_skips", None) is not None:
        return
    try:
        other = engines.differences(engines.choose())
    except NetlabError:
        # preflight, the line after, says what is missing.
        return
    if other:
        shell.netlab_skips = Skips()
        shell.set_custom_exc((NotHereError, NameError), shell.netlab_skips.show)
        shell.events.register("post_run_cell", shell.netlab_skips.end)


class Skips:
    """What a notebook has skipped.

    Attributes
    ----------
    lost : set of str
        Names that skipped cells would have given.
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
        """Say it in a sentence; IPython calls this instead of printing a traceback."""
        if not self.is_ours(error):
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        elif isinstance(error, NameError):
            print(f"{SAID} {error.name} is what an earlier cell would have measured.")
        else:
            print(f"{SAID} {error}")

    def is_ours(self, error: BaseException | None) -> bool:
        """Whether an error means that the machine, and not the student's code, lacks something."""
        return isinstance(error, NotHereError) or (isinstance(error, NameError) and error.name in self.lost)

    def end(self, result: Any) -> None:
        """Let a skipped cell count as done; IPython calls this after each."""
        if result is not None and self.is_ours(result.error_in_exec):
            self.lost |= names_given(result.info.raw_cell)
            result.error_in_exec = None


def names_given(cell: str) -> set[str]:
    """Names that a cell's code binds."""
    try:
        tree = ast.parse(cell)
    except SyntaxError:
        return set()
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return bound | {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
