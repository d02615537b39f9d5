"""Curves as SVG text, for pictures that change many times a second.

A browser takes some tenths of a second for a Plotly figure, and a few milliseconds for such a picture. It needs no
script, so every page that shows HTML can draw it. Its text has the page's own colour, which is legible on white and on
dark.
"""

import html
import math
from collections import defaultdict, deque
from collections.abc import Collection, Sequence

from netlab.plots.series import LABELS
from netlab.plots.theme import COLOURS, GRID, TEXT

WIDTH, LEFT, RIGHT, HEIGHT, GAP, LINE = 760, 62, 12, 96, 24, 20
LETTER, AROUND_NAME = 7, 50
"""Pixels of a letter of a name, and of the line before and the space after the name."""
DASHES = ("", "2 3", "8 3 2 3", "14 3 2 3", "14 4")
"""Dash patterns of `theme.DASHES`."""
MAX_MARKS, MARK = 12, 150
STEPS = (1.0, 2.0, 5.0, 10.0)


class Strips:
    """A picture with a strip for each quantity and a curve for each series, over the last `window_s` seconds.

    A curve keeps at most `points` points; the series in `names` get their colours in that order.
    """

    def __init__(self, quantities: Sequence[str], window_s: float, points: int, names: Sequence[str] = ()) -> None:
        """Begin an empty picture with a strip for each of `quantities` (names of columns, such as "goodput_mbps") of
        the last `window_s` s, with at most `points` points per curve. The series `names` get the first line styles, in
        their order; others follow.
        """
        self._window_s = window_s
        # Points are stored as SVG text, so that each is formatted once and not for each picture.
        self._curves: dict[str, dict[str, deque[str]]] = {
            quantity: defaultdict(lambda: deque(maxlen=points)) for quantity in quantities
        }
        self._styles = {name: style for style, name in enumerate(names)}
        self._tops = dict.fromkeys(quantities, 0.0)
        self._marks: list[tuple[float, str]] = []

    @property
    def names(self) -> Collection[str]:
        """The names of all series in the legend, in the order of their line styles."""
        return self._styles.keys()

    def add(self, quantity: str, name: str, t_s: float, value: float) -> None:
        """Add a point to the curve of the series `name` in the strip of a quantity: the number `value`, in the
        quantity's unit, at the network time `t_s` in s. Points of a curve must come in the order of time.
        """
        self._styles.setdefault(name, len(self._styles))
        self._curves[quantity][name].append(f"{t_s:.7g},{value:.4g}")
        # A scale that shrinks again would make equal curves look different.
        self._tops[quantity] = max(self._tops[quantity], value)

    def mark(self, t_s: float, words: str) -> None:
        """Mark the network time `t_s`, in s, with a thin line through all strips and the short text `words` above; the
        last MAX_MARKS marks are kept.
        """
        self._marks = [*self._marks, (t_s, words)][-MAX_MARKS:]

    def in_words(self) -> str:
        """Return the picture in words, for readers who cannot see it: the newest value of each curve, by quantity, and
        the marks, each with its time in s.
        """
        parts = []
        for quantity, curves in self._curves.items():
            newest = [f"{name} {curve[-1].partition(',')[2]}" for name, curve in curves.items()]
            parts.append(f"{LABELS[quantity]}: {', '.join(newest) or 'nothing yet'}")
        parts += [f"At {t_s:.4g} s {words}" for t_s, words in self._marks]
        return ". ".join(parts) + "."

    def svg(self, now_s: float) -> str:
        """Return the picture at the network time `now_s`, in s, as the text of an SVG element: the legend, the strips
        for the window before that time, the time axis and the marks.
        """
        begin_s = max(0.0, now_s - self._window_s)
        scale = (WIDTH - LEFT - RIGHT) / self._window_s
        places = self._name_places()
        lines = 1 + max((line for _, line in places.values()), default=0)
        top = LINE * lines + 24
        parts = [self._name(name, *place) for name, place in places.items()]
        for quantity, curves in self._curves.items():
            parts.append(self._strip(quantity, curves, top, begin_s))
            top += HEIGHT + GAP
        bottom = top - GAP
        parts += _time_axis(begin_s, self._window_s, bottom, scale)
        free = math.inf
        for t_s, words in reversed(self._marks):
            if t_s >= begin_s:
                x = LEFT + (t_s - begin_s) * scale
                parts.append(f'<path d="M{x:.1f} {LINE * lines + 20}V{bottom}" stroke="{TEXT}"/>')
                # Draw the newest text, and those older ones that do not overlap it.
                middle = min(max(x, LEFT + MARK / 2), WIDTH - MARK / 2)
                if middle + MARK / 2 <= free:
                    parts.append(_text(middle, LINE * lines + 16, words, "middle", 12))
                    free = middle - MARK / 2
        height = bottom + 2 * LINE
        return (
            f'<svg viewBox="0 0 {WIDTH} {height}" style="width:100%;max-width:{WIDTH}px" role="img" '
            f'aria-label="{html.escape(f"Figure: {now_s:.1f} s. {self.in_words()}")}" '
            f'fill="none" font-family="system-ui,Helvetica,Arial,sans-serif">{"".join(parts)}</svg>'
        )

    def _name_places(self) -> dict[str, tuple[int, int]]:
        """Return the place of each series in the legend, by the series' name: a pair of its x position in pixels and
        its row, from 0.
        """
        places, x, line = {}, LEFT, 0
        for name in self._styles:
            width = AROUND_NAME + LETTER * len(name)
            if x > LEFT and x + width > WIDTH:
                x, line = LEFT, line + 1
            places[name] = (x, line)
            x += width
        return places

    def _name(self, name: str, x: int, line: int) -> str:
        """Return the SVG elements of a series in the legend: a line in its style and its name, at `x` pixels from the
        left in the row `line`, from 0.
        """
        y = 14 + line * LINE
        return f'<path d="M{x} {y - 4}h26" {_stroke(self._styles[name])}/>{_text(x + 32, y, name, "start", 13)}'

    def _strip(self, quantity: str, curves: dict[str, deque[str]], top: float, begin_s: float) -> str:
        """Return the SVG elements of the strip of a quantity, whose upper edge is `top` pixels below that of the
        picture: its axis, title and curves from the network time `begin_s` (s) on. `curves` has the points of each
        series, as SVG text, by its name.
        """
        highest = _round_up(self._tops[quantity])
        bottom = top + HEIGHT
        parts = [
            f'<path d="M{LEFT} {y:.0f}H{WIDTH - RIGHT}" stroke="{GRID}"/>{_text(LEFT - 6, y + 4, f"{value:g}", "end", 12)}'
            for value, y in ((0, bottom), (highest / 2, top + HEIGHT / 2), (highest, top))
        ]
        parts.append(
            f'<text transform="translate(14 {top + HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle" fill="currentColor" '
            f'font-size="13">{html.escape(LABELS[quantity])}</text>'
        )
        # Draw in the units of the points: the viewBox scales them and clips what is outside.
        parts.append(
            f'<svg x="{LEFT}" y="{top - 1}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT + 2}" preserveAspectRatio="none" '
            f'viewBox="{begin_s:.7g} {-highest:g} {self._window_s:g} {highest:g}"><g transform="scale(1 -1)">'
        )
        parts += [
            f'<polyline points="{" ".join(curve)}" vector-effect="non-scaling-stroke" {_stroke(self._styles[name])}/>'
            for name, curve in curves.items()
        ]
        return "".join([*parts, "</g></svg>"])


def _time_axis(begin_s: float, window_s: float, bottom: float, scale: float) -> list[str]:
    """Return the SVG elements of the time axis at the y position `bottom` in pixels: line, ticks, numbers and title for
    the `window_s` s from `begin_s` on; `scale` is the number of pixels per second.
    """
    step_s = _round_up(window_s / 12)
    first = math.ceil(begin_s / step_s)
    parts = [f'<path d="M{LEFT} {bottom}H{WIDTH - RIGHT}" stroke="{TEXT}"/>']
    for number in range(first, math.floor((begin_s + window_s) / step_s + 1e-9) + 1):
        x = LEFT + (number * step_s - begin_s) * scale
        parts.append(f'<path d="M{x:.1f} {bottom}v4" stroke="{TEXT}"/>')
        parts.append(_text(x, bottom + 18, f"{number * step_s:g}", "middle", 12))
    return [*parts, _text((LEFT + WIDTH) / 2, bottom + 36, LABELS["t_s"], "middle", 13)]


def _round_up(value: float) -> float:
    """Return the smallest number of the form 1, 2 or 5 times a power of ten that is not below `value`; 1 if `value` is
    0 or negative.

    >>> [_round_up(value) for value in (0, 0.3, 1.2, 40, 50.1)]
    [1.0, 0.5, 2.0, 50.0, 100.0]
    """
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in STEPS if step * power >= value * (1 - 1e-9))


def _stroke(style: int) -> str:
    """Return the SVG attributes (colour, width and dashes) of the line of the series with the number `style`, from 0;
    colours and dashes repeat.
    """
    dash = DASHES[style % len(DASHES)]
    return f'stroke="{COLOURS[style % len(COLOURS)]}" stroke-width="2"' + (
        f' stroke-dasharray="{dash}"' if dash else ""
    )


def _text(x: float, y: float, words: str, anchor: str, size: int) -> str:
    """Return an SVG element with the text `words` at the position (`x`, `y`) in pixels, in letters of `size` pixels;
    `anchor` is "start", "middle" or "end", the part of the text that is at `x`.
    """
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor" font-size="{size}">{html.escape(words)}</text>'
