"""`netlab lab`: update the student's copies of the chapters and open JupyterLab with the first one."""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netlab.base.errors import NetlabError
from netlab_course import catalogue, copies

EXTENSIONS = Path(__file__).with_name("labextensions")
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    # Disable JupyterLab's pop-up about news, and its search for updates in the network.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # Checks read the saved notebook to see whether a cell was edited but not run; JupyterLab's own interval is two minutes.
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 10},
    # By default JupyterLab draws cells when they come near the view, and the text that somebody reads or clicks on moves meanwhile.
    # Lines of code that are wider than the window continue below, because a horizontal scroll bar hides their ends.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none", "codeCellConfig": {"lineWrap": True}},
}
"""JupyterLab's settings where the user has not chosen others. The image and the page (tools/lite.py) have them, too."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options --folder and --update-only of `netlab lab`, and the options for JupyterLab after `--`, to its
    parser.
    """
    copies.add_folder(parser)
    parser.add_argument("--update-only", action="store_true", help="bring the copies up to date and open nothing")
    parser.set_defaults(hint_on_unknown=". Options for jupyter lab follow --, as in: netlab lab -- --no-browser")
    parser.add_argument("jupyter", nargs="*", metavar="-- OPTION", help="options for jupyter lab, such as --no-browser")


def main(options: argparse.Namespace) -> int:
    """Update the student's copies of the chapters and netlab's settings of JupyterLab, then replace this process by
    JupyterLab with the first chapter; return an exit status only with --update-only (0; copies only) or on Windows
    (JupyterLab's). Raises NetlabError when JupyterLab does not start or the copies cannot be written.
    """
    directory = (options.folder or copies.folder()).resolve()
    for sentence in copies.update(directory):
        print(sentence)
    print(f"Your chapters are in {directory}.", flush=True)
    if directory.is_relative_to("/mnt") and "microsoft" in platform.release().lower():
        print(
            "That is a disk of Windows, and slow from here: move your chapters to your Linux home with --folder.",
            flush=True,
        )
    if options.update_only:
        return 0
    words = [
        "lab",
        f"--ServerApp.root_dir={directory}",
        # Otherwise the browser gets the address of a local file, which a browser outside (Windows with WSL2) cannot open.
        "--ServerApp.use_redirect_file=False",
        # Needed when netlab's installation did not put the extensions into JupyterLab's own folder.
        f"--LabApp.extra_labextensions_path={EXTENSIONS}",
        f"--LabApp.default_url=/lab/tree/{catalogue.chapters(directory)[0].path.name}",
        *(["--allow-root"] if sys.platform != "win32" and os.geteuid() == 0 else []),
        *options.jupyter,
    ]
    _set_defaults(Path(sys.prefix))
    program = [sys.executable, "-m", "jupyter", *words]
    try:
        if sys.platform == "win32":
            # On Windows, os.execv returns the terminal to the shell while the new program still runs.
            return subprocess.run(program, check=False).returncode
        os.execv(sys.executable, program)  # noqa: S606 - our own interpreter
    except OSError as error:
        raise NetlabError(f"JupyterLab did not start: {error}. Run `make setup` in the clone.") from error


def _set_defaults(prefix: Path) -> None:
    """Write netlab's defaults of JupyterLab's settings into the virtual environment in the folder `prefix`; do nothing
    if it is not a virtual environment, not writable, or has settings that are not netlab's.
    """
    settings = prefix / "share" / "jupyter" / "lab" / "settings"
    path = settings / "overrides.json"
    if prefix == Path(sys.base_prefix) or not os.access(settings.parent, os.W_OK):
        return
    if path.exists() and not _is_from_netlab(path):
        return
    settings.mkdir(exist_ok=True)
    path.write_text(json.dumps(DEFAULTS, indent=1) + "\n", encoding="utf-8")


def _is_from_netlab(path: Path) -> bool:
    """Return whether a file of JupyterLab's settings has nothing but netlab's present defaults, all or some of them, as
    an earlier netlab may have written it; False if it is not JSON.
    """
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(settings, dict) and all(
        plugin in DEFAULTS and isinstance(chosen, dict) and chosen.items() <= DEFAULTS[plugin].items()
        for plugin, chosen in settings.items()
    )
