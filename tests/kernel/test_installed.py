"""The kernel that is found, and the error if there is none."""

import json
import os
from pathlib import Path

import pytest

from netlab.base import cache as base_cache
from netlab.base.errors import KernelError
from netlab_engines.kernels import cache, parts, pocket_kernel
from netlab_kernel import command
from netlab_kernel.edits import recipe_hash


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NETLAB_KERNEL", raising=False)


def install_build(
    release: str, key: str, built_at: str = "2026-01-01", recipe: str | None = None, into: Path | None = None
) -> Path:
    home = (into or cache.kernels()) / f"{release}-{key}"
    home.mkdir(parents=True)
    facts = {
        "release": release,
        "key": key,
        "machine": "x86_64",
        "built_at": built_at,
        "recipe": recipe or recipe_hash(),
        "build_s": 150.5,
        "compile_s": 140.0,
        "compiler": "gcc 12",
        "static": True,
        "source": {"kind": "package", "name": "linux-source-7.3", "version": "7.3.4-1", "sha256": "0"},
    }
    (home / "build.json").write_text(json.dumps(facts))
    (home / "config").write_text("CONFIG_INET=y\nCONFIG_UML_TIME_TRAVEL_SUPPORT=y\nCONFIG_TCP_CONG_BBR=m\n")
    for name in ("linux", "mnexec"):
        (home / name).write_bytes(b"x")
        (home / name).chmod(0o755)
    return home


def test_without_a_kernel_the_remedies_are_named() -> None:
    with pytest.raises(KernelError, match="netlab kernel build") as caught:
        pocket_kernel.find()
    assert "unpack" in str(caught.value) and "$NETLAB_KERNEL" in str(caught.value)


def test_highest_version_of_this_recipes_builds_wins_and_then_the_latest() -> None:
    install_build("7.9.1", "a" * 12)
    install_build("7.10.0", "b" * 12, built_at="2026-01-01")
    install_build("7.10.0", "c" * 12, built_at="2026-02-01")
    assert [k.build["key"][0] for k in pocket_kernel.builds()] == ["c", "b", "a"]


def test_a_build_by_this_recipe_comes_first_even_if_older_or_of_an_older_kernel() -> None:
    """Else `make setup` would build for minutes after an update, and what it built would never run."""
    install_build("7.3.4", "a" * 12, built_at="2026-03-01", recipe="older")
    install_build("7.3.4", "b" * 12, built_at="2026-02-01")
    install_build("6.12.1", "c" * 12, built_at="2026-04-01")
    assert [k.build["key"][0] for k in pocket_kernel.builds()] == ["b", "c", "a"]


def test_a_kernel_that_an_administrator_put_there_is_found_with_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETLAB_SHARED", str(tmp_path / "shared"))
    install_build("7.3.4", "a" * 12, into=tmp_path / "shared" / "kernels")
    assert pocket_kernel.find().build["key"][0] == "a"
    assert not base_cache.root().exists(), "finding one writes nothing"
    install_build("7.4.0", "b" * 12)
    assert [k.build["key"][0] for k in pocket_kernel.builds()] == ["b", "a"]


def test_incomplete_directory_is_skipped_and_reported_on_request() -> None:
    install_build("7.3.4", "a" * 12)
    broken = install_build("7.9.0", "b" * 12)
    (broken / "mnexec").unlink()
    assert pocket_kernel.find().release == "7.3.4"
    with pytest.raises(KernelError, match=r"mnexec missing"):
        pocket_kernel.from_directory(broken)
    (broken / "mnexec").touch()
    (broken / "build.json").write_text("{}")
    with pytest.raises(KernelError, match=r"build\.json cannot be read"):
        pocket_kernel.from_directory(broken)


def test_capabilities_follow_from_configuration_and_version() -> None:
    kernel = pocket_kernel.from_directory(install_build("7.3.4", "a" * 12))
    assert {"virtual_time", "reno", "ecn", "seccomp"} <= kernel.capabilities
    assert not {"bbr", "cubic"} & kernel.capabilities, "a module is none of its parts: nothing loads it"
    assert (kernel.version, kernel.mnexec_path) == ((7, 3, 4), kernel.path.with_name("mnexec"))
    assert "seccomp" not in parts.capabilities_of("", (6, 12, 107))
    assert "seccomp" in parts.capabilities_of("", (6, 16))


def test_a_named_kernel_of_our_own_keeps_its_build(monkeypatch: pytest.MonkeyPatch) -> None:
    home = install_build("7.3.4", "a" * 12)
    monkeypatch.setenv("NETLAB_KERNEL", str(home / "linux"))
    assert pocket_kernel.find() == pocket_kernel.from_directory(home)


def test_foreign_build_is_refused_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "linux").write_bytes(b"another build's")
    for path, remedy in (
        (Path("/usr/bin/linux.uml"), "which netlab did not build. Set it to the file linux of a build, or unset it"),
        (tmp_path / "linux", r"mnexec, config, build\.json missing"),
    ):
        monkeypatch.setenv("NETLAB_KERNEL", str(path))
        with pytest.raises(KernelError, match=remedy):
            pocket_kernel.find()


def test_info_has_version_size_time_and_missing_features() -> None:
    text = command.describe(pocket_kernel.from_directory(install_build("7.3.4", "a" * 12)))
    for words in (
        "Linux 7.3.4",
        "0.0 MB",
        "in 150 s",
        "linux-source-7.3 7.3.4-1",
        "tahoe",
    ):
        assert words in text, words


def test_info_describes_a_kernel_of_a_wheel_which_has_no_times() -> None:
    home = install_build("7.3.4", "a" * 12)
    facts = json.loads((home / "build.json").read_text())
    times = ("built_at", "build_s", "compile_s")
    (home / "build.json").write_text(json.dumps({name: value for name, value in facts.items() if name not in times}))
    assert "built:         for a wheel, which does not say when" in command.describe(pocket_kernel.from_directory(home))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_cache_of_another_user_is_reported_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error for another user's cache does not claim that there is no kernel, because there may be one."""
    (tmp_path / "kernels").mkdir()
    tmp_path.chmod(0)
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    with pytest.raises(KernelError, match=r"cannot be read \(Permission denied\)\. Set NETLAB_CACHE"):
        pocket_kernel.find()
    tmp_path.chmod(0o700)
