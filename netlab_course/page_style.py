"""The style of a chapter's page: a style sheet that the chapter's opening adds, and the layout of printed tables."""

import pandas as pd

from netlab.plots import page
from netlab.plots.theme import TEXT, TEXT_ON_DARK
from netlab_course.messages import AMBER


def rgb(colour: str) -> str:
    """Return a colour such as "#767676" in the form that browsers give it in styles: "rgb(118, 118, 118)".

    >>> rgb("#767676")
    'rgb(118, 118, 118)'
    """
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


# No grey has a contrast of 4.5 both on white and on JupyterLab's dark page (the product of the two contrasts is 18.9 at
# most), so text in figures has another colour on dark. Plotly writes its colours into each element: only `!important`
# overrides that.
_DARK = 'body[data-jp-theme-light="false"] .js-plotly-plot'
# If the cell above was changed or has failed since, the verdict below it concerns an old value.
_CHANGED_CELL = ".jp-CodeCell.jp-mod-dirty + .jp-CodeCell"
_FAILED_CELL = '.jp-CodeCell:has([data-mime-type="application/vnd.jupyter.error"]) + .jp-CodeCell'
# A slider in a narrow column would be too short to be dragged, so its label stands above it there.
_NARROW_PAGE = "@container (max-width: 28em)"
SHEET = f"""
{_CHANGED_CELL} pre.netlab-verdict::before {{ content: "The cell above was changed after it was run. Run it, then this check."; }}
{_FAILED_CELL} pre.netlab-verdict:not(.netlab-unjudged)::before {{ content: "The last run of the cell above ended with an error."; }}
pre.netlab-verdict::before {{ display: block; font-weight: bold; }}
:is({_CHANGED_CELL}, {_FAILED_CELL}) pre.netlab-verdict {{ border-left-color: {AMBER} !important; }}
:is({_CHANGED_CELL}, {_FAILED_CELL}) pre.netlab-passed:not(.netlab-remarked) > span {{ display: none !important; }}
{_DARK} text[style*="fill: {rgb(TEXT)}"] {{ fill: {TEXT_ON_DARK} !important; }}
.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stdout"] pre {{ white-space: pre !important; overflow-x: auto; }}
.jp-RenderedHTMLCommon :is(.dataframe td, th) {{ white-space: nowrap; }}
{_NARROW_PAGE} {{ .netlab-control .widget-slider, .netlab-control .widget-dropdown {{ flex-wrap: wrap; height: auto; }} }}
{_NARROW_PAGE} {{ .netlab-control .widget-label {{ flex: 1 0 100%; text-align: left; }} }}
{_NARROW_PAGE} {{ .netlab-control .widget-checkbox > .widget-label {{ display: none; }} }}
{_NARROW_PAGE} {{ .netlab-control .widget-html {{ align-self: flex-end; }} }}
.netlab-control {{ container-type: inline-size; }}
.netlab-refused {{ font-weight: bold; }}
.jp-Placeholder-content {{ min-width: 0; }}
.jp-PlaceholderText {{ text-overflow: ellipsis; }}
"""


def show() -> None:
    """Add the style sheet and the script of `netlab.plots.page` to a notebook's page; do nothing outside a notebook."""
    page.show(f"<style>{SHEET}</style>")


def widen_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return a copy of a table whose texts and names of columns are padded so that pandas prints two spaces between
    columns when it prints the table without its index.
    """
    # pandas would strip a space that precedes all names, so widen all columns but the first.
    first, *others = table.columns
    wider = {name: table[name].map(lambda value: f" {value}" if isinstance(value, str) else value) for name in others}
    widths = {name: max(map(len, table[[name]].to_string(index=False, header=False).split("\n"))) for name in others}
    return table.assign(**wider).set_axis([first, *(f" {name}".rjust(widths[name]) for name in others)], axis=1)
