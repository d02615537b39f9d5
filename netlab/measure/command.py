"""Output and exit codes of commands."""

from netlab.measure.base import Measure, Tables
from netlab.traffic.command import CommandItem, CommandTotals


class CommandMeasure(Measure[CommandItem, CommandTotals]):
    """A command, which is no flow."""

    def tables(self, begin_s: float) -> Tables:
        """A row of its own table."""
        del begin_s
        return {"commands": [{**self.totals, "host": self.item["host"], "command": self.item["command"]}]}
