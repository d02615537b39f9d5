"""What `netlab doctor` finds."""

from __future__ import annotations

import pytest

from netlab import cli, doctor


def test_doctor_names_what_is_missing_and_the_remedy(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    monkeypatch.delenv("NETLAB_KERNEL", raising=False)
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    assert cli.main(["doctor"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "pocket kernel MISSING" in said
    assert "netlab kernel build" in said
    assert "Not ready: pocket kernel" in said


@pytest.mark.library
def test_our_own_library_kernel_lacks_nothing() -> None:
    (features,) = [found for found in doctor.library() if found.name == "kernel features"]
    assert features.ok, features.seen
