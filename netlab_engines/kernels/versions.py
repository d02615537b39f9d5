"""Versions and configurations of kernels."""

import re

from netlab.base.errors import KernelError

Version = tuple[int, ...]
"""A version as numbers for comparisons, such as `(7, 3, 4)`."""


def parse_version(text: str) -> Version:
    """Return the numbers at the front of the text of a kernel's or a package's version, from left to right. Raises
    KernelError if the text does not begin with a number.

    >>> parse_version("7.3.4-1~bpo13+1")
    (7, 3, 4)
    """
    found = re.match(r"\d+(?:\.\d+)*", text)
    if not found:
        raise KernelError(f"A kernel version starts with a number, got {text!r}.")
    return tuple(int(part) for part in found.group().split("."))


def read_config(config: str) -> dict[str, str]:
    """Return the values of all options that the text of a kernel's `.config` sets, such as "y" or "m", by their names;
    options that are off are absent.
    """
    values = {}
    for line in config.splitlines():
        name, equals, value = line.partition("=")
        if equals and name.startswith("CONFIG_"):
            values[name] = value
    return values
