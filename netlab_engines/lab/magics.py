"""The notebook magics `%host h1 COMMAND` and `%%host h1`, which run commands in a host's shell and show their output."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from netlab.base.errors import NetlabError, NotHereError, RunError

if TYPE_CHECKING:
    from netlab_engines.lab.nodes import Host

_magics: list[Any] = []


class OpenLab(Protocol):
    """The part of a live network that the magics use."""

    @property
    def closed(self) -> bool:
        """True if the live network has ended."""

    def __getitem__(self, name: str) -> Host:
        """Return the node with the name `name`. Raises ScenarioError if there is none."""

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over the names of the nodes."""


_labs: list[weakref.ref[OpenLab]] = []


def note(lab: OpenLab) -> None:
    """Note that the live network `lab` was opened; the magics use the newest one. Only a weak reference is kept."""
    _labs[:] = [*(ref for ref in _labs if ref() is not None), weakref.ref(lab)]


def current_lab() -> OpenLab:
    """Return the live network that was opened last, of those that are not closed. Raises RunError if there is none."""
    for ref in reversed(_labs):
        lab = ref()
        if lab is not None and not lab.closed:
            return lab
    raise RunError("No live network is open; open one with lab = netlab.live(network).")


def host(line: str, cell: str | None = None) -> None:
    """Run a command in a host's shell and show its output, and its exit code if that is not 0; an error of netlab other
    than NotHereError is printed. `line` has the host's name and a command; with `cell`, the text of a cell, its lines
    are run too. Raises RunError if no live network is open.

    `%host h1 ss -ti` runs one command; `%%host h1` on a cell's first line runs the rest of the cell. The output appears
    while the command runs. An interrupt of the notebook's kernel stops the command, and the network stays usable.
    """
    name, _, command = line.strip().partition(" ")
    lab = current_lab()
    if not name:
        print(f"Name a host, such as %host {next(iter(lab))} ip address. There are: {', '.join(lab)}.", file=sys.stderr)
        return
    lines = command if cell is None else f"{command}\n{cell}"
    try:
        done = lab[name].run(lines, on_text=_show)
    except KeyboardInterrupt:
        _show("^C\n")
    except NotHereError:
        raise  # the course's pages show a message for it, as in any other cell
    except NetlabError as error:
        print(error, file=sys.stderr)
    else:
        if done.exit_code:
            print(f"(exit code {done.exit_code})", file=sys.stderr)


def _show(text: str) -> None:
    """Write a text to the standard output at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def completions(_shell: Any, _event: Any) -> list[str]:
    """Return the names of the newest live network's nodes, to complete the line of `%host`; [] if none is open."""
    try:
        return list(current_lab())
    except NetlabError:
        return []


def register() -> None:
    """Register the magics and their completion in the running IPython, unless that has been done; if none runs, nothing
    happens. Raises ImportError if IPython is not installed.
    """
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is None or shell in _magics:
        return
    _magics.append(shell)
    shell.register_magic_function(host, "line_cell", "host")
    for key in ("%host", "%%host", "host"):
        shell.set_hook("complete_command", completions, str_key=key)
