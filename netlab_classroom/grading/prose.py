"""Conversion of text with a little Markdown to safe HTML: code, formulas and emphasis; everything else is escaped and
keeps its line breaks.
"""

import html
import re
import time
import xml.etree.ElementTree as ET

MAX_FORMULA_CHARACTERS = 300
MAX_FORMULAS_S = 3.0
"""Processor time in s for all formulas of a page: a page of the whole class must not fail because of one student."""
TAGS = frozenset(
    (
        "math",
        "mrow",
        "mi",
        "mo",
        "mn",
        "ms",
        "mtext",
        "mspace",
        "msub",
        "msup",
        "msubsup",
        "mfrac",
        "msqrt",
        "mroot",
        "munder",
        "mover",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mpadded",
        "mphantom",
    )
)
ATTRIBUTES = frozenset(
    (
        "display",
        "mathvariant",
        "stretchy",
        "fence",
        "form",
        "separator",
        "accent",
        "linethickness",
        "width",
        "columnalign",
        "rowspacing",
        "columnspacing",
        "displaystyle",
        "scriptlevel",
        "minsize",
        "maxsize",
        "largeop",
        "movablelimits",
        "lspace",
        "rspace",
    )
)
"""The attributes that are kept. Heights are not among them, or one student's formula could fill pages with empty space."""
VALUE = re.compile(r"[\w.%+ -]{0,40}")
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_PARTS = re.compile(
    r"```(?:[^\S\n]*\w*\n)?(?P<block>.*?)```"
    r"|`(?P<code>[^`\n]+)`"
    r"|\$\$(?P<display>[^$]+)\$\$"
    r"|\$(?!\s)(?P<formula>[^$\n]+)(?<!\s)\$(?!\d)"
    r"|\*\*(?P<strong>[^*\n]+)\*\*"
    r"|(?<![\w*])\*(?![\s*])(?P<em>[^*\n]+)(?<!\s)\*(?![\w*])"
    r"|^\#{1,6}[^\S\n]+(?P<heading>[^\n]+)$",
    re.DOTALL | re.MULTILINE,
)


class Prose:
    """Conversion of the texts of one page to HTML; the texts share the processor time for formulas."""

    def __init__(self) -> None:
        """Begin a page, whose formulas have used no processor time yet."""
        self._used_s = 0.0

    def render(self, text: str) -> str:
        """Return untrusted text with a little Markdown (code, formulas, emphasis, headings) as safe HTML, with its line
        breaks; all else is escaped.

        >>> Prose().render("a < `b<c>` and **d**")
        'a &lt; <code>b&lt;c&gt;</code> and <strong>d</strong>'
        """
        found, at = [], 0
        for part in _PARTS.finditer(text):
            found += [html.escape(text[at : part.start()]), self._part(part.lastgroup or "", part[part.lastgroup or 0])]
            at = part.end()
        return "".join([*found, html.escape(text[at:])])

    def _part(self, kind: str, content: str) -> str:
        """Return the HTML of a part of a text: `content`, without its marks, as `kind`, the name of a group in `_PARTS`
        such as "code" or "heading".
        """
        if kind in ("formula", "display"):
            return self._formula(content, kind)
        tag = {"block": "pre", "code": "code", "em": "em"}.get(kind, "strong")
        return f"<{tag}>{html.escape(content)}</{tag}>"

    def _formula(self, latex: str, kind: str) -> str:
        """Return a LaTeX formula as the text of MathML; its escaped source if it is too long, invalid, or the page's
        processor time for formulas is used up. `kind` is "formula" (in a line of text) or "display" (on its own).
        """
        mark = "$" if kind == "formula" else "$$"
        source = f"<code>{html.escape(mark + latex + mark)}</code>"
        if len(latex) > MAX_FORMULA_CHARACTERS or self._used_s > MAX_FORMULAS_S:
            return source
        began_s = time.process_time()
        try:
            return formula(latex, display="inline" if kind == "formula" else "block")
        except Exception:  # noqa: BLE001 (after any error of the converter the source is shown)
            return source
        finally:
            self._used_s += time.process_time() - began_s


def formula(latex: str, display: str = "inline") -> str:
    r"""Return a LaTeX formula as MathML that has only known elements and attributes; `display` is "inline" or "block".
    Raises ValueError, or an error of the converter, when that is impossible.

    >>> formula(r"\text{<b>x</b>}")
    Traceback (most recent call last):
    ValueError: <b> is not a part of a formula
    """
    from latex2mathml.converter import convert

    # The converter escapes neither text nor links: parse its output, and write known elements anew.
    return _clean_element(ET.fromstring(convert(latex, display=display)))  # noqa: S314 (no entities: the declaration is ours)


def _clean_element(element: ET.Element) -> str:
    """Return an element of MathML, with all that is in it, as text without namespaces and without attributes that are
    unknown or have an unusual value. Raises ValueError for an unknown element.
    """
    tag = element.tag.removeprefix(NAMESPACE)
    if tag not in TAGS:
        raise ValueError(f"<{tag}> is not a part of a formula")
    attributes = "".join(
        f' {name}="{value}"' for name, value in element.attrib.items() if name in ATTRIBUTES and VALUE.fullmatch(value)
    )
    inner = "".join(f"{_clean_element(child)}{html.escape(child.tail or '')}" for child in element)
    return f"<{tag}{attributes}>{html.escape(element.text or '')}{inner}</{tag}>"
