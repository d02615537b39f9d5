"""The error about a part of an experiment that needs programs in hosts, which the library engine does not have."""

import sys

from netlab.base.errors import NotHereError


def programs_needed(consequence: str, details: str = "") -> NotHereError:
    """Return the error about a part of an experiment that needs programs; `consequence` is a clause, such as "scripts
    cannot run", and `details` (sentences) follow it.
    """
    if sys.platform == "emscripten":
        reason = "No programs run in a page of a browser"
        advice = "They run in JupyterLab on Linux (`netlab lab`) with the same notebook."
    else:
        reason = "The library engine has no programs"
        advice = "Use engine='pocket' for this experiment, or engine='native', as root, on a machine other than x86-64."
    return NotHereError(" ".join(part for part in (f"{reason}, so {consequence}.", details, advice) if part))
