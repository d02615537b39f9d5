"""How far something is: a bar in a terminal or a notebook, a caller's function, or nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm.auto import tqdm

Progress = Callable[[float, float], None]
"""Called with how much is done, and with the whole."""
BAR_FORMAT = "{desc}: {n:g} of {total:g} {unit} {bar} {remaining} left"


@contextmanager
def shown_progress(
    progress: bool | Progress, whole: float, unit: str, *, done: float = 0.0, what: str = ""
) -> Iterator[Progress]:
    """What to call as the work goes on: the caller's function, or one that moves a bar.

    Parameters
    ----------
    progress : bool or callable
        Show a bar where somebody watches (never when $NETLAB_PROGRESS is 0), or call this.
    whole : float
        All of the work, in `unit`.
    unit : str
    done : float
        How much of it was done before; the estimate of the rest leaves it out.
    what : str
        What the bar counts.
    """
    if callable(progress):
        yield progress
        return
    watched = "ipykernel" in sys.modules or sys.stderr.isatty()
    off = not (progress and watched and os.environ.get("NETLAB_PROGRESS") != "0")
    with tqdm(
        total=whole, initial=done, unit=unit, desc=what, leave=False, delay=1.0, disable=off, bar_format=BAR_FORMAT
    ) as bar:

        def tell(done: float, _whole: float) -> None:
            bar.update(done - bar.n)

        yield tell
        # A notebook's bar that is not full when it closes turns red and stays.
        tell(whole, whole)
