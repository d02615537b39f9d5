"""The trial of the image: the table that the demo must print, and certificates that must not be in the image."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.programs import load


@pytest.fixture(scope="module")
def trial() -> ModuleType:
    return load("tools/image_trial.py")


def test_the_table_of_the_demo_is_read_from_the_readme(trial):
    table = trial.demo_table()
    assert table[0].startswith("flow quantity theory measured")
    assert len([line for line in table if "goodput" in line]) == 4


def test_a_certificate_of_the_builders_is_seen(trial, tmp_path):
    mark = "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n"
    (tmp_path / "bundle.crt").write_text("# a name\n" + mark.format("abc\ndef") + mark.format("ghi"))
    assert trial.certificates(tmp_path) == {"abcdef", "ghi"}
