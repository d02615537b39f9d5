"""The progress of a build."""

import os

import pytest

from netlab_engines.kernels import library_kernel, pocket_kernel
from netlab_engines.kernels.background_build import BuildProgress
from netlab_kernel import building, library_build
from netlab_kernel.progress import Meter, ProgressLine


class Tty:
    """The part of a text stream that `ProgressLine` uses."""

    def __init__(self, tty: bool) -> None:
        self.text, self._tty = "", tty

    def isatty(self) -> bool:
        return self._tty

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_progress_is_a_line_every_few_seconds_or_one_line_rewritten() -> None:
    for tty, newlines in ((False, 4), (True, 0)):
        now = [0.0]
        stream = Tty(tty)
        line = ProgressLine(stream, clock=lambda now=now: now[0])
        for second in range(16):
            now[0] = float(second)
            line.show(str(BuildProgress("compile", second / 100, 90.0 - second, "net/ipv4/tcp.o")), "compile")
        line.close()
        assert stream.text.count("\n") == newlines
        assert " 15%, about  75 s left: compile (net/ipv4/tcp.o)" in stream.text


def test_a_text_that_has_not_changed_is_printed_once() -> None:
    now = [0.0]
    stream = Tty(tty=False)
    line = ProgressLine(stream, clock=lambda: now[0])
    installing = "Python packages: installing (about 17 s left)"
    for text in [installing] * 10 + ["Python packages: done (about 1 s left)", installing]:
        line.show(text, "set-up")
        now[0] += 5
    assert stream.text.splitlines() == [installing, "Python packages: done (about 1 s left)", installing]


def test_the_estimate_follows_the_machines_own_pace() -> None:
    now = [0.0]
    moments: list[BuildProgress] = []
    meter = Meter(moments.append, {"fetch": 10.0, "compile": 100.0, "install": 10.0}, clock=lambda: now[0])
    meter.at("fetch")
    assert moments[-1].remaining_s == 120.0
    now[0] = 5.0
    meter.at("compile")
    assert (moments[-1].remaining_s, moments[-1].fraction) == (110.0, pytest.approx(10 / 120))
    now[0] = 105.0
    meter.at("compile", 0.5)
    assert moments[-1].remaining_s == pytest.approx(110.0), "half took 100 s: another 100 s, and installing"


@pytest.mark.pocket
@pytest.mark.skipif(bool(os.environ.get("NETLAB_KERNEL")), reason="another kernel may have other parts")
def test_the_first_build_expects_about_as_many_objects_as_there_are() -> None:
    """The progress would otherwise stay at 99 % for minutes."""
    assert pocket_kernel.find().build["objects"] == pytest.approx(building.USUAL_OBJECTS, rel=0.1)
    assert library_kernel.find().build["objects"] == pytest.approx(library_build.USUAL_OBJECTS, rel=0.1)
