"""The names that `benchmarks/packetdrill.py` takes; the scripts themselves are played by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs import load

packetdrill = load("benchmarks/packetdrill.py")


@pytest.fixture
def scripts(tmp_path: Path) -> dict[str, Path]:
    """Two scripts and one that is for IPv6 alone, by name."""
    for name, text in (
        ("tcp_slow_start", "--ip_version=ipv4"),
        ("tcp_slow_end", ""),
        ("tcp_ipv6", "// --ip_version=ipv6"),
    ):
        (tmp_path / f"{name}.pkt").write_text(text)
    return {path.stem: path for path in sorted(tmp_path.glob("*.pkt"))}


def test_a_script_is_chosen_by_its_name_with_or_without_its_ending(scripts: dict[str, Path]) -> None:
    assert list(packetdrill.choose_scripts(scripts, [])) == ["tcp_slow_end", "tcp_slow_start"]
    for name in ("tcp_slow_start", "tcp_slow_start.pkt", "packetdrill/tcp_slow_start.pkt"):
        assert packetdrill.choose_scripts(scripts, [name]) == {"tcp_slow_start": scripts["tcp_slow_start"]}


def test_names_without_a_script_end_the_program_with_similar_ones(scripts: dict[str, Path]) -> None:
    with pytest.raises(SystemExit) as ended:
        packetdrill.choose_scripts(scripts, ["tcp_slow_start", "tcp_slow_strat", "qqq", "tcp_ipv6.pkt"])
    records = str(ended.value).split("\n")
    assert ended.value.code not in (0, None)
    assert records[0].startswith("There is no script tcp_slow_strat; did you mean tcp_slow_start")
    assert records[1:] == [
        "There is no script qqq; there are 3, such as tcp_ipv6.",
        "tcp_ipv6 is for IPv6 alone, and the kernel is built without it.",
    ]


def test_an_unknown_option_ends_the_program() -> None:
    with pytest.raises(SystemExit, match="Unknown option: --putback. There is --put-back"):
        packetdrill.main(["--putback"])


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("TCP_Slow_Strat", "tcp_slow_start"),
        ("tcp-slow-start", "tcp_slow_start"),
        ("START", "tcp_slow_start"),
        ("SLOW", "tcp_slow_end or tcp_slow_start"),
    ],
)
def test_a_name_in_capitals_or_a_part_of_a_name_has_similar_ones(
    name: str, close: str, scripts: dict[str, Path]
) -> None:
    with pytest.raises(SystemExit, match=f"There is no script {name}; did you mean {close}"):
        packetdrill.choose_scripts(scripts, [name])


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with all programs that are needed; no others are found."""
    for name in ("packetdrill", *packetdrill.PROGRAMS):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PACKETDRILL", raising=False)
    return tmp_path


def test_only_programs_that_are_missing_are_named(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert packetdrill.find_packetdrill() == str(installed / "packetdrill")
    (installed / "packetdrill").rename(installed / "own")
    with pytest.raises(SystemExit, match=r"^packetdrill is not installed\. Build it .* set PACKETDRILL to its path\.$"):
        packetdrill.main([])
    monkeypatch.setenv("PACKETDRILL", "/no/packetdrill")
    with pytest.raises(SystemExit, match=r"^PACKETDRILL is /no/packetdrill, where no program is\. Build it"):
        packetdrill.main([])
    monkeypatch.setenv("PACKETDRILL", str(installed / "own"))
    (installed / "ethtool").unlink()
    with pytest.raises(SystemExit, match=r"^Not installed: ethtool\. Install it\.$"):
        packetdrill.main([])
    (installed / "tc").unlink()
    with pytest.raises(SystemExit, match=r"^Not installed: ethtool, tc\. Install them\.$"):
        packetdrill.main([])
