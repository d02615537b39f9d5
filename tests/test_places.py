"""Stand-ins for places that are not here: WSL2, a clone from Windows, distributions without apt."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import ModuleType

import pytest

from netlab import engines
from netlab.commands import cli
from netlab_engines import doctor_report, host_kernel, launcher, pocket
from netlab_kernel import building, prerequisites
from tests.in_guest import json_printed_by
from tests.stand_ins import answer_as_kernel
from tests.waiting import free_port, wait_for

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "how-to" / "install.md"
WSL2 = "5.15.153.1-microsoft-standard-WSL2"


@pytest.fixture
def setup() -> ModuleType:
    specification = importlib.util.spec_from_file_location("netlab_setup_places", ROOT / "tools" / "setup.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules["netlab_setup_places"] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def wsl2(monkeypatch):
    """WSL2's kernel: no systemd, no Landlock, no netem; root is there."""
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    monkeypatch.setattr("platform.release", lambda: WSL2)
    monkeypatch.setattr(launcher, "landlock_version", lambda: 0)
    monkeypatch.setattr(host_kernel, "privilege", list)
    monkeypatch.setattr(shutil, "which", lambda name, **_more: f"/usr/bin/{name}")
    answer_as_kernel(monkeypatch, {"netem": "Specified qdisc kind is unknown"})


def test_wsl2_has_both_kernels_and_names_optional_parts(wsl2, monkeypatch, capsys):
    assert building.kinds_here() == ("pocket", "library")
    monkeypatch.setattr(engines, "preflight", lambda: "Ready: as anywhere.")
    monkeypatch.setattr(doctor_report, "pocket", pocket.machine_requirements)
    assert cli.main(["doctor"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "Landlock no this host has none" in output
    assert "`netlab grade` does not run without it" in output
    assert "kernel no lacks netem" in output
    assert "could not load the modules sch_netem. WSL2's kernel comes with Windows" in output
    assert "The pocket and the library engine bring their own kernel." in output
    assert output.endswith("Ready: as anywhere.")


@pytest.mark.parametrize(
    ("place", "release", "warned"),
    [
        ("/mnt/c/Users/anna/netlab", WSL2, True),
        ("/home/anna/netlab", WSL2, False),
        ("/mnt/data/netlab", "6.12.1", False),
    ],
)
def test_clone_on_a_disk_of_windows_is_reported_before_each_build(
    setup, monkeypatch, capsys, tmp_path, place, release, warned
):
    monkeypatch.setattr("platform.release", lambda: release)
    monkeypatch.setattr(setup, "ROOT", Path(place))
    monkeypatch.setattr(setup, "LOG", tmp_path / "log")
    monkeypatch.setattr(setup, "environment_is_ready", lambda: False)
    monkeypatch.setattr(setup, "missing_kernels", list)
    monkeypatch.setattr(setup, "missing_programs", lambda *_words: [])

    def stop(*_words):
        raise setup.SetupError("far enough")

    monkeypatch.setattr(setup, "make_environment_and_kernels", stop)
    assert setup.main([]) == 1
    assert ("a disk of Windows" in capsys.readouterr().out) is warned
    monkeypatch.setattr(setup, "environment_is_ready", lambda: True)
    assert setup.main([]) == 0
    assert ("a disk of Windows" in capsys.readouterr().out) is warned, "also where nothing is left to be built"


def programs_in(directory, **scripts):
    """A PATH with these programs, what the set-up's script takes from the system, and nothing else."""
    directory.mkdir()
    for name in ("dirname", "id", "uname"):
        (directory / name).symlink_to(shutil.which(name))
    for name, script in scripts.items():
        path = directory / name.replace("_", "-")
        path.unlink(missing_ok=True)
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
    return {"PATH": str(directory)}


def set_up(environment):
    script = ["/bin/sh", str(ROOT / "tools" / "setup.sh")]
    return subprocess.run(script, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Darwin", "x86_64"), ("Linux", "armv7l")])
def test_machine_without_a_usable_kernel_is_reported_before_installing(tmp_path, system, machine):
    touched = f"touch {tmp_path}/touched"
    uname = f"case $1 in -s) echo {system};; -m) echo {machine};; esac\n"
    done = set_up(programs_in(tmp_path / "bin", uname=uname, apt_get=touched, python3=touched))
    assert done.returncode == 1 and not (tmp_path / "touched").exists()
    assert f"Linux on x86_64 or aarch64; this is {system} on {machine}." in done.stderr
    assert "docs/how-to/install.md" in done.stderr and "Mac" in done.stderr and "WSL2" in done.stderr


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_both_processors_get_as_far_as_the_set_up_itself(tmp_path, machine):
    uname = f"case $1 in -s) echo Linux;; -m) echo {machine};; esac\n"
    done = set_up(programs_in(tmp_path / "bin", uname=uname, python3='[ "$1" = -c ] || echo "started $1"\n'))
    assert done.stdout == f"started {ROOT}/tools/setup.py\n", done.stderr


@pytest.mark.parametrize("apt", [{}, {"apt_get": "exit 0\n", "sudo": "exit 0\n", "env": "exit 0\n"}])
@pytest.mark.parametrize(
    ("python", "seen"),
    [({"python3": '[ "$1" = -c ] && exit 1; echo Python 3.6.15\n'}, "Python 3.6.15"), ({}, "no python3")],
)
def test_unsuitable_python_is_reported_with_the_versions_found(tmp_path, apt, python, seen):
    done = set_up(programs_in(tmp_path / "bin", **apt, **python))
    assert done.returncode == 1
    assert f"needs Python 3.10 to 3.14 with the modules venv and ensurepip; here is {seen}." in done.stderr
    assert "docs/how-to/install.md" in done.stderr


WITHOUT_SYSTEMD = """
import contextlib, json, os, shutil, subprocess, sys
sys.path.extend({path!r})
from pathlib import Path
from netlab.commands import cli
from tests.programs import load

while found := shutil.which("systemctl"):
    subprocess.run(["mount", "--bind", "/dev/null", found], check=True)
asked = []
sys.addaudithook(lambda event, words: asked.append(event) if "/systemd" in repr(words) or "systemctl" in repr(words) else None)
said = []
setup = load("tools/setup.py")
setup.say = said.append
setup.LOG = Path("log")
setup.environment_is_ready = lambda: False
setup.missing_kernels = lambda: ["pocket", "library"]
made = []
setup.make_environment_and_kernels = lambda *needed: made.append(needed)
run = subprocess.run


def all_but_the_self_check(command, **more):
    if command[1:] != ["demo"]:
        return run(command, **more)
    made.append("self-check")
    return subprocess.CompletedProcess(command, 0)


subprocess.run = all_but_the_self_check
setup.missing_programs = lambda *_words: []
status = setup.main([])
os.execv = lambda _program, words: made.append(words)
with contextlib.redirect_stdout(sys.stderr):
    cli.main(["lab", "--folder", "copies", "--", "--no-browser"])
print(json.dumps(dict(status=status, said=said, made=made, asked=asked, systemd=os.path.exists("/run/systemd"))))
"""


@pytest.mark.pocket
def test_without_systemd_the_set_up_and_the_server_go_all_their_way():
    """In a guest, whose /run is empty; only what takes the network and minutes is left out, and said to be done."""
    result = json_printed_by(WITHOUT_SYSTEMD, within_s=(100,))
    assert result["systemd"] is False
    assert result["status"] == 0
    environment_and_kernels, self_check, server = result["made"]
    assert environment_and_kernels == [True, ["pocket", "library"]]
    assert self_check == "self-check"
    assert "--no-browser" in server
    assert result["asked"] == []


WITHOUT_LANDLOCK = """
import netlab as nl
for engine in ("pocket", "library"):
    run = nl.run(nl.topologies.dumbbell(1, delay_ms=10), [nl.Ping("h1", "h2")], duration_s=2, engine=engine)
    print(run.settings["engine"], run.settings["confined"], round(run.pings.rtt_ms.median(), 2))
"""


def without_landlock(*words):
    """A Python's run for which the kernel has no Landlock: it is asked, and answers so."""
    command = [sys.executable, str(ROOT / "tests" / "without_landlock.py"), sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.pocket
@pytest.mark.library
def test_without_landlock_experiments_run_and_say_that_nothing_confined_them():
    done = without_landlock("-c", WITHOUT_LANDLOCK)
    assert done.stdout == "pocket False 20.31\nlibrary False 20.31\n", done.stderr


@pytest.mark.pocket
def test_missing_landlock_is_reported_by_doctor_and_refused_by_grading(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "anna.ipynb").write_text("never read")
    netlab = "from netlab.commands import cli; import sys; sys.exit(cli.main(sys.argv[1:]))"
    doctor_said = " ".join(without_landlock("-c", netlab, "doctor").stdout.split())
    assert "Landlock no this host has none" in doctor_said and "`netlab grade` does not run without it" in doctor_said
    done = without_landlock("-c", netlab, "grade", "1", tmp_path / "in", "--output", tmp_path / "out")
    assert done.returncode == 1
    assert "This host has no Landlock, so student code could read the key and your files." in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_make_lab_prints_and_opens_the_address_of_the_first_chapter(tmp_path):
    port, printed_to, given_to = free_port(), tmp_path / "printed", tmp_path / "given"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {given_to}.new && mv {given_to}.new {given_to}\n')
    browser.chmod(0o755)
    words = ["lab", "--folder", str(tmp_path / "chapters"), "--", f"--port={port}"]
    # Not with this machine's settings of Jupyter.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    with printed_to.open("w") as printed:
        server = subprocess.Popen(
            [sys.executable, "-c", f"from netlab.commands import cli; cli.main({words})"],
            stdout=printed,
            stderr=printed,
            stdin=subprocess.DEVNULL,
            env={**environment, "HOME": str(tmp_path), "BROWSER": str(browser)},
        )
    try:
        assert wait_for(lambda: given_to.exists() or server.poll() is not None)
        chapter = rf"http://(?:localhost|127\.0\.0\.1):{port}/lab/tree/00_start_here\.ipynb\?token=\w+"
        text = printed_to.read_text()
        addresses = re.findall(rf"(?m)^ +({chapter})$", text)
        assert addresses, text
        # A page of this file system a browser outside (the one of Windows next to WSL2) could not open.
        assert re.fullmatch(chapter, given_to.read_text())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for address in {*addresses, given_to.read_text()}:
            with opener.open(address, timeout=60) as page:
                assert page.status == 200 and "JupyterLab" in page.read().decode()
    finally:
        server.terminate()
        server.wait()


def test_scripts_of_a_clone_made_as_windows_makes_them_end_their_lines_as_linux_does(tmp_path):
    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    origin = tmp_path / "origin"
    origin.mkdir()
    names = [".gitattributes", "Makefile", "tools/setup.sh", "vm/machine.sh", "vm/cloud-init.yaml"]
    for name in names:
        (origin / name).parent.mkdir(exist_ok=True)
        (origin / name).write_bytes((ROOT / name).read_bytes())
    git("-C", "origin", "init", "-q")
    git("-C", "origin", "add", ".")
    git("-C", "origin", "commit", "-qm", "all")
    git("clone", "-q", "-c", "core.autocrlf=true", "-c", "core.eol=crlf", "origin", "windows")
    for name in names:
        assert b"\r" not in (tmp_path / "windows" / name).read_bytes(), name


@pytest.mark.parametrize(("tool", "python"), [("dnf", "python3"), ("pacman", "python"), ("zypper", "python311")])
def test_needs_of_the_kernels_have_documented_names_in_each_distribution(setup, monkeypatch, tool, python):
    monkeypatch.setattr(setup.shutil, "which", lambda name, **_more: name if name == tool else None)
    programs = [*prerequisites.NEEDED_PROGRAMS, "ip", "tc", *setup.OPTIONAL_PROGRAMS, "headers", "venv"]
    names = {setup.package_of(name) for name in programs}
    line = setup._install_command(sorted(names))
    assert line.startswith(f"sudo {setup.OTHER_TOOLS[tool][0]} ")
    page = next(row for row in PAGE.read_text().splitlines() if f"`sudo {tool} " in row)
    named, documented = set(line.split()), set(page.split("`")[1].split())
    assert named <= documented
    assert {name for name in named | documented if name.startswith("python")} == {python}


def test_the_table_of_the_page_leads_to_every_section():
    table, _end, sections = PAGE.read_text().partition("\n\n`netlab doctor`")
    linked = set(re.findall(r"\(#([\w-]+)\)", table))
    headings = re.findall(r"^## (.*)$", sections.partition("## For instructors")[0], re.MULTILINE)
    assert linked == {heading.lower().replace(",", "").replace("'", "").replace(" ", "-") for heading in headings}


def test_prose_outside_of_commands_names_no_emulator_device():
    prose = re.sub(r"^ {4,}.*$|`[^`]*`", "", PAGE.read_text(), flags=re.MULTILINE)
    assert not re.search(r"qemu-user|virtio|E1000|binfmt", prose, re.IGNORECASE)
