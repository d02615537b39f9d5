"""Read the standard input that a Mininet script is to have."""

import ast
import os
import select
import stat
from pathlib import Path

from netlab_engines.lab.script_check import own_sources
from netlab_engines.lab.stopping import print_notice

READERS = {"CLI", "input", "raw_input", "stdin", "fileinput", "getpass"}
"""Names whose use in Python can mean that a script reads its standard input."""
NOTICE_AFTER_S = 2.0
READ_BYTES = 1 << 16


def read_script_input(script: Path, directory: Path, descriptor: int = 0) -> str:
    """Return the text that the script at `script` gets as its standard input if that is not a terminal: what the file
    descriptor `descriptor` of this process has until its end. Bytes that are not UTF-8 become surrogates.

    The script cannot ask for input while it runs, so all of it is read before. If neither the script nor its own
    modules, found from the working directory `directory`, contain a name of READERS, only a regular file is read, and
    its position stays: the next program in a shell's loop may need the rest. "" if the descriptor is a terminal or closed.
    """
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return ""
    if os.isatty(descriptor):
        return ""
    if may_read_input(script, directory):
        data = _read_to_end(descriptor)
    elif stat.S_ISREG(mode):
        data = _rest_of_file(descriptor)
    else:
        data = b""
    return data.decode(errors="surrogateescape")


def may_read_input(script: Path, directory: Path) -> bool:
    """Return whether the script at `script`, or a module of its own that it finds from the working directory
    `directory`, has a name of READERS, or cannot be parsed.
    """
    return any(
        not source.tree.body or any(_name(node) in READERS for node in ast.walk(source.tree))
        for source, _ in own_sources(script, directory)
    )


def _name(node: ast.AST) -> str:
    """Return the name that a node of a syntax tree uses or imports, without its module; "" if it is not a name."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.alias():
            return node.name.rpartition(".")[2]
    return ""


def _read_to_end(descriptor: int) -> bytes:
    """Return the bytes of the file descriptor `descriptor` until its end. If that takes longer than NOTICE_AFTER_S s,
    print once what this waits for.
    """
    data, is_announced = b"", False
    while True:
        if not is_announced and not select.select([descriptor], [], [], NOTICE_AFTER_S)[0]:
            is_announced = True
            print_notice(
                "reading the script's input to its end before the script starts. If there is none, press Ctrl-D, or start "
                "the command with </dev/null."
            )
        piece = os.read(descriptor, READ_BYTES)
        if not piece:
            return data
        data += piece


def _rest_of_file(descriptor: int) -> bytes:
    """Return the bytes from the present position of a regular file to its end, and leave the position as it is."""
    data, position = b"", os.lseek(descriptor, 0, os.SEEK_CUR)
    while piece := os.pread(descriptor, READ_BYTES, position + len(data)):
        data += piece
    return data
