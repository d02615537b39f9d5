import errno
import stat
from pathlib import Path

import pytest

from netlab.base.files import replacement


def test_replacement_takes_the_place_of_a_file_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    target.write_text("old")
    target.chmod(0o640)
    with replacement(target) as new:
        new.write_text("new")
        assert new.parent == target.parent and target.read_text() == "old"
    assert target.read_text() == "new" and stat.S_IMODE(target.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [target]


def test_replacement_of_a_missing_file_has_the_usual_mode(tmp_path: Path) -> None:
    with replacement(tmp_path / "result.json") as new:
        new.write_text("new")
    (tmp_path / "ordinary").write_text("")
    assert (tmp_path / "result.json").read_text() == "new"
    assert (tmp_path / "result.json").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), OSError(errno.ENOSPC, "full"), ValueError()])
def test_file_stays_and_nothing_is_left_when_its_replacement_is_interrupted(
    tmp_path: Path, error: BaseException
) -> None:
    target = tmp_path / "result.json"
    target.write_text("old")

    def stop_halfway() -> None:
        with replacement(target) as new:
            new.write_text("half")
            raise error

    with pytest.raises(type(error)):
        stop_halfway()
    assert target.read_text() == "old" and list(tmp_path.iterdir()) == [target]


def test_nothing_is_left_when_the_new_file_cannot_take_the_place(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    target.mkdir()
    with pytest.raises(IsADirectoryError), replacement(target) as new:
        new.write_text("new")
    assert list(tmp_path.iterdir()) == [target]


def test_error_names_the_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacement(tmp_path / "none" / "result.json"):
        pass
