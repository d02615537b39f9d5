"""The configuration fragment: read, bounded by versions, and checked to have taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import KernelError
from netlab_kernel import fragment
from netlab_kernel.edit import RECIPE
from netlab_kernel.fragment import Option

versions = st.tuples(st.integers(1, 20), st.integers(0, 40))
names = st.from_regex(r"CONFIG_[A-Z0-9_]{1,20}", fullmatch=True)
values = st.one_of(st.sampled_from(["y", "n", "m", "1000"]), st.from_regex(r'"[a-z0-9,:]{0,8}"', fullmatch=True))


@st.composite
def options(draw: st.DrawFn) -> Option:
    bounds = sorted(draw(st.lists(versions, min_size=2, max_size=2, unique=True)))
    since = bounds[0] if draw(st.booleans()) else None
    before = bounds[1] if draw(st.booleans()) else None
    return Option(draw(names), draw(values), since, before)


def option_line(option: Option) -> str:
    note = ""
    if option.since:
        note += " from {}.{}".format(*option.since)
    if option.before:
        note += " before {}.{}".format(*option.before)
    return f"{option.name}={option.value}" + (f"   #{note}" if note else "")


@given(st.lists(options(), max_size=8, unique_by=lambda option: option.name))
def test_fragment_holds_the_written_options(wanted: list[Option]) -> None:
    text = "# a comment\n\n" + "\n".join(map(option_line, wanted))
    assert fragment.parse(text) == wanted


@given(st.lists(options(), max_size=8, unique_by=lambda option: option.name), versions)
def test_a_configuration_that_has_every_line_in_force_has_taken(wanted: list[Option], version: tuple[int, int]) -> None:
    assert fragment.missing_lines(wanted, version, fragment.render(wanted, version)) == []


@given(st.lists(options(), min_size=1, max_size=8, unique_by=lambda option: option.name), versions)
def test_each_missing_line_in_force_is_named(wanted: list[Option], version: tuple[int, int]) -> None:
    expected = [o.line for o in wanted if o.in_force(version) and o.value != "n"]
    assert fragment.missing_lines(wanted, version, "CONFIG_OTHER=y\n") == expected


def test_bounds_include_the_first_version_and_exclude_the_last() -> None:
    option = Option("CONFIG_X", "y", (6, 17), (7, 3))
    seen = [v for v in [(6, 16, 9), (6, 17), (6, 17, 1), (7, 2, 8), (7, 3), (7, 3, 4)] if option.in_force(v)]
    assert seen == [(6, 17), (6, 17, 1), (7, 2, 8)]


def test_an_option_that_must_be_off_and_is_on_has_not_taken() -> None:
    assert fragment.missing_lines([Option("CONFIG_IPV6", "n")], (7, 3), "CONFIG_IPV6=y\n") == [
        "# CONFIG_IPV6 is not set"
    ]


@pytest.mark.parametrize("line", ["CONFIG_X", "X=y", "CONFIG_X = y", "CONFIG_X=y z", "config_x=y", "CONFIG_X="])
def test_a_line_of_another_kind_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(KernelError, match="Line 2 "):
        fragment.parse(f"CONFIG_OK=y\n{line}\n")


def test_two_lines_for_one_version_are_refused_and_for_different_ones_are_not() -> None:
    with pytest.raises(KernelError, match="CONFIG_X again"):
        fragment.parse("CONFIG_X=y # before 7.3\nCONFIG_X=n # from 7.2")
    assert len(fragment.parse("CONFIG_X=y # before 7.3\nCONFIG_X=n # from 7.3")) == 2


def test_the_checked_in_fragment_reads_and_knows_both_versions() -> None:
    found = fragment.parse((RECIPE / "pocket.config").read_text())
    new = fragment.render(found, (7, 3, 4))
    old = fragment.render(found, (6, 12, 107))
    assert "CONFIG_NET_SCH_DUALPI2=y" in new and "DUALPI2" not in old
    assert "CONFIG_PROC_SYSCTL=y" in old and "PROC_SYSCTL" not in new
    for line in ("CONFIG_HZ=1000", "CONFIG_TCP_CONG_TAHOE=y", "CONFIG_UML_TIME_TRAVEL_SUPPORT=y"):
        assert line in new and line in old


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    try:
        fragment.parse(text)
    except KernelError as error:
        assert "fragment" in str(error)
