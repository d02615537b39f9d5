"""The end of a browser that tests have opened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from tests.browser import bidi
from tests.browser.conftest import ROOT
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow]

OPENS = """
import sys, time
from tests.browser import bidi
with bidi.opened(sys.argv[1]):
    print("open", flush=True)
    time.sleep(1000)
"""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("name", list(bidi.MISSING))
def test_no_browser_is_left_behind_by_a_process_that_is_ended(name: str, ending: signal.Signals) -> None:
    if why := bidi.MISSING[name]:
        pytest.skip(why)
    command = [sys.executable, "-c", OPENS, name]
    # Chromium has a socket there, whose path may have 107 bytes: pytest's own folder has too long a name.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {**os.environ, "TMPDIR": folder, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as program:
            assert program.stdout is not None and program.stdout.readline() == b"open\n"
            assert browsers(folder)
            program.send_signal(ending)
            program.wait(60)
        assert wait_for(lambda: not browsers(folder))


def browsers(folder: str) -> list[str]:
    """Return the command lines of the processes whose profile is in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            if folder.encode() in (words := path.read_bytes()):
                found.append(words.replace(b"\0", b" ").decode())
    return found
