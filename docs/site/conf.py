"""How Sphinx makes the site; `tools/site.py` puts the pages together before."""

import os
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))  # for anchors.py

project = "netlab"
copyright = "the netlab developers; BSD-3-Clause"  # noqa: A001 - Sphinx's own name
html_title = "netlab" + (" for instructors" if os.environ.get("NETLAB_SITE") == "instructors" else "")
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_copybutton"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
myst_heading_slug_func = "anchors.heading_anchor"
nb_execution_mode = "off"  # tools/site.py has executed what is to be executed
nb_mime_priority_overrides = [
    ("html", "text/html", 0),
    ("html", "image/svg+xml", 1),
    ("html", "image/png", 2),
    ("html", "text/plain", 3),
]
numpydoc_show_class_members = False
autodoc_typehints = "none"  # the docstrings say types, with units
add_module_names = False
copybutton_selector = "div.cell_input pre, div.highlight-default pre"
# Formulas are in the page: no script from another site, which a room without Internet would not get.
html_math_renderer = "mathml"
html_theme = "furo"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
# The rest of a file's folder, and pages that only one of the two builds has.
exclude_patterns = ["_build", "README.md"]


def _inline(translator: Any, node: nodes.Element) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.Element) -> None:
    # Wider than a phone, it scrolls by itself, by keyboard too.
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="formula" tabindex="0" role="group" aria-label="formula">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Let Sphinx write formulas as MathML."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
