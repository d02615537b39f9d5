"""The guest's side of grading: start each exercise in isolated namespaces, pass its messages on, and end it.

It runs as root of a pocket kernel that can write to only one folder and cannot read the grader's files. Student code
runs as another user, with little memory, few processes, an empty home and no network. Its messages are passed on
unread.

The exercises come through the guest's channel, through which student code then sends requests and is called. The answer
to exercise N is written to `answer-N` in the folder, the way in which it ended to `ended-N`; the output of student code
is discarded.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
import traceback
from pathlib import Path

from netlab.base.files import replacement
from netlab_classroom.grading import runner
from netlab_engines.agent.host_channel import HostChannel
from netlab_engines.libc import check, libc

CLONE_NEWNS = 0x00020000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_NOSUID_NODEV = 2 | 4
MS_REC_PRIVATE = 0x4000 | 0x40000
MS_BIND = 4096
MNT_DETACH = 2
MCL_FUTURE = 2
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_NO_NEW_PRIVS = 38
CAPABILITY_VERSION_3 = 0x20080522
CAP_DAC_READ_SEARCH = 1 << 2

TEMPORARY_DIRECTORIES = ("/tmp", "/var/tmp", "/run", "/dev/shm")
STUDENT = 61_234
MAX_PROCESSES = 24
MAX_MEMORY_BYTES = 1 << 30
MAX_FILE_BYTES = 16 << 20
HOME_MB = 32
MAX_MESSAGE_BYTES = 1 << 18
MAX_GUEST_S = 600.0
"""The limit of the guest's own time in s, in which computing takes no time: code that has not ended by then sleeps."""
NOT_ISOLATED, LATE = "no isolation", "late"


def work(channel: HostChannel, folder: str, packages: list[str]) -> None:
    """Run the exercises of the one request that comes through the guest's channel, each in a process of its own, and
    write in the directory `folder`, for exercise N, the empty file begun-N at its start, its answer to answer-N and the
    way in which it ended to ended-N, and at last the empty file done. The code of exercises gets the channel as a file
    descriptor; `packages` is not used.
    """
    del packages
    words = channel.get()["words"]
    channel.new_seed(words["seed"])
    descriptor = channel.hand_over()
    protect()
    # A page fault costs this kernel several system calls of the host, so lock all pages in advance.
    libc.mlockall(MCL_FUTURE)
    runner.prepare(words["exercises"])
    libc.munlockall()
    for number, exercise in enumerate(words["exercises"]):
        _write(Path(folder) / f"begun-{number}", b"")
        judge_one(Path(folder), number, exercise, descriptor)
    _write(Path(folder) / "done", b"")


def judge_one(folder: Path, number: int, exercise: dict[str, object], descriptor: int) -> None:
    """Run an exercise (plain data with the sources of its code) in its own namespaces, with the guest's channel as file
    `descriptor`, and write its answer, if there is one, to `answer-N` and the way in which it ended ("" for an answer,
    NOT_ISOLATED, LATE, or a clause) to `ended-N` in the folder; N is `number`. It is killed after MAX_GUEST_S s of the
    guest's time.
    """
    to_supervisor, from_student = os.pipe()
    pid_reader, pid_writer = os.pipe()
    waiter_pid = os.fork()
    if waiter_pid == 0:
        for end in (to_supervisor, pid_reader):
            os.close(end)
        run_isolated(folder, exercise, from_student, descriptor, pid_writer)
    for end in (from_student, pid_writer):
        os.close(end)
    student_pid = int(os.read(pid_reader, 32) or b"0")
    os.close(pid_reader)
    output = OutputReader(to_supervisor)
    late = output.watch()
    if late and student_pid:
        os.kill(student_pid, signal.SIGKILL)
    # Close it before waiting, so that remaining writers get an error.
    os.close(to_supervisor)
    _, status = os.waitpid(waiter_pid, 0)
    if not output.ready:
        end_reason = NOT_ISOLATED
    elif late:
        end_reason = LATE
    elif output.fault or output.answer is not None:
        end_reason = output.fault
    else:
        code = os.waitstatus_to_exitcode(status)
        end_reason = (
            "was ended: it took more memory than there is" if code == signal.SIGKILL else f"ended with status {code}"
        )
    if output.answer is not None:
        _write(folder / f"answer-{number}", output.answer)
    _write(folder / f"ended-{number}", end_reason.encode())


class OutputReader:
    """Reader of the output of a student's process: messages of limited size, which are not parsed here."""

    def __init__(self, from_student: int) -> None:
        """Prepare to read from `from_student`, the file descriptor of the student's output. After `watch`, `answer` has
        the answer or None, `fault` what is wrong or "", and `ready` is True if the code was started.
        """
        self._from_student = from_student
        self._buffer = bytearray()
        self.answer: bytes | None = None
        self.fault = ""
        self.ready = False

    def watch(self) -> bool:
        """Read the student's output until the answer is complete, a message is wrong, or all processes have ended, and
        keep the results as attributes; return True if MAX_GUEST_S s of the guest's time pass before, else False.
        """
        until_s = time.monotonic() + MAX_GUEST_S
        while self.answer is None and not self.fault:
            left_s = until_s - time.monotonic()
            if left_s <= 0 or not select.select([self._from_student], [], [], left_s)[0]:
                return True
            data = os.read(self._from_student, 1 << 16)
            if not data:
                break
            self._buffer += data
            self._read_messages()
        return False

    def _read_messages(self) -> None:
        """Take complete lines from the buffer until there is an answer or a fault: note the start, the answer, or that
        a message is of an unknown kind or too long.
        """
        while b"\n" in self._buffer and self.answer is None and not self.fault:
            line, _, rest = bytes(self._buffer).partition(b"\n")
            self._buffer = bytearray(rest)
            kind, content = line[:1], line[1:]
            if kind == runner.READY:
                self.ready = True
            elif kind == runner.ANSWER:
                self.answer = content
            else:
                self.fault = "sent a message of an unknown kind"
        if len(self._buffer) > MAX_MESSAGE_BYTES:
            self.fault = "sent too long a message"


def run_isolated(
    folder: Path,
    exercise: dict[str, object],
    from_student: int,
    descriptor: int,
    pid_writer: int,
) -> None:
    """Create namespaces, start the student's process for the exercise (plain data with the sources of its code) in
    them, write its process id to the file descriptor `pid_writer`, and wait for it; this process then exits with the
    number of its exit status or signal (1 after an error here) and never returns. `from_student` is the file descriptor
    to which the answer is written, `descriptor` the one of the guest's channel, `folder` the directory to be hidden.
    """
    code = 1
    try:
        check(libc.unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET), "unshare")
        student_pid = os.fork()
        if student_pid == 0:
            os.close(pid_writer)
            drop_rights(folder)
            os.write(from_student, runner.READY + b"\n")
            runner.work(exercise, from_student, descriptor)
            os._exit(0)
        os.write(pid_writer, str(student_pid).encode())
        for end in (pid_writer, from_student):
            os.close(end)
        code = min(255, abs(os.waitstatus_to_exitcode(os.waitpid(student_pid, 0)[1])))
    except BaseException:
        # The traceback goes to the guest's console, which the grader quotes when a guest does not work.
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def drop_rights(folder: Path) -> None:
    """Unmount `folder`, which has the answers, and empty the temporary directories in this process's namespaces; then
    give up the output, the environment and unlimited resources, move to the empty /tmp/home, and become the user
    STUDENT, who keeps only the right to read files. Raises OSError when a step fails.
    """
    check(libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None), "mount")
    check(libc.umount2(os.fsencode(folder), MNT_DETACH), "umount2")
    # Python and its packages may be below a directory that is emptied; mount them there again.
    needed = [
        path
        for path in sys.path
        if path.startswith(tuple(f"{place}/" for place in TEMPORARY_DIRECTORIES)) and os.path.isdir(path)
    ]
    kept_descriptors = {path: os.open(path, os.O_PATH) for path in needed}
    for place in TEMPORARY_DIRECTORIES:
        if os.path.isdir(place):
            options = f"size={HOME_MB}M,mode=1777"
            check(libc.mount(b"tmpfs", place.encode(), b"tmpfs", MS_NOSUID_NODEV, options.encode()), "mount")
    for path, handle in kept_descriptors.items():
        os.makedirs(path, exist_ok=True)
        check(libc.mount(f"/proc/self/fd/{handle}".encode(), os.fsencode(path), None, MS_BIND, None), "mount")
        os.close(handle)
    check(libc.mount(b"proc", b"/proc", b"proc", MS_NOSUID_NODEV, None), "mount")
    Path("/tmp/home").mkdir(mode=0o777)
    os.chdir("/tmp/home")
    os.environ.clear()
    os.environ.update({"HOME": "/tmp/home", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "NETLAB_PROGRESS": "0"})
    null_device = os.open("/dev/null", os.O_RDWR)
    for target in range(3):
        os.dup2(null_device, target)
    os.close(null_device)
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    limits = {
        resource.RLIMIT_NPROC: MAX_PROCESSES,
        resource.RLIMIT_AS: MAX_MEMORY_BYTES,
        resource.RLIMIT_FSIZE: MAX_FILE_BYTES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 256,
    }
    for kind, most in limits.items():
        resource.setrlimit(kind, (most, most))
    # Landlock restricts which host files can be read, whatever account owns them; keep only the right to read them.
    check(libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "prctl")
    os.setgroups([])
    os.setresgid(STUDENT, STUDENT, STUDENT)
    os.setresuid(STUDENT, STUDENT, STUDENT)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    kept = (ctypes.c_uint32 * 6)(CAP_DAC_READ_SEARCH, CAP_DAC_READ_SEARCH, 0, 0, 0, 0)
    check(libc.capset(header, kept), "capset")
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def protect() -> None:
    """Forbid other programs to trace this process or read its memory, and let the out-of-memory killer end all others
    first.
    """
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")


def _write(path: Path, data: bytes) -> None:
    """Write bytes to a file atomically: the file is there as a whole or not at all."""
    with replacement(path) as new:
        new.write_bytes(data)
