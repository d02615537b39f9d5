"""Firefox, driven over WebDriver BiDi (W3C, working draft), which Debian's speaks by itself."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

PREFERENCES = {"datareporting.policy.dataSubmissionEnabled": False, "browser.shell.checkDefaultBrowser": False}


@contextmanager
def opened(url: str) -> Iterator[Callable[[str], Any]]:
    """Open an address in a profile of its own; yields what calls an async function of JavaScript there and returns its value.

    Raises
    ------
    RuntimeError
        When Firefox does not start, or the function throws.
    """
    with tempfile.TemporaryDirectory(prefix="netlab-firefox-", ignore_cleanup_errors=True) as profile:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
        Path(profile, "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = ["firefox-esr", "--headless", "--profile", profile, "--remote-debugging-port", "0"]
        command += ["--window-size", "1300,1000"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            assert process.stderr is not None
            try:
                place = next((found[0] for line in process.stderr if (found := re.findall(r"ws://\S+", line))), None)
                if place is None:
                    raise RuntimeError("Firefox does not tell where it listens.")
                # Firefox would stop where nobody reads what it says.
                threading.Thread(target=process.stderr.read, daemon=True).start()
                yield _page(websocket.create_connection(f"{place}/session", suppress_origin=True), url)
            finally:
                process.terminate()


def _page(connection: websocket.WebSocket, url: str) -> Callable[[str], Any]:
    def ask(method: str, **words: Any) -> Any:
        connection.send(json.dumps({"id": 1, "method": method, "params": words}))
        while (answer := json.loads(connection.recv())).get("id") != 1:
            pass
        if answer["type"] == "error":
            raise RuntimeError(answer["message"])
        return answer["result"]

    def evaluate(function: str) -> Any:
        text = f"({function})().then(value => JSON.stringify(value ?? null))"
        told = ask("script.evaluate", expression=text, target={"context": tab}, awaitPromise=True)
        if told["type"] == "exception":
            raise RuntimeError(told["exceptionDetails"]["text"])
        return json.loads(told["result"]["value"])

    ask("session.new", capabilities={})
    tab = ask("browsingContext.getTree")["contexts"][0]["context"]
    ask("browsingContext.navigate", context=tab, url=url, wait="interactive")
    return evaluate
