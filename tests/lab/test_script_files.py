"""A Mininet script writes where its user may, and the system's own directories stay as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from netlab_classroom.grading import sandbox
from netlab_engines.kernels import pocket_kernel
from netlab_engines.lab import shared_directories
from netlab_engines.lab.script import run_script
from tests.engines.test_pocket_sandbox import NOBODY, python_for
from tests.lab.running_scripts import command, environment

pocket = pytest.mark.pocket

PLACES = """
import mmap, os, pathlib, subprocess, sys, tempfile, time
temporary = sys.argv[1]
pathlib.Path("here.txt").write_text("here")
os.makedirs("sub/deep er/ünïcode")
pathlib.Path("sub/deep er/ünïcode/a file, 名.txt").write_text("there")
pathlib.Path("../above.txt").write_text("above")
os.system("echo home > ~/home.txt; echo mine > %s/temporary.txt" % temporary)
pathlib.Path(os.path.expanduser("~/.hidden")).write_text("hidden")
os.remove("deleted.txt")
os.rename("old name.txt", "new name.txt")
os.symlink("here.txt", "link.txt")
os.mkfifo("fifo")
pathlib.Path("appended.txt").open("a").write("second\\n")
os.chmod("here.txt", 0o750)
with open("mapped.bin", "w+b") as file:
    file.truncate(1 << 20)
    mmap.mmap(file.fileno(), 0)[-4:] = b"last"
with open("large.bin", "wb") as file:
    for _ in range(600):
        file.write(bytes(1 << 20))
file = tempfile.NamedTemporaryFile()
open("/etc/made-in-the-guest.conf", "w").write("conf")
os.remove("/usr/bin/env")
open("/dev/shm/shared-in-the-guest", "w").write("memory")
hold = "import time; file = open('late.txt', 'w'); file.write('held back'); time.sleep(1e6)"
subprocess.Popen([sys.executable, "-c", hold], start_new_session=True)
while not os.path.exists("late.txt"):
    time.sleep(0.01)
"""


@pocket
def test_files_are_where_the_script_wrote_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place, home, temporary = tmp_path / "a lab", tmp_path / "home", tmp_path / "temporary"
    for directory in (place, home, temporary):
        directory.mkdir()
    monkeypatch.setenv("NETLAB_CACHE", environment(home)["NETLAB_CACHE"])
    monkeypatch.setenv("HOME", str(home))
    (place / "case.py").write_text(PLACES)
    for name in ("deleted.txt", "old name.txt"):
        (place / name).write_text(name)
    (place / "appended.txt").write_text("first\n")
    finished = run_script(["case.py", str(temporary)], write=print, directory=place)
    printed = capsys.readouterr()
    assert finished.code == 0, printed.out
    assert (place / "here.txt").read_text() == "here"
    assert (place / "here.txt").stat().st_mode & 0o777 == 0o750
    assert (place / "here.txt").stat().st_uid == os.getuid()
    assert (place / "sub/deep er/ünïcode/a file, 名.txt").read_text() == "there"
    assert (tmp_path / "above.txt").read_text() == "above"
    assert (home / "home.txt").read_text() == "home\n"
    assert (home / ".hidden").read_text() == "hidden"
    assert (temporary / "temporary.txt").read_text() == "mine\n"
    assert not (place / "deleted.txt").exists()
    assert not (place / "old name.txt").exists()
    assert (place / "new name.txt").read_text() == "old name.txt"
    assert (place / "link.txt").readlink() == Path("here.txt")
    assert (place / "fifo").is_fifo()
    assert (place / "appended.txt").read_text() == "first\nsecond\n"
    assert (place / "mapped.bin").read_bytes()[-4:] == b"last"
    assert (place / "large.bin").stat().st_size == 600 << 20, "more than a file in a guest's memory may have"
    (place / "large.bin").unlink()
    assert (place / "late.txt").read_text() == "held back", "programs that outlive the script end as by a signal"
    # The guest's own directories: printed and copied.
    assert set(finished.copies) == {"/etc/made-in-the-guest.conf", "/dev/shm/shared-in-the-guest"}
    for path, copy in finished.copies.items():
        assert copy == place / "case.files" / path.lstrip("/")
        assert f"netlab: {path} is in the guest only; it was copied to {copy}.\n" in printed.err
    assert (place / "case.files/etc/made-in-the-guest.conf").read_text() == "conf"
    assert not Path("/etc/made-in-the-guest.conf").exists()
    assert Path("/usr/bin/env").exists()


@pocket
def test_a_full_disk_and_a_read_only_directory_are_errors_of_the_script(tmp_path: Path) -> None:
    script = """
for name in ("full", "read-only"):
    try:
        with open(name + "/file.bin", "wb") as file:
            for number in range(100):
                file.write(bytes(1 << 16))
                file.flush()
    except OSError as error:
        print(name, error.strerror)
open("after.txt", "w").write("after")
"""
    (tmp_path / "case.py").write_text(script)
    for name in ("full", "read-only"):
        (tmp_path / name).mkdir()
    mounts = (
        "mount -t tmpfs -o size=1m none full && mount --bind read-only read-only && mount -o remount,bind,ro read-only"
    )
    if subprocess.run(["unshare", "-rm", "sh", "-c", mounts], cwd=tmp_path, capture_output=True).returncode != 0:
        pytest.skip("this machine lets nobody mount")
    lines = f'{mounts} && "$@"; code=$?; stat -c "left %s" full/file.bin; exit $code'
    words = ["unshare", "-rm", "sh", "-c", lines, "sh", *command("case.py")]
    done = subprocess.run(words, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "full No space left on device",
        "read-only Read-only file system",
        f"left {1 << 20}",
    ], done.stderr
    assert done.returncode == 0
    assert (tmp_path / "after.txt").read_text() == "after"


@pocket
@pytest.mark.root
def test_a_file_in_the_home_of_root_which_the_user_may_not_enter_is_copied(tmp_path: Path) -> None:
    """Scripts are written for `sudo python script.py`, so some write to /root."""
    place = Path(tempfile.mkdtemp(prefix="netlab-script-", dir="/var/tmp"))
    try:
        shutil.copytree(pocket_kernel.find().path.parent, place / "kernel")
        (place / "case.py").write_text("open('/root/made-in-the-guest.txt', 'w').write('mine')\n")
        for path in (place, place / "case.py"):
            os.chown(path, NOBODY, NOBODY)
        closed = 'mount -t tmpfs -o mode=700 none /root && exec setpriv --reuid="$0" --regid="$0" --clear-groups "$@"'
        python = python_for(NOBODY)
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", closed, str(NOBODY), python, *command("case.py")[1:]],
            cwd=place,
            env={
                "HOME": str(place),
                "TMPDIR": str(place),
                "NETLAB_KERNEL": str(place / "kernel" / "linux"),
                "PYTHONPATH": ":".join(path for path in sys.path if path.endswith("site-packages")),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        copy = place / "case.files/root/made-in-the-guest.txt"
        assert copy.read_text() == "mine" and f"/root/{copy.name} is in the guest only" in done.stderr
    finally:
        shutil.rmtree(place)


@pocket
def test_graded_code_writes_to_nothing_of_the_hosts(tmp_path: Path) -> None:
    """Nothing is shared with the guest of graded code: not the grader's home, /tmp or the current directory."""
    with sandbox.student_package() as package:
        guest = sandbox.boot(package)
        try:
            assert b'"shared": []' in (guest.read_file("boot.json", 10_000) or b"")
            writes = f"""
import os
def write(path):
    try:
        open(path, "w").write("x")
        return os.path.exists(path)
    except OSError as error:
        return type(error).__name__
found = [write(path) for path in {[str(tmp_path / "x"), str(Path.home() / "netlab-x"), "/tmp/netlab-graded-x"]!r}]
"""
        finally:
            guest.close()
        exercise = {
            "topic": "udp_loss", "token": "", "numbers": {"pairs": []}, "key": "k",
            "name": "found", "given": [], "answer": writes, "calls": [],
        }  # fmt: skip
        (outcome,) = sandbox.ExerciseSandbox(package).work([exercise], lambda *_asked: None)
    assert outcome.ending is sandbox.Ending.ANSWERED, outcome
    assert not (tmp_path / "x").exists()
    assert not (Path.home() / "netlab-x").exists()
    assert not Path("/tmp/netlab-graded-x").exists()


def test_the_systems_directories_are_never_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    for working in ("/", "/usr", "/usr/bin", "/etc", "/var", "/proc/self", "/dev/shm", "/run", str(tmp_path)):
        found = shared_directories.shared_directories(working, "/usr/bin")
        system = [
            place for place in found if place.startswith(("/usr", "/etc", "/bin", "/proc", "/dev", "/run", "/sys"))
        ]
        assert system == [], working
        assert "/" not in found and "/var" not in found
        assert "/tmp" in found


def test_a_directory_is_shared_with_those_above_it_that_the_user_may_write_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    working = tmp_path / "course" / "lab"
    working.mkdir(parents=True)
    allowed = {str(tmp_path / "course"), str(working), "/tmp"}
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    monkeypatch.setattr(shared_directories, "_may_write", allowed.__contains__)
    # The tests' directory may lie below /var, where no directory above the working one is shared.
    monkeypatch.setattr(shared_directories, "SYSTEM", ())
    found = shared_directories.shared_directories(working, working)
    assert (
        found == sorted({str(tmp_path / "course"), "/tmp"})
        if not str(tmp_path).startswith("/tmp/")
        else found == ["/tmp"]
    )
    allowed.remove("/tmp")
    assert shared_directories.shared_directories(working, working) == [str(tmp_path / "course")]


def test_a_file_system_of_another_machine_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that does not answer would hang every script."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "24 1 254:0 / / rw - ext4 /dev/vda rw\n"
        "90 24 0:50 / /nfs/dead rw,relatime shared:1 - nfs4 server:/dead rw\n"
        "91 24 0:51 / /home rw - autofs auto.home rw\n"
    )
    monkeypatch.setattr(shared_directories, "MOUNTS", mounts)
    assert shared_directories._remote_mounts() == {"/nfs/dead", "/home"}
