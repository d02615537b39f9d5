"""A script's tracebacks are those that it has without netlab."""

from __future__ import annotations

import textwrap
import uuid
from pathlib import Path

import pytest

from netlab_engines.lab.script import run_script

pytestmark = pytest.mark.pocket

FAILURES = """
    import logging, os, sys, threading, traceback
    from mininet.net import Mininet
    from mininet.node import OVSSwitch
    from mininet.topo import SingleSwitchTopo
    open(sys.argv[1], "w").write("mine")
    print("clears up:", os.system("sudo mn -c" if os.path.exists("/usr/bin/sudo") else "mn -c"))
    net = Mininet(SingleSwitchTopo(k=1), switch=OVSSwitch)
    class Broken(OVSSwitch):
        def cmd(self, *words, **more):
            raise ValueError("broken command")
    def stack():
        traceback.print_stack(file=sys.stdout)
    stack()
    try:
        Broken("s9", inNamespace=False).start([])
    except ValueError:
        traceback.print_exc(file=sys.stdout)
        logging.exception("logged")
    thread = threading.Thread(target=lambda: net.get("nobody"))
    thread.start()
    thread.join()
    try:
        raise KeyError("first")
    except KeyError:
        Broken("s8", inNamespace=False).start([])
"""


def test_tracebacks_have_no_frame_of_netlabs(tmp_path: Path) -> None:
    """In the script, in a thread, and through Mininet's classes, printed by Python, by the script or by logging."""
    (tmp_path / "case.py").write_text(textwrap.dedent(FAILURES))
    own = Path("/tmp") / f"{uuid.uuid4().hex}.log"
    parts: list[str] = []
    try:
        finished = run_script(["case.py", str(own)], write=parts.append, directory=tmp_path)
        assert own.read_text() == "mine", "mn -c removes nothing"
    finally:
        own.unlink(missing_ok=True)
    text = "".join(parts)
    assert finished.code == 1, text
    assert "clears up: 0" in text
    for words in ("netlab_engines/agent", "runpy", "<string>", "sitecustomize"):
        assert words not in text, text
    assert text.count("ValueError: broken command") == 3
    assert "KeyError: 'nobody'" in text and "Exception in thread Thread-1" in text
    assert "During handling of the above exception, another exception occurred" in text
    first = text[text.index("clears up: 0") :].splitlines()[1]
    assert first == f'  File "{tmp_path}/case.py", line 14, in <module>', text
