"""The memory of programs in the pocket kernel: the edits that fill pages before a program uses them change no value."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from netlab_engines.lab.script import run_script

pytestmark = pytest.mark.pocket

# Half of the pages are written in order, others in no order, and a child and its parent write to the same ones.
PAGES = """
import mmap, os, random
count, size = 700, mmap.PAGESIZE
memory = mmap.mmap(-1, count * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
order = list(range(count // 2)) + random.Random(1).sample(range(count // 2, count), 50)
for page in order:
    assert memory[page * size : (page + 1) * size] == bytes(size), f"page {page} is not empty"
    memory[page * size] = page % 251 + 1
child = os.fork()
for page in order:
    assert memory[page * size] == page % 251 + 1, f"page {page} has changed"
    memory[page * size + 1] = 7 if child else 9
if child:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert all(memory[page * size + 1] == 7 for page in order), "the child wrote to its parent's memory"
others = set(range(count)) - set(order)
assert all(memory[page * size : (page + 1) * size] == bytes(size) for page in others), "a page was written that nobody wrote to"
if child:
    print("right")
"""
FILES = """
import os, sys
import mininet.net
net = mininet.net.Mininet()
host = net.addHost("h1")
net.start()
print("pages", host.cmd(f"{sys.executable} {os.getcwd()}/pages.py").strip())
program = os.path.realpath("/bin/sh")
print("program", host.cmd(f"{program} -c 'echo $0' && sha256sum {program}").split()[1])
print("replaced", host.cmd("cp /bin/true own; ./own && echo first; cp /bin/false own; ./own || echo second").split())
net.stop()
"""


def test_pages_that_the_kernel_filled_early_have_the_right_bytes_and_owner(tmp_path: Path) -> None:
    (tmp_path / "pages.py").write_text(PAGES)
    (tmp_path / "script.py").write_text(FILES)
    printed: list[str] = []
    run_script([str(tmp_path / "script.py")], write=printed.append, directory=tmp_path)
    text = "".join(printed)
    assert "pages right" in text, text
    program = os.path.realpath("/bin/sh")
    assert f"program {hashlib.sha256(Path(program).read_bytes()).hexdigest()}" in text, text
    assert "replaced ['first', 'second']" in text, text
