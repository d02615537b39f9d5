"""Anchors of headings on the site."""

from myst_parser.slugs import github_slugify


def heading_anchor(title: str) -> str:
    """Return the anchor of a heading: for a chapter's optional parts the one that JupyterLab makes, because chapters link
    to them; for any other the usual one, which GitHub makes, too.
    """
    if title.startswith("Optional:"):
        return title.replace(" ", "-")
    anchor: str = github_slugify(title)
    return anchor
