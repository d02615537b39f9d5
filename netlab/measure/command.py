"""Output and exit codes of commands."""

from netlab.measure.base import Measure, Tables
from netlab.traffic.command import CommandItem, CommandTotals


class CommandMeasure(Measure[CommandItem, CommandTotals]):
    """The conversion of a command's totals; a command is not a flow."""

    def tables(self, begin_s: float) -> Tables:
        """Return the command's row in the table `commands`: its output, its exit code and the time in s."""
        del begin_s
        return {"commands": [{**self.totals, "host": self.item["host"], "command": self.item["command"]}]}
