"""How Sphinx makes the site; `tools/site.py` puts the pages together before."""

import os

project = "netlab"
copyright = "the netlab developers; BSD-3-Clause"  # noqa: A001 - Sphinx's own name
html_title = "netlab" + (" for instructors" if os.environ.get("NETLAB_SITE") == "instructors" else "")
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_copybutton"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
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
html_theme = "furo"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
# The rest of a file's folder, and pages that only one of the two builds has.
exclude_patterns = ["_build", "README.md"]
