"""`%host h1 COMMAND` and `%%host h1` in a notebook: a host's shell, streamed as it prints."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from netlab.base.errors import NetlabError, NotHereError, RunError

if TYPE_CHECKING:
    from netlab.lab.nodes import Host

_registered: list[Any] = []


class OpenLab(Protocol):
    """What is known of a lab."""

    @property
    def closed(self) -> bool:
        """Whether it has ended."""

    def __getitem__(self, name: str) -> Host:
        """A node."""

    def __iter__(self) -> Iterator[str]:
        """Names of the nodes."""


_labs: list[weakref.ref[OpenLab]] = []


def note(lab: OpenLab) -> None:
    """A lab was opened."""
    _labs[:] = [*(ref for ref in _labs if ref() is not None), weakref.ref(lab)]


def current() -> OpenLab:
    """The lab that was opened last and is not closed.

    Raises RunError when there is none.
    """
    for ref in reversed(_labs):
        lab = ref()
        if lab is not None and not lab.closed:
            return lab
    raise RunError("No live network is open; open one with lab = netlab.live(network).")


def host(line: str, cell: str | None = None) -> None:
    """Run a line, or the lines of a cell, in a host's shell.

    `%host h1 ss -ti` runs one command; `%%host h1` on a cell's first line runs the rest of the cell. What is printed
    shows as it comes. Interrupting the notebook kernel stops the command and leaves the network usable.
    """
    name, _, command = line.strip().partition(" ")
    lab = current()
    if not name:
        print(f"Name a host, such as %host {next(iter(lab))} ip address. There are: {', '.join(lab)}.", file=sys.stderr)
        return
    lines = command if cell is None else f"{command}\n{cell}"
    try:
        done = lab[name].run(lines, on_text=_show)
    except KeyboardInterrupt:
        _show("^C\n")
    except NotHereError:
        raise  # the page says what it says of any cell
    except NetlabError as error:
        print(error, file=sys.stderr)
    else:
        if done.exit_code:
            print(f"(exit code {done.exit_code})", file=sys.stderr)


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def completions(_shell: Any, _event: Any) -> list[str]:
    """Names of the nodes behind `%host`, and anywhere in its line."""
    try:
        return list(current())
    except NetlabError:
        return []


def register() -> None:
    """Make the magics known to the running IPython, once."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is None or shell in _registered:
        return
    _registered.append(shell)
    shell.register_magic_function(host, "line_cell", "host")
    for key in ("%host", "%%host", "host"):
        shell.set_hook("complete_command", completions, str_key=key)
