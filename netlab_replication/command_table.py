"""Commands of this package, each with its line of help and its module."""

COMMANDS = {
    "replicate": ("measure published numbers again and compare both with theory", "netlab_replication.command"),
}
