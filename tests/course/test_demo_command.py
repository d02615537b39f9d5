"""The demonstration."""

from __future__ import annotations

from netlab_course import demo_command as demo


def test_the_demos_figures_have_a_theory_within_its_network():
    items = demo.traffic()
    assert [item.kind for item in items] == ["ping", "udp", "udp", "udp", "tcp"]
    ends = [item.start_s + (getattr(item, "duration_s", None) or 0) for item in items]
    assert all(end + 1 <= later.start_s for end, later in zip(ends[1:], items[2:], strict=False))
    assert ends[-1] < demo.DURATION_S
