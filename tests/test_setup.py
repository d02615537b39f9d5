"""The set-up says what is missing and how to get it, and does not do again what is done."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import venv

import pytest

from netlab.base.errors import KernelError
from netlab_engines.distributions import ARCH, FEDORA, PACKAGES, SUSE
from netlab_engines.kernels import library_kernel, pocket_kernel, recipes
from tests.programs import ROOT
from tests.set_up import never, without
from tests.waiting import wait_for

PROGRAMS = ["gcc", "flex"]


def test_system_without_apt_gets_the_exact_list_of_needed_programs(monkeypatch, setup):
    without(monkeypatch, setup, "apt-get", "dnf", "pacman", "zypper")
    monkeypatch.setattr(setup.subprocess, "run", never)
    with pytest.raises(setup.SetupError) as caught:
        setup.install_system_packages([*PROGRAMS, "headers", "tc"])
    message = str(caught.value)
    assert "These are missing: gcc, flex, headers." in message
    assert "flex gcc iproute2 libc6-dev" in message
    assert "unpack FILE" in message


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("dnf", "sudo dnf install flex gcc glibc-devel kernel-headers iproute iproute-tc"),
        ("pacman", "sudo pacman -S --needed flex gcc glibc linux-api-headers iproute2"),
        ("zypper", "sudo zypper install flex gcc glibc-devel linux-glibc-devel iproute2"),
    ],
)
def test_other_distribution_gets_its_own_line(monkeypatch, setup, tool, line):
    without(monkeypatch, setup, *{"apt-get", "dnf", "pacman", "zypper"} - {tool})
    monkeypatch.setattr(setup.subprocess, "run", never)
    with pytest.raises(setup.SetupError) as caught:
        setup.install_system_packages(["gcc", "flex", "headers", "tc"])
    assert line in str(caught.value)


@pytest.fixture
def no_apt(monkeypatch, setup, tmp_path):
    """A distribution without apt, where neither packages nor kernels are there; nothing must be made."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "dnf").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(setup, "LOG", tmp_path / "log")
    monkeypatch.setattr(setup, "environment_is_ready", lambda: False)
    monkeypatch.setattr(setup, "missing_kernels", lambda: ["pocket", "library"])
    monkeypatch.setattr(setup, "missing_programs", lambda *_what: [])
    monkeypatch.setattr(setup, "make_environment_and_kernels", never)


def test_all_missing_parts_are_reported_at_once_without_apt(monkeypatch, setup, no_apt, capsys):
    monkeypatch.setattr(setup, "missing_programs", lambda *_what: ["flex", "tc"])
    assert setup.main([]) == 1
    output = capsys.readouterr().err
    steps = [
        "sudo dnf install flex iproute",
        "curl -LO https://cdn.kernel.org/",
        "build --source linux-",
        "run make again",
    ]
    places = [output.index(step) for step in steps]
    assert places == sorted(places)


def test_without_apt_the_commands_for_the_kernels_need_no_package_of_pythons(setup, no_apt, capsys, tmp_path):
    assert setup.main([]) == 1
    output = capsys.readouterr().err
    named = re.search(
        r"curl -LO https://cdn\.kernel\.org/pub/linux/kernel/v(\d+)\.x/(linux-\1\.[\d.]+\.tar\.xz)$", output, re.M
    )
    assert named, output
    source, commands = named[2], re.findall(rf"^  {re.escape(sys.executable)} (-m netlab\S+ .*)$", output, re.MULTILINE)
    answers = {
        f"-m netlab_kernel.command build --source {source}": f"no kernel source at {ROOT / source}",
        "-m netlab_kernel.command unpack FILE": "no file FILE",
    }
    assert set(commands) == set(answers)
    for command, answer in answers.items():
        # Use a Python without the environment's packages; the compiler is checked first.
        bare = [sys.executable, "-S", "-E", *command.split()]
        environment = {"PATH": os.defpath, "NETLAB_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}
        done = subprocess.run(bare, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert answer in done.stderr, done.stderr


def test_a_source_that_is_kept_serves_without_apt(setup, no_apt, tmp_path, capsys):
    (tmp_path / "cache" / "sources").mkdir(parents=True)
    (tmp_path / "cache" / "sources" / "linux-source-7.3_7.3.4-1_all.deb").touch()
    with pytest.raises(AssertionError, match="nothing must be run"):
        setup.main([])


def test_apt_with_an_outdated_source_is_reported_before_anything_is_made(monkeypatch, setup, no_apt, capsys):
    def too_old():
        raise setup.building.KernelError("apt's newest source here is Linux 5.15.0.")

    monkeypatch.setattr(setup.sources.apt, "check", too_old)
    assert setup.main([]) == 1
    assert capsys.readouterr().err == "netlab: apt's newest source here is Linux 5.15.0.\nThen run make again.\n"


@pytest.fixture
def own_environment(monkeypatch, setup, tmp_path):
    """The set-up of a clone in `tmp_path`, whose Python makes an environment that takes every order."""
    program = "#!/bin/sh\n"
    python = tmp_path / "python3"
    python.write_text(
        f'{program}mkdir -p "$4/bin" && printf "{program.strip()}\\nsleep 0.2\\n" > "$4/bin/python" && chmod 755 "$4/bin/python"\n'
    )
    python.chmod(0o755)
    for name in ("requirements.lock", "requirements-3.10.lock", "pyproject.toml"):
        (tmp_path / name).touch()
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    monkeypatch.setattr(setup, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(setup, "STAMP", tmp_path / ".venv" / "netlab-setup")
    monkeypatch.setattr(setup, "pythons", lambda: [setup.Python(str(python), 11, True)])
    return tmp_path / ".venv"


@pytest.mark.slow
@pytest.mark.parametrize(("failure", "kept"), [(KernelError("No source."), True), (KeyboardInterrupt(), False)])
def test_failed_kernel_build_keeps_packages_and_an_interrupt_removes_them(
    monkeypatch, setup, own_environment, failure, kept
):
    def build(**_more):
        raise failure

    monkeypatch.setattr(setup.building, "build", build)
    with pytest.raises(type(failure)):
        setup.make_environment_and_kernels(need_environment=True, kinds=["library"])
    assert own_environment.exists() is kept
    assert setup.STAMP.exists() is kept


def test_a_second_interrupt_leaves_no_part_of_an_environment(monkeypatch, setup, own_environment):
    def build(**_more):
        assert wait_for(own_environment.exists)
        raise KeyboardInterrupt

    remove = setup.shutil.rmtree

    def interrupt_and_remove(*words, **more):
        os.kill(os.getpid(), signal.SIGINT)
        remove(*words, **more)

    monkeypatch.setattr(setup.building, "build", build)
    monkeypatch.setattr(setup.shutil, "rmtree", interrupt_and_remove)
    with pytest.raises(KeyboardInterrupt):
        setup.make_environment_and_kernels(need_environment=True, kinds=["library"])
    assert not own_environment.exists()


def test_an_interrupt_removes_what_pip_has_unpacked(monkeypatch, setup, own_environment):
    """Ended at once, pip removes nothing itself."""
    temporary = own_environment.parent / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    python = own_environment.parent / "python3"
    python.write_text(python.read_text().replace("sleep 0.2", "mktemp -d\\nsleep 60"))

    def build(**_more):
        assert wait_for(lambda: [*temporary.iterdir(), *own_environment.glob("tmp/*")])
        raise KeyboardInterrupt

    monkeypatch.setattr(setup.building, "build", build)
    with pytest.raises(KeyboardInterrupt):
        setup.make_environment_and_kernels(need_environment=True, kinds=["library"])
    assert not own_environment.exists()
    assert not list(temporary.iterdir())


def test_a_user_without_sudo_gets_the_line_for_the_administrator(monkeypatch, setup):
    without(monkeypatch, setup, "sudo")
    monkeypatch.setattr(setup.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(setup.subprocess, "run", never)
    with pytest.raises(setup.SetupError, match="ask your administrator for\n  apt-get install .* gcc"):
        setup.install_system_packages(["gcc"])


def test_a_user_is_not_asked_for_a_password_for_programs_of_hosts_but_gets_the_line(monkeypatch, setup, capsys):
    monkeypatch.setattr(setup.subprocess, "run", never)
    monkeypatch.setattr(setup.os, "geteuid", lambda: 1000)
    without(monkeypatch, setup)
    setup.install_system_packages([])
    assert capsys.readouterr().out == ""
    setup.install_system_packages(["ping", "iperf"])
    output = capsys.readouterr().out
    assert "Commands in hosts will lack ping, iperf." in output
    assert "sudo apt-get install -y --no-install-recommends iperf iputils-ping\n" in output


@pytest.mark.parametrize("status", [0, 100])
def test_root_gets_the_programs_of_hosts_too_and_set_up_continues_if_apt_fails(
    monkeypatch, setup, tmp_path, capsys, status
):
    ran = []

    def run(command, **more):
        ran.append(command)
        return subprocess.CompletedProcess(command, status)

    without(monkeypatch, setup)
    monkeypatch.setattr(setup.os, "geteuid", lambda: 0)
    monkeypatch.setattr(setup, "LOG", tmp_path / "log")
    monkeypatch.setattr(setup.subprocess, "run", run)
    setup.install_system_packages(["iperf", "iperf3"])
    assert ran[-1][-2:] == ["iperf", "iperf3"]
    assert ("could not be installed" in capsys.readouterr().out) is (status != 0)


def test_the_set_up_and_the_guest_agree_on_the_names_of_packages(setup):
    for tool, distribution in (("dnf", FEDORA), ("pacman", ARCH), ("zypper", SUSE)):
        for program in ("iperf", "iperf3"):
            own_name = setup.OTHER_TOOLS[tool][1].get(setup.package_of(program), setup.package_of(program))
            assert own_name == PACKAGES[program][distribution]


@pytest.mark.parametrize(("uid", "prefix"), [(0, []), (1000, ["sudo", "-n"])])
def test_apt_is_run_without_questions(monkeypatch, setup, tmp_path, uid, prefix):
    without(monkeypatch, setup)
    ran = []

    def run(command, **more):
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(setup, "LOG", tmp_path / "log")
    monkeypatch.setattr(setup.os, "geteuid", lambda: uid)
    monkeypatch.setattr(setup.sys.stdin, "isatty", lambda: False, raising=False)
    monkeypatch.setattr(setup.subprocess, "run", run)
    setup.install_system_packages(["flex"])
    assert ran[1] == [
        *prefix,
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "install",
        "-y",
        "--no-install-recommends",
        "flex",
    ]


def test_an_environment_is_made_again_when_the_pins_change(monkeypatch, setup, tmp_path):
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    for name in ("requirements.lock", "requirements-3.10.lock", "pyproject.toml"):
        (tmp_path / name).write_text("numpy==1\n")
    stamps = [setup.environment_stamp(11), setup.environment_stamp(12), setup.environment_stamp(10)]
    (tmp_path / "requirements.lock").write_text("numpy==2\n")
    assert setup.environment_stamp(11) not in stamps
    assert setup.environment_stamp(12) not in stamps
    assert setup.environment_stamp(10) == stamps[2]


def test_a_directory_that_is_no_environment_is_not_kept(monkeypatch, setup, tmp_path):
    monkeypatch.setattr(setup, "VENV", tmp_path / ".venv")
    assert setup.environment_minor() is None
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    assert setup.environment_minor() is None


def test_an_environment_that_lost_its_pip_is_made_again(monkeypatch, setup, tmp_path):
    venv.create(tmp_path / ".venv", symlinks=True)
    monkeypatch.setattr(setup, "VENV", tmp_path / ".venv")
    assert setup.environment_minor() is None
    packages = next((tmp_path / ".venv/lib").glob("python*/site-packages"))
    (packages / "pip.py").touch()
    assert setup.environment_minor() == sys.version_info.minor


def test_every_pin_is_exact():
    for name in ("requirements.lock", "requirements-3.10.lock"):
        lines = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]
        assert lines
        assert [line for line in lines if line.count("==") != 1 or " " in line] == []


def test_a_release_on_a_system_without_apt_is_refused_with_the_names_of_packages(setup, no_apt, capsys):
    assert setup.main(["--release"]) == 1
    assert "Make a release on Debian or Ubuntu; there, they are in nodejs npm gcc-aarch64" in capsys.readouterr().err


def test_unknown_argument_of_the_set_up_is_reported(capsys, setup):
    assert setup.main(["--sytsem"]) == 2
    assert "--system, --lab or --release [--image], got --sytsem" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pocket", "own", "failure", "machine", "missing"),
    [
        (True, True, "", "x86_64", []),
        (True, False, "", "x86_64", ["library"]),
        (True, False, "It does not link.", "x86_64", []),
        (False, True, "", "x86_64", ["pocket"]),
        (False, True, "", "aarch64", []),
        (False, False, "", "aarch64", ["library"]),
    ],
)
def test_set_up_builds_supported_kernels_and_repeats_no_failure(
    monkeypatch, setup, pocket, own, failure, machine, missing
):
    class Found:
        build = {"recipe": setup.pocket_kernel.recipes.POCKET}  # noqa: RUF012 (a stand-in)

    monkeypatch.delenv("NETLAB_KERNEL", raising=False)
    monkeypatch.setattr(setup.pocket_kernel, "builds", lambda: [Found()] if pocket else [])
    monkeypatch.setattr(setup.library_kernel, "ready", lambda: Found() if own else None)
    monkeypatch.setattr(setup.library_kernel, "failure", lambda: failure)
    monkeypatch.setattr(setup.building.platform, "machine", lambda: machine)
    assert setup.missing_kernels() == missing


@pytest.mark.parametrize(
    ("missing", "failure", "now", "behind"),
    [
        (["pocket", "library"], "", ["library"], True),
        (["pocket"], "", None, True),
        (["pocket"], "The library kernel does not link.", ["pocket"], False),
        ([], "", None, False),
    ],
)
def test_library_kernel_serves_chapters_while_the_pocket_kernel_is_built(
    monkeypatch, setup, missing, failure, now, behind
):
    created, ran = [], []
    monkeypatch.setattr(setup, "environment_is_ready", lambda: True)
    monkeypatch.setattr(setup, "missing_kernels", lambda: missing)
    monkeypatch.setattr(setup, "missing_programs", lambda *_what: [])
    monkeypatch.setattr(setup.library_kernel, "failure", lambda: failure)
    monkeypatch.setattr(setup.sources, "why_no_source", lambda: "")
    monkeypatch.setattr(setup, "set_up_now", lambda _environment, kinds, _began_s: created.append(kinds))
    monkeypatch.setattr(setup.subprocess, "run", lambda command, **_more: ran.append(command[-1]))
    assert setup.main(["--lab"]) == 0
    assert created == ([now] if now else [])
    assert any("background_builder.start()" in command for command in ran) is behind


@pytest.mark.parametrize(("arguments", "compiled"), [(["--lab"], False), ([], True)])
def test_chapters_do_not_wait_until_all_modules_of_python_are_compiled(monkeypatch, setup, arguments, compiled):
    records, started = [], []
    monkeypatch.setenv("PIP_COMPILE", "yes")
    monkeypatch.setattr(setup, "environment_is_ready", lambda: False)
    monkeypatch.setattr(setup, "missing_kernels", list)
    monkeypatch.setattr(setup, "missing_programs", lambda *_what, **_more: [])
    monkeypatch.setattr(setup, "set_up_now", lambda *_what: records.append(setup.os.environ["PIP_COMPILE"]))
    monkeypatch.setattr(setup.subprocess, "Popen", lambda command, **_more: started.append(command))
    assert setup.main(arguments) == 0
    assert records == ["yes" if compiled else "no"]
    assert ["compileall" in command for command in started] == ([] if compiled else [True])


def test_python_next_to_a_clone_finds_the_package_and_not_the_folder(setup, tmp_path):
    """A clone is called netlab, as the package is: from its parent the folder would be imported, which has nothing in it."""
    clone, site = tmp_path / "netlab", tmp_path / "site"
    (clone / "netlab").mkdir(parents=True)
    (clone / "netlab" / "__init__.py").write_text("Topology = 'found'\n")
    site.mkdir()
    program = setup.CLONE_ON_PATH.replace('sysconfig.get_path("purelib")', repr(str(site)))
    subprocess.run([sys.executable, "-c", program, str(clone)], check=True)
    look = f"import site, sys; sys.path[:] = [p for p in sys.path if 'site' not in p]; site.addsitedir({str(site)!r}); "
    result = subprocess.run(
        [sys.executable, "-S", "-E", "-c", look + "import netlab; print(netlab.Topology)"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert result.stdout == "found\n", result.stderr


@pytest.fixture
def wheel(monkeypatch, tmp_path):
    """The kernels of a wheel in an environment whose `netlab` is on PATH; nothing is in the user's cache."""
    environment = tmp_path / "environment"
    package = environment / "lib" / "netlab"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "netlab").touch()
    python = environment / "bin" / "python3"
    python.write_text(f"#!/bin/sh\necho {package}/__init__.py\n")
    python.chmod(0o755)
    monkeypatch.setenv("PATH", str(environment / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    for name in ("VIRTUAL_ENV", "NETLAB_KERNEL"):
        monkeypatch.delenv(name, raising=False)
    for kind, programs, recipe in (
        ("kernels", ["linux", "mnexec"], recipes.POCKET),
        ("libraries", ["netlab-library", "mnexec"], recipes.LIBRARY),
    ):
        home = package / "carried" / kind / "7.3.4-aaaaaaaaaaaa"
        home.mkdir(parents=True)
        facts = {"release": "7.3.4", "key": "a" * 12, "machine": platform.machine(), "recipe": recipe}
        for name, text in (("build.json", json.dumps(facts)), ("config", "CONFIG_INET=y\n")):
            (home / name).write_text(text)
        for name in programs:
            (home / name).write_text("#!/bin/sh\n")
    return package / "carried"


@pytest.fixture
def built(monkeypatch, setup):
    """The kinds of kernel that the set-up builds; packages and programs are there."""
    kinds = []
    monkeypatch.setattr(setup, "environment_is_ready", lambda: True)
    monkeypatch.setattr(setup, "missing_programs", lambda *_what: [])
    monkeypatch.setattr(setup.sources, "why_no_source", lambda: "")
    monkeypatch.setattr(setup, "set_up_now", lambda _environment, now, _began_s: kinds.extend(now))
    return kinds


def test_kernels_of_an_installed_wheel_by_the_same_recipe_are_copied_and_not_built(
    setup, wheel, built, tmp_path, capsys
):
    assert setup.main([]) == 0
    assert built == []
    assert str(wheel / "libraries" / "7.3.4-aaaaaaaaaaaa") in capsys.readouterr().out
    for kernel in (library_kernel.ready(), *pocket_kernel.builds()):
        assert kernel.path.is_relative_to(tmp_path / "cache") and os.access(kernel.path, os.X_OK)
    assert setup.main([]) == 0 and capsys.readouterr().out == "", "all is there"


@pytest.mark.parametrize(("fact", "value"), [("recipe", "0" * 64), ("machine", "riscv64")])
def test_a_kernel_of_a_wheel_by_another_recipe_or_for_another_processor_is_built(setup, wheel, built, fact, value):
    about = wheel / "libraries" / "7.3.4-aaaaaaaaaaaa" / "build.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), fact: value}))
    assert setup.main([]) == 0
    assert built == ["library"]


def test_environments_without_netlab_or_with_a_broken_python_are_passed_over(
    setup, wheel, built, tmp_path, monkeypatch
):
    broken = tmp_path / "broken" / "bin"
    broken.mkdir(parents=True)
    for name in ("netlab", "python3"):
        (broken / name).write_text("not a program")
        (broken / name).chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "broken"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'nowhere'}:{broken}:/usr/bin:/bin")
    assert setup.installed_kernels.carried_directories(ROOT) == []
    monkeypatch.setenv("PATH", str(broken))
    monkeypatch.setenv("VIRTUAL_ENV", str(wheel.parents[2]))
    assert setup.installed_kernels.carried_directories(ROOT) == [wheel]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_on_the_path_that_the_user_may_not_read_is_passed_over(tmp_path):
    (tmp_path / "private/bin").mkdir(parents=True)
    (tmp_path / "private").chmod(0)
    code = "import sys; sys.path.insert(0, 'tools'); import installed_kernels; print(*installed_kernels.pythons())"
    variables = {**os.environ, "PATH": f"{tmp_path}/private/bin:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    (tmp_path / "private").chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) not in done.stdout
