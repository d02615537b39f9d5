"""Students' text in pages: code and formulas are rendered, and nothing else of it is HTML."""

from __future__ import annotations

import re

import pytest

from netlab_classroom.grading import prose
from netlab_classroom.grading.prose import Prose


def test_code_formulas_and_emphasis_are_rendered_and_the_rest_is_escaped() -> None:
    page = Prose().render(
        "# Title\nThe rate $G_\\text{max}$ of `a<b>` is **high** & *so* <i>, 2 * 3 * 4.\n```python\nx = '<b>'\n```"
    )
    assert page.startswith("<strong>Title</strong>\nThe rate <math ")
    assert "<msub><mi>G</mi><mtext>max</mtext></msub>" in page and "<code>a&lt;b&gt;</code>" in page
    assert (
        "<strong>high</strong> &amp; <em>so</em> &lt;i&gt;, 2 * 3 * 4." in page
        and "<pre>x = &#x27;&lt;b&gt;&#x27;\n</pre>" in page
    )


def test_a_formula_takes_no_room_in_height() -> None:
    assert "height" not in Prose().render(r"$\rule{1em}{9999em}$")


def test_sums_of_money_are_no_formula() -> None:
    assert Prose().render("It costs $5, then $6, and $ 7 $.") == "It costs $5, then $6, and $ 7 $."


@pytest.mark.parametrize(
    "text",
    [
        r"$\text{<script>alert(1)</script>}$",
        r"$\text{<img src=x onerror=alert(1)>}$",
        r"$\text{<img src='x' onerror='alert(1)'/>}$",
        r"$\href{javascript:alert(1)}{x}$",
        r"$\style{position:fixed}{x}$",
        r"$\class{mark}{x}$",
        r"$\text{</mtext></math><a href='//x'>y</a>}$",
        r"$\text{<!DOCTYPE x [<!ENTITY e 'x'>]>&e;}$",
        r"`<script>`",
        r"**<a href='//x'>**",
        "```\n</pre><script>\n```",
    ],
)
def test_no_text_becomes_an_element_of_its_own(text: str) -> None:
    """The converter of formulas escapes neither text nor links."""
    page = Prose().render(text)
    tags = set(re.findall(r"</?([a-zA-Z]+)", page))
    assert tags <= prose.TAGS | {"code", "strong", "pre"}
    for tag in re.findall(r"<[^>]*>", page):
        assert not re.search(r"\b(href|src|style|class|on\w+)\s*=", tag)


def test_a_formula_that_is_broken_too_long_or_too_late_stays_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Prose().render(r"$\frac{$") == r"<code>$\frac{$</code>"
    long = "x" * (prose.MAX_FORMULA_CHARACTERS + 1)
    assert Prose().render(f"${long}$") == f"<code>${long}$</code>"
    texts = Prose()
    monkeypatch.setattr(prose, "MAX_FORMULAS_S", -1)
    assert texts.render("$x$") == "<code>$x$</code>"
