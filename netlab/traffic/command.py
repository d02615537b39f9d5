"""A command in a node's shell."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from netlab.base.arguments import explain_bad_construction
from netlab.base.values import short_repr
from netlab.plan import Item, Totals
from netlab.traffic.base import Traffic

FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class CommandItem(Item):
    """A `Command` in the plan; `saves` has the names of the files to keep."""

    host: str
    command: str
    saves: list[str]


class CommandTotals(Totals):
    """The output of a command; `exit_code` is None if it had not ended, and `t_s` the time in s at which it ended."""

    stdout: str
    stderr: str
    exit_code: int | None
    t_s: float


@explain_bad_construction('nl.Command("h1", "tc -s qdisc show")')
@dataclass(frozen=True)
class Command(Traffic):
    """A shell command that runs in a host, e.g. ``tc -s qdisc`` or ``ip route``; its output is in ``run.commands``.

    Parameters
    ----------
    host : str
        Host, router or switch.
    command : str
        Command line for the host's shell, run as root of the experiment's own system.
    start_s : float
        In s after the run's start.
    saves : str or sequence of str
        Names of files that the command writes into its own, empty working directory; they become ``run.artifacts``.
    """

    host: str
    command: str
    start_s: float = 0.0
    saves: Sequence[str] = ()
    kind: ClassVar[str] = "command"
    required: ClassVar[Mapping[str, Any]] = {"host": "", "command": "true"}
    end_fields: ClassVar[Sequence[str]] = ("host",)
    allows_switches: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Turn the values into plain Python ones, and `saves` into a tuple of names."""
        super().__post_init__()
        if isinstance(self.saves, str):
            object.__setattr__(self, "saves", (self.saves,))
        elif isinstance(self.saves, list):
            object.__setattr__(self, "saves", tuple(self.saves))

    def to_dict(self) -> dict[str, Any]:
        """Return the item as the dict in a scenario file, with `saves` as a list."""
        return {**super().to_dict(), "saves": list(self.saves) if isinstance(self.saves, tuple) else self.saves}

    def _mistakes(self) -> Iterator[str]:
        """Yield a message for each mistake in the command and in the names of files that it saves."""
        yield from super()._mistakes()
        if not (isinstance(self.command, str) and self.command.strip()):
            yield f"command must be a line for the shell, got {short_repr(self.command)}"
        if not isinstance(self.saves, tuple):
            yield f"saves must be a file name or a list of them, got {short_repr(self.saves)}"
            return
        for name in self.saves:
            if not (isinstance(name, str) and FILE_NAME.fullmatch(name)):
                yield f"saves: a name is 1 to 100 letters, digits and ._- and begins with none of .-, got {short_repr(name)}"
