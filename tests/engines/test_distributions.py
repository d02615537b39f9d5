"""The packages that a user is told to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab_engines.agent import replacements
from netlab_engines.distributions import ALPINE, ARCH, DEBIAN, FEDORA, PACKAGES, SUSE, packages_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "install.md"


@pytest.mark.parametrize("program", ["iperf", "iperf3"])
def test_every_distribution_is_named_for_the_programs_without_a_replacement(program: str) -> None:
    assert set(PACKAGES[program]) == {DEBIAN, FEDORA, ARCH, SUSE, ALPINE}
    rows = PAGE.read_text().splitlines()
    for distribution in (FEDORA, ARCH, SUSE):
        row = next(row for row in rows if row.startswith(f"| {distribution} "))
        assert PACKAGES[program][distribution] in row.split(), row


def test_package_shared_by_all_distributions_is_named_once() -> None:
    assert packages_of("brctl") == "bridge-utils (Debian, Ubuntu, Fedora, Arch, openSUSE, Alpine)"


def test_every_replacement_can_name_its_package() -> None:
    replaced = set(replacements.PLACES["last"]) - {"cgcreate", "cgset", "cgdelete", "cgclassify"}
    assert replaced <= set(PACKAGES)
