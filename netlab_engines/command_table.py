"""Commands of this package, each with its line of help and its module."""

COMMANDS = {
    "live": ("build a network and open Mininet's prompt over it", "netlab_engines.lab.live_command"),
    "attach": ("join a terminal that a notebook offers", "netlab_engines.lab.attach_command"),
    "mininet": ("run a Mininet script without root", "netlab_engines.lab.mininet_command"),
    "mn": ("run Mininet's own mn without root", "netlab_engines.lab.mn_command"),
    "perf": ("measure throughput between two machines", "netlab_engines.perf.command"),
}
