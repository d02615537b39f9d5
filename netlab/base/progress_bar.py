"""Progress of a long operation: a bar in a terminal or a notebook, or calls of the caller's function."""

import html
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

Progress = Callable[[float, float], None]
"""Called with the amount that is done and the amount of the whole, in the same unit."""
DELAY_S = 1.0  # shorter operations need no bar
PAUSE_S = 0.25  # between two updates
# tqdm's own lock is shared with forked processes: a process that is killed while it holds the lock would stop every bar for ever.
tqdm.set_lock(threading.RLock())
if sys.platform == "emscripten":
    # A browser's Python has no threads, which tqdm's monitor needs.
    tqdm.monitor_interval = 0
BAR_FORMAT = "{desc}: {n:g} of {total:g} {unit} {bar} {remaining} left"


@contextmanager
def show_progress(
    progress: bool | Progress, total: float, unit: str, *, done: float = 0.0, what: str = ""
) -> Iterator[Progress]:
    """Yield the function to call with the done and total amounts in `unit`s: `progress` if callable; if True, one that
    moves a bar `what` from `done` to `total` (in a terminal or notebook, unless NETLAB_PROGRESS=0); else an idle one.

    Parameters
    ----------
    progress : bool or callable
        Show a bar in a terminal or a notebook (never when $NETLAB_PROGRESS is 0), or call this function.
    done : float
        The amount that was done before the start; the estimate of the remaining time leaves it out.
    """
    if callable(progress):
        yield progress
        return
    enabled = bool(progress) and os.environ.get("NETLAB_PROGRESS") != "0"
    if enabled and is_in_notebook():
        with _notebook_bar(total, unit, done, what) as move_bar:
            yield move_bar
        return
    off = not (enabled and sys.stderr.isatty())
    with tqdm(
        total=total, initial=done, unit=unit, desc=what, leave=False, delay=DELAY_S, disable=off, bar_format=BAR_FORMAT
    ) as bar:

        def move_bar(done: float, _total: float) -> None:
            """Move the terminal's bar to the amount `done`, in the bar's unit; the total stays what it was."""
            bar.update(done - bar.n)

        yield move_bar


def is_in_notebook() -> bool:
    """Return whether this Python process runs in a notebook, where its output is shown as HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


@contextmanager
def _notebook_bar(total: float, unit: str, start: float, what: str) -> Iterator[Progress]:
    """Yield the function that moves a bar in a notebook from `start` to `total` `unit`s; `what` is its label. The bar
    is HTML that disappears at the end. (A widget would become an error message later.)
    """
    from IPython.display import display

    handle: Any = None
    start_s = shown_s = time.monotonic()

    def move_bar(done: float, _total: float) -> None:
        """Show the amount `done` and the estimated remaining time, at most every 0.25 s, not in the first second."""
        nonlocal handle, shown_s
        now_s = time.monotonic()
        if now_s - start_s < DELAY_S or now_s - shown_s < PAUSE_S:
            return
        shown_s = now_s
        left_s = (now_s - start_s) * (total - done) / (done - start) if done > start else math.nan
        text = f"{what + ': ' if what else ''}{done:g} of {total:g} {unit}"
        text += f", about {left_s:.0f} s left" if math.isfinite(left_s) else ""
        bar = f'<progress value="{done}" max="{total}" style="width: 20em"></progress> running… {html.escape(text)}'
        bundle = {"text/plain": f"running… {text}", "text/html": bar}
        if handle is None:
            handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            handle.update(bundle, raw=True)

    try:
        yield move_bar
    finally:
        if handle is not None:
            handle.update({"text/plain": "", "text/html": ""}, raw=True)
