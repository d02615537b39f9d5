"""Conversion of a notebook to a single HTML page for paper that needs no network."""

import html
import re
from pathlib import Path

import nbformat
from jinja2 import pass_context
from jinja2.runtime import Context
from latex2mathml import converter
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from plotly.offline import get_plotlyjs

from netlab.base.errors import NetlabError

# Scripts from the web, which each figure loads: Plotly, MathJax, RequireJS.
_FROM_THE_WEB = re.compile(r'<script[^>]*\bsrc="https?:[^>]*>\s*</script>')
_STYLE = """<style>
@page { size: A4; margin: 15mm; }
/* The same width on the screen, where figures are drawn, as on paper. */
body { width: 180mm; max-width: 180mm; padding: 0 !important; margin: 0 auto; }
main { padding: 0 !important; }
.jp-InputPrompt, .jp-OutputPrompt, .modebar-container { display: none !important; }
pre, .jp-OutputArea-output pre, .highlight pre {
  white-space: pre-wrap !important; word-break: normal !important; overflow-wrap: anywhere; font-size: 11px;
}
[role="img"], table { break-inside: avoid; }
h1, h2, h3 { break-after: avoid; }
</style>"""


def page(notebook: Path) -> str:
    """Return a notebook file as the text of an HTML page that needs no network: it contains Plotly once, and formulas
    as MathML. Raises NetlabError when the file is not a notebook.
    """
    try:
        read = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, AttributeError) as error:
        raise NetlabError(f"{notebook} is not a notebook: {error}.") from error
    exporter = HTMLExporter()  # type: ignore[no-untyped-call]
    exporter.register_filter("markdown2html", _to_html)  # type: ignore[no-untyped-call]
    text, _resources = exporter.from_notebook_node(read, {"metadata": {"name": notebook.stem}})
    head = f"{_STYLE}<script>{get_plotlyjs()}</script></head>"
    before, _head, after = _FROM_THE_WEB.sub("", text).partition("</head>")
    return before + head + after


class _Formulas(IPythonRenderer):
    """nbconvert's Markdown renderer, with formulas as MathML."""

    def inline_math(self, body: str) -> str:
        """Return a LaTeX formula within a line (`$…$`) as MathML."""
        return _mathml(body, "inline")

    def block_math(self, body: str) -> str:
        """Return a LaTeX formula on lines of its own (`$$…$$`) as MathML."""
        return _mathml(body, "block")

    def latex_environment(self, name: str, body: str) -> str:
        """Return the content of a LaTeX environment, such as `align`, with this name as MathML."""
        return _mathml(rf"\begin{{{name}}}{body}\end{{{name}}}", "block")


@pass_context
def _to_html(context: Context, source: str) -> str:
    """Return the Markdown source of a cell as HTML with formulas as MathML; nbconvert passes its template's `context`,
    which has the cell's attached pictures.
    """
    pictures = context.get("cell", {}).get("attachments", {})
    return str(MarkdownWithMath(renderer=_Formulas(escape=False, attachments=pictures)).render(source))


def _mathml(formula: str, display: str) -> str:
    """Return a LaTeX formula as MathML, which is `display` "inline" or "block"; if it has mistakes, its escaped source
    as HTML code.
    """
    try:
        return str(converter.convert(formula, display=display))
    except Exception:  # noqa: BLE001 - notes may contain any mistake in LaTeX, and its errors have no common class
        return f"<code>{html.escape(formula)}</code>"
