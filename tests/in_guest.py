"""A test's program as root of a guest's kernel: the native engine without this machine's root."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import netlab as nl
from netlab.base import cache
from netlab_engines.paths import python_path


def json_printed_by(
    program: str,
    variables: Mapping[str, str] | None = None,
    *,
    within_s: Sequence[float],
    **words: object,
) -> Any:
    """Return the value that the program printed as JSON.

    Parameters
    ----------
    program : str
        Its source, in which `{path!r}` and the other `words` are filled in.
    variables : dict, optional
        Environment variables in addition to TMPDIR and the test's own kernels: the guest's root has the home and the
        /tmp/netlab-0 of the host's root, into which they may not look.
    within_s : sequence of float
        Limits in s of the guest's time, in which computing takes none; the program is tried again with the next limit.
    """
    path = [*python_path(), *(entry for entry in sys.path if entry.endswith("site-packages"))]
    source = shlex.quote(program.format(path=path, **words))
    places = {"TMPDIR": "/tmp/own", "NETLAB_CACHE": str(cache.root()), **(variables or {})}
    given = " ".join(f"{name}={shlex.quote(value)}" for name, value in places.items())
    command = f"mkdir /tmp/own && cd /tmp/own && {given} {sys.executable} -c {source}"
    outer = nl.Topology(hosts=["a", "b"], links=[nl.Link("a", "b")])
    for duration_s in within_s:
        run = nl.run(outer, [nl.Command("a", command)], duration_s=duration_s, engine="pocket")
        row: Any
        (row,) = run.commands.itertuples()
        if row.exit_code == row.exit_code:
            break
    assert row.exit_code == 0, row.stderr
    return json.loads(row.stdout)
