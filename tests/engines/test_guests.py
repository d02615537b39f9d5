"""The words about a guest that has ended."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netlab.base.errors import RunError
from netlab_engines import files
from netlab_engines.guests import Guest, reason_of_end
from netlab_engines.kernels.pocket_kernel import PocketKernel


def test_end_of_the_log_is_reported_unless_the_guest_left_a_message(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert reason_of_end(tmp_path, log) == "The end of its log:\n(empty)"
    log.write_bytes(b"old\n" * 50 + b"[<0000>] address\n" + b"PocketKernel panic \xff\n")
    assert "PocketKernel panic" in reason_of_end(tmp_path, log)
    assert "address" not in reason_of_end(tmp_path, log)
    log.write_text("ptrace set fp regs failed\n")
    assert "too old for this machine's processor" in reason_of_end(tmp_path, log)
    log.write_text("ptrace: Operation not permitted\ncheck_ptrace : expected SIGSTOP, got status = 9\n")
    assert re.fullmatch(
        r"This system, .* seccomp and ptrace\. Run .*engine='library'\)\.", reason_of_end(tmp_path, log)
    )
    (tmp_path / files.CRASH).write_text("The overlay could not be mounted.")
    assert reason_of_end(tmp_path, log) == "The overlay could not be mounted."


@pytest.mark.pocket
def test_guest_that_cannot_start_its_program_reports_the_reason(pocket_kernel: PocketKernel) -> None:
    with pytest.raises(RunError, match=re.escape("ended. ModuleNotFoundError: No module named 'netlab.nothing'")):
        Guest(pocket_kernel, program="netlab.nothing").wait_until_ready()
