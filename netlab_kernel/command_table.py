"""Commands of this package, each with its line of help and its module."""

COMMANDS = {
    "kernel": ("build, describe, pack or unpack the pocket kernel", "netlab_kernel.command"),
}
