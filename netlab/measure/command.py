"""Output and exit codes of commands."""

from netlab.measure.base import Measure, Tables
from netlab.traffic.command import CommandItem, CommandTotals


class CommandMeasure(Measure[CommandItem, CommandTotals]):
    """The conversion of a command's totals; a command is not a flow."""

    def tables(self, begin_s: float) -> Tables:
        """Return the command's row under "commands": host, text, output, exit code, time in s; `begin_s` is unused."""
        del begin_s
        return {"commands": [{**self.totals, "host": self.item["host"], "command": self.item["command"]}]}
