"""Output and exit codes of commands."""

from netlab.measure.base import Measure, Tables
from netlab.traffic.command import CommandItem, CommandTotals


class CommandMeasure(Measure[CommandItem, CommandTotals]):
    """The output of a command, which is not a flow."""

    def tables(self, begin_s: float) -> Tables:
        """Return its row in `commands`."""
        del begin_s
        return {"commands": [{**self.totals, "host": self.item["host"], "command": self.item["command"]}]}
