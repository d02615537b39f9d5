"""Untrusted files and processes of a sandbox, without a guest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from netlab_engines import sandbox

NAMED = "open('/proc/self/comm', 'w').write({name!r}); print('named', flush=True); input()"


def test_untrusted_output_is_read_as_a_plain_file_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    assert sandbox.read_bounded(tmp_path / "file", 10) == b"x" * 11
    assert sandbox.read_bounded(tmp_path / "link", 10) is None
    assert sandbox.read_bounded(tmp_path / "pipe", 10) is None
    assert sandbox.read_bounded(tmp_path / "none", 10) is None


def test_a_group_of_processes_is_found_with_its_state_and_time() -> None:
    """By proc(5): state, parent, group, ...; a name with brackets and spaces does not move them."""
    name = "b) S 1 1"
    with subprocess.Popen(
        [sys.executable, "-c", NAMED.format(name=name)], stdin=-1, stdout=-1, start_new_session=True
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == b"named\n"
        (fields,) = sandbox._members(child.pid)
        assert fields[1:4] == [str(number).encode() for number in (os.getpid(), child.pid, child.pid)]
        child.kill()


def test_processor_time_is_what_a_process_and_its_ended_children_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """By proc(5): fields 14 to 17 of stat, and the state is field 3."""
    answers = {14: 1, 15: 20, 16: 300, 17: 4000}
    fields = [b"S", *(str(answers.get(number, 7)).encode() for number in range(4, 53))]
    monkeypatch.setattr(sandbox, "_members", lambda _group: [fields, fields])
    assert sandbox.group_state(1) == (2 * 4321 / os.sysconf("SC_CLK_TCK"), True)
    monkeypatch.setattr(sandbox, "_members", lambda _group: [fields, [b"R", *fields[1:]]])
    assert sandbox.group_state(1)[1] is False
