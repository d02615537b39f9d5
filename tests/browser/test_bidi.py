"""The end of a browser that tests have opened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
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
with bidi.start_browser(sys.argv[1]):
    print("open", flush=True)
    time.sleep(1000)
"""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("name", list(bidi.MISSING))
def test_no_browser_is_left_behind_by_a_process_that_is_ended(name: str, ending: signal.Signals) -> None:
    if reason := bidi.MISSING[name]:
        pytest.skip(reason)
    mark = f"{name}-{uuid.uuid4()}"
    environment = {**os.environ, "NETLAB_TEST_MARK": mark, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", OPENS, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as program:
        assert program.stdout is not None and program.stdout.readline() == b"open\n"
        assert [words for words in marked_processes(mark) if name in words and OPENS not in words]
        program.send_signal(ending)
        program.wait(60)
    assert wait_for(lambda: not marked_processes(mark))


def marked_processes(mark: str) -> list[str]:
    """Return the command lines of the processes that have inherited an environment with this mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has just ended, or is another user's
            if mark.encode() in path.read_bytes():
                found.append(path.with_name("cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found
