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
def shown_progress(
    progress: bool | Progress, whole: float, unit: str, *, done: float = 0.0, what: str = ""
) -> Iterator[Progress]:
    """Yield the function to call with the amounts done and whole, in `unit`s, as the work proceeds: `progress` if it is
    callable; if True, one that moves a bar with the label `what` from `done` to `whole`; if False, one without effect.

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
    wanted = bool(progress) and os.environ.get("NETLAB_PROGRESS") != "0"
    if wanted and in_a_page():
        with _notebook_bar(whole, unit, done, what) as tell:
            yield tell
        return
    off = not (wanted and sys.stderr.isatty())
    with tqdm(
        total=whole, initial=done, unit=unit, desc=what, leave=False, delay=DELAY_S, disable=off, bar_format=BAR_FORMAT
    ) as bar:

        def tell(done: float, _whole: float) -> None:
            """Move the terminal's bar to the amount `done`, in the bar's unit; the whole stays what it was."""
            bar.update(done - bar.n)

        yield tell


def in_a_page() -> bool:
    """Return whether this Python process runs in a notebook, where its output is shown as HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


@contextmanager
def _notebook_bar(whole: float, unit: str, before: float, what: str) -> Iterator[Progress]:
    """Yield the function that moves a bar in a notebook from `before` to `whole` `unit`s; `what` is its label. The bar
    is HTML that disappears at the end. (A widget would become an error message later.)
    """
    from IPython.display import display

    handle: Any = None
    start_s = shown_s = time.monotonic()

    def tell(done: float, _whole: float) -> None:
        """Show the amount `done` and the estimated remaining time, at most every 0.25 s, not in the first second."""
        nonlocal handle, shown_s
        now_s = time.monotonic()
        if now_s - start_s < DELAY_S or now_s - shown_s < PAUSE_S:
            return
        shown_s = now_s
        left_s = (now_s - start_s) * (whole - done) / (done - before) if done > before else math.nan
        text = f"{what + ': ' if what else ''}{done:g} of {whole:g} {unit}"
        text += f", about {left_s:.0f} s left" if math.isfinite(left_s) else ""
        bar = f'<progress value="{done}" max="{whole}" style="width: 20em"></progress> running… {html.escape(text)}'
        bundle = {"text/plain": f"running… {text}", "text/html": bar}
        if handle is None:
            handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            handle.update(bundle, raw=True)

    try:
        yield tell
    finally:
        if handle is not None:
            handle.update({"text/plain": "", "text/html": ""}, raw=True)
